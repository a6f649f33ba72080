import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StandInCall } from '../../packages/server/src/stand-in/protocols/protocol.ts'
import type { Action } from './conversation.ts'

/** How each client is installed, pointed at the stand-in, spoken to, and made to compact. */
export interface Client {
  /** Also the name of its sample. */
  readonly name: string
  readonly package: string
  readonly version: string
  /** The file that Node runs, below `node_modules`. */
  readonly entry: string
  /** Writes its settings below the home; returns what its environment needs. */
  configure(home: string, url: string): { readonly [name: string]: string }
  say(ask: string, at: Turn): Command
  /** Nothing for a client that compacts by itself in the last turn. */
  compact?(home: string): Command
  /** Where it keeps its sessions, below the home. */
  readonly sessions: string
  toCall(action: Action): StandInCall
  /** How many turns of the conversation it plays before the last; all, where it does not say. */
  readonly turns?: number
}

export interface Turn {
  readonly index: number
  readonly isLast: boolean
  readonly home: string
}

export interface Command {
  readonly args: readonly string[]
  /** Sent on standard input, which stays open until the output holds the text. */
  readonly input?: string
  readonly until?: string
}

const SESSION = '7c1e1a52-5eed-4a11-8000-000000000001'

const claudeCode: Client = {
  name: 'claude-code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.325',
  entry: '@anthropic-ai/claude-code/cli-wrapper.cjs',
  sessions: '.claude/projects',
  configure: (_, url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // It refuses to work without questions for root, unless it is told that nothing can be harmed.
    IS_SANDBOX: '1',
  }),
  say: (ask, { index }) => ({
    args: [
      ...['-p', '--model', 'stand-in', '--dangerously-skip-permissions'],
      ...[index === 0 ? '--session-id' : '--resume', SESSION, ask],
    ],
  }),
  compact: () => ({ args: ['-p', '--model', 'stand-in', '--resume', SESSION, '/compact'] }),
  toCall(action) {
    switch (action.do) {
      case 'write':
        return call('Write', { file_path: action.path, content: action.text })
      case 'run':
        return call('Bash', { command: action.command, description: 'Count the words' })
      default:
        return call('Read', { file_path: action.path })
    }
  },
}

const codex: Client = {
  name: 'codex',
  package: '@openai/codex',
  version: '0.166.0',
  entry: '@openai/codex/bin/codex.js',
  sessions: '.codex/sessions',
  configure: configureCodex('stand-in'),
  say: (ask, { index, isLast }) => ({
    args: [
      ...['exec', ...(index === 0 ? [] : ['resume', '--last']), '--skip-git-repo-check'],
      '--dangerously-bypass-approvals-and-sandbox',
      // The conversation is larger than this already, so the last turn begins with a compaction.
      ...(isLast ? ['-c', 'model_auto_compact_token_limit=8400'] : []),
      ask,
    ],
  }),
  toCall(action) {
    switch (action.do) {
      case 'write':
        return call('exec_command', { cmd: `printf '%s' '${action.text}' > ${action.path}` })
      case 'run':
        return call('exec_command', { cmd: action.command })
      case 'read':
        return call('exec_command', { cmd: `cat ${action.path}` })
      default:
        return call('view_image', { path: action.path })
    }
  },
}

/** A provider of this name is asked for the compaction itself. */
const codexRemote: Client = {
  ...codex,
  name: 'codex-remote',
  configure: configureCodex('OpenAI'),
  turns: 1,
}

function configureCodex(provider: string): Client['configure'] {
  return (home, url) => {
    mkdirSync(join(home, '.codex'))
    const settings = [
      'model = "stand-in"',
      'model_provider = "local"',
      'check_for_update_on_startup = false',
      '[analytics]',
      'enabled = false',
      '[model_providers.local]',
      `name = "${provider}"`,
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "STAND_IN_KEY"',
    ]
    writeFileSync(join(home, '.codex/config.toml'), settings.join('\n'))
    return { STAND_IN_KEY: 'none' }
  }
}

/** One provider per turn: pi notes which one wrote a reply and seals its thoughts accordingly. */
const PI_PROVIDERS = ['messages', 'chat', 'responses', 'messages', 'messages']

const pi: Client = {
  name: 'pi',
  package: '@earendil-works/pi-coding-agent',
  version: '0.87.1',
  entry: '@earendil-works/pi-coding-agent/dist/cli.js',
  sessions: 'sessions',
  configure(home, url) {
    const agent = join(home, '.pi/agent')
    mkdirSync(agent, { recursive: true })
    const models = [
      { id: 'stand-in', input: ['text', 'image'], reasoning: true, contextWindow: 200_000 },
    ]
    const provider = (api: string, baseUrl: string) => ({ api, baseUrl, apiKey: 'none', models })
    const providers = {
      messages: provider('anthropic-messages', url),
      responses: provider('openai-responses', `${url}/v1`),
      chat: provider('openai-completions', `${url}/v1`),
    }
    writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers }))
    // Small enough that a compaction keeps the newest messages only.
    const settings = { compaction: { keepRecentTokens: 100 } }
    writeFileSync(join(agent, 'settings.json'), JSON.stringify(settings))
    return { PI_OFFLINE: '1' }
  },
  say: (ask, { index, home }) => ({
    args: ['-p', ...piSession(home, PI_PROVIDERS[index] ?? 'messages'), ask],
  }),
  compact: (home) => ({
    args: ['--mode', 'rpc', ...piSession(home, 'messages')],
    input: '{"id":"1","type":"compact"}\n',
    until: '"command":"compact","success":true',
  }),
  toCall(action) {
    switch (action.do) {
      case 'write':
        return call('write', { path: action.path, content: action.text })
      case 'run':
        return call('bash', { command: action.command })
      default:
        return call('read', { path: action.path })
    }
  },
}

function piSession(home: string, provider: string): readonly string[] {
  const session = join(home, 'sessions/session.jsonl')
  return [
    ...['--offline', '--session', session, '--provider', provider],
    ...['--model', 'stand-in', '--thinking', 'low'],
  ]
}

function call(name: string, input: { readonly [key: string]: string }): StandInCall {
  return { name, input: JSON.stringify(input) }
}

export const CLIENTS: readonly Client[] = [claudeCode, codex, codexRemote, pi]
