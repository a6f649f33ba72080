import { hash } from 'node:crypto'
import type { Dialect } from '#core/message/dialect'
import type { CalledRoute } from '../outcomes/outcome.ts'
import type { ProviderName } from '../providers/names.ts'
import type { CredentialSource } from './credential.ts'

/** A model route: the model, its provider, the URL and the credential. */
export interface ModelRoute {
  /** For people, logs and failure states; never a secret. */
  readonly name: string
  readonly provider: ProviderName
  readonly baseUrl: string
  readonly credential: CredentialSource
  readonly model: string
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string }
  /** For servers whose chat templates accept only alternating user and assistant messages. */
  readonly dialect?: Extract<Dialect, 'strict'>
  readonly windowTokens?: number
  readonly outputTokensMax?: number
  /** Whether the model sees images; absent: looked up by its name. */
  readonly images?: boolean
  /** The reasoning effort, unless a request sets another. */
  readonly effort?: Effort
  /** The stand-in of this process. Its address changes with every start and tells people nothing. */
  readonly isBuiltIn?: boolean
}

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

/**
 * The destination of a route, as a key for records and failure states. Not its name, which stays
 * when the main route is switched: failures of the old destination must not count against the new
 * one. It includes the account, because one without credit says nothing about another at the same
 * server, and the path, because a gateway serves several providers at one host.
 */
export function destinationOf(route: ModelRoute): string {
  const { provider, model, baseUrl, credential, isBuiltIn } = route
  if (isBuiltIn) return `${provider}/${model}@${BUILT_IN}`
  const url = URL.parse(baseUrl)
  const place = url === null ? 'nowhere' : `${url.host}${pathOf(url)}`
  return `${provider}/${model}@${place}${accountOf(credential)}`
}

const BUILT_IN = 'built-in'

/** The paths of providers' own addresses go without saying. */
const USUAL_PATHS = ['v1', 'v1beta', 'backend-api/codex']
const SEGMENT_CHARACTERS_MAX = 24

/** Without long segments: one may be a secret, as that of the stand-in is. */
function pathOf({ pathname }: URL): string {
  const segments = pathname
    .split('/')
    .filter((segment) => segment !== '' && segment.length <= SEGMENT_CHARACTERS_MAX)
  const path = segments.map(encodeURIComponent).join('/')
  return USUAL_PATHS.includes(path) ? '' : `/${path}`
}

/** The provider and model of a route, for people. */
export function calledRoute({ model, baseUrl, credential, isBuiltIn }: ModelRoute): CalledRoute {
  const variable = credential.kind === 'variable' ? credential.name : null
  return { model, host: hostText(isBuiltIn ? BUILT_IN : URL.parse(baseUrl)?.host), variable }
}

function hostText(host = ''): string {
  return host === BUILT_IN ? 'The stand-in model' : host || 'The provider'
}

/** The same, from a destination in the record. */
export function calledIn(destination: string): CalledRoute {
  const [, model = '', host = '', account] = DESTINATION.exec(destination) ?? []
  const isVariable = account !== undefined && !/^(?:file|command)-[0-9a-f]{8}$/.test(account)
  return { model, host: hostText(host), variable: isVariable ? account : null }
}

const DESTINATION = /^[a-z-]{1,40}\/(.*)@([^@#/]{1,300})[^@#]*(?:#(.*))?$/

/** From the credential's source. A command may contain a secret, and a path reveals too much. */
function accountOf(credential: CredentialSource): string {
  switch (credential.kind) {
    case 'none':
      return ''
    case 'variable':
      return `#${credential.name}`
    case 'file':
    case 'command':
      return `#${credential.kind}-${hash('sha256', JSON.stringify(credential), 'hex').slice(0, 8)}`
  }
}
