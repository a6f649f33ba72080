import { shellWord } from '../../hint.ts'
import type { Paint } from '../../terminal/colours.ts'
import { countText } from '../../terminal/format.ts'

/** The banner of a running server: where it listens and what to try next. */
export interface Welcome {
  /** Null: HTTP is switched off. */
  readonly url: string | null
  /** The Unix domain socket beside the address; null: none. */
  readonly socket: string | null
  readonly store: string
  readonly agents: readonly { readonly name: string; readonly model: string }[]
  /** Every agent runs on the built-in stand-in model. */
  readonly isStandIn: boolean
  /** Real models that this machine could use, such as `ANTHROPIC_API_KEY is set`. */
  readonly found: readonly string[]
  /** Callers that need no token. */
  readonly open: 'nobody' | 'own-user' | 'every-user'
  /** The file with the token made at the first start; null: none. */
  readonly tokenFile: string | null
  readonly program: string
  /** The store that this command named, which others must name too; null: the configured one. */
  readonly named: string | null
}

export function welcomeText(welcome: Welcome, paint: Paint): string {
  const { url, socket, store, agents, program, named } = welcome
  const flag = named === null ? '' : ` --store ${shellWord(named)}`
  const who = agents.map(({ name, model }) => `${name} (${model})`).join(', ')
  const where = url === null ? '' : ` at ${paint('bold', url)}`
  return `${[
    `${paint('green', '●')} Serving ${countText(agents.length, 'agent')}: ${who}${where}`,
    `  Conversations are kept in ${store}.`,
    ...(url === null ? [] : accessHint(welcome)),
    ...(socket === null ? [] : [`  Your own user needs no token at the Unix socket ${socket}.`]),
    '',
    'Try next, in another terminal:',
    `  ${program} chat${flag}`,
    `  ${program} sessions${flag}`,
    ...(url === null ? [] : requests(welcome, url)),
    ...modelHint(welcome),
    '',
    paint('dim', 'Ctrl-C stops it cleanly; conversations continue at the next start.'),
  ].join('\n')}\n`
}

function accessHint({ open, tokenFile }: Welcome): readonly string[] {
  switch (open) {
    case 'own-user':
      return ['  Without a token only your own user (and root) can use this address.']
    case 'every-user':
      return [
        '  WARNING: every user of this machine can read and write all sessions at this address.',
        '  To require a token, made at the next start, set http.requireToken: true',
      ]
    case 'nobody':
      return tokenFile === null ? [] : [`  The token for this address is in ${tokenFile}.`]
    default:
      return open satisfies never
  }
}

function requests({ agents, open, tokenFile }: Welcome, url: string): readonly string[] {
  const agent = agents[0]?.name ?? 'main'
  const bearer = tokenFile === null ? '$TOKEN' : `$(cat '${tokenFile}')`
  const token = open === 'nobody' ? ` -H "authorization: Bearer ${bearer}"` : ''
  const post = `curl -s${token} -H 'content-type: application/json'`
  return [
    `  ${post} ${url}/v1/sessions -d '{"agent":"${agent}","id":"first"}'`,
    `  ${post} '${url}/v1/sessions/first/messages?wait=reply' -d '{"text":"Hello."}'`,
  ]
}

function modelHint({ isStandIn, found, program }: Welcome): readonly string[] {
  if (!isStandIn) return []
  const how =
    found.length === 0
      ? `Set a provider's key or start an Ollama, then: ${program} config init`
      : `Found: ${found.join('; ')}. To switch: ${program} config init`
  return ['', `The stand-in model is built in and only repeats what it reads. ${how}`]
}
