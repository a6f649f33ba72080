import { hash } from 'node:crypto'
import type { Dialect } from '#core/message/dialect'
import type { CalledRoute } from '../outcomes/outcome.ts'
import type { CredentialSource } from './credential.ts'

/** A model route: which model, at which provider, over which address, with which credential. */
export interface ModelRoute {
  /** For people, logs and failure states; never a secret. */
  readonly name: string
  readonly provider: ProviderName
  readonly baseUrl: string
  readonly credential: CredentialSource
  readonly model: string
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string }
  /** For servers whose chat templates take nothing but user and assistant in turn. */
  readonly dialect?: Extract<Dialect, 'strict'>
  readonly windowTokens?: number
  readonly outputTokensMax?: number
  /** Whether the model sees images; absent: what is known of it. */
  readonly images?: boolean
  /** How hard the model thinks, unless a request says otherwise. */
  readonly effort?: Effort
}

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

export const PROVIDERS = [
  'openai-chat',
  'openai-responses',
  'codex',
  'anthropic',
  'google',
  'openai-compatible',
] as const

export type ProviderName = (typeof PROVIDERS)[number]

/**
 * Where a route leads, in a word for records and failure states. Not its name: that stays when the
 * main route is switched, and failures of the old one must not be held against the new. The account
 * belongs to it: one without credit says nothing about another at the same server.
 */
export function destinationOf({ provider, model, baseUrl, credential }: ModelRoute): string {
  return `${provider}/${model}@${URL.parse(baseUrl)?.host ?? 'nowhere'}${accountOf(credential)}`
}

/** The provider and model of a route, in words for people. */
export function calledRoute({ model, baseUrl, credential }: ModelRoute): CalledRoute {
  const variable = credential.kind === 'variable' ? credential.name : null
  return { model, host: URL.parse(baseUrl)?.host ?? 'The provider', variable }
}

/** The same, from a destination in the record. */
export function calledIn(destination: string): CalledRoute {
  const [, model = '', host = '', account] = DESTINATION.exec(destination) ?? []
  const isVariable = account !== undefined && !/^(?:file|command)-[0-9a-f]{8}$/.test(account)
  return { model, host: host || 'The provider', variable: isVariable ? account : null }
}

const DESTINATION = /^[a-z-]{1,40}\/(.*)@([^@#]{1,300})(?:#(.*))?$/

/** By where its credential is kept. A command may hold a secret, and a path says too much. */
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
