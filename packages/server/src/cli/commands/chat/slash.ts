import { randomUUID } from 'node:crypto'
import {
  activity,
  SLASH_COMMANDS as CHAT_COMMANDS,
  type CommandedSession,
  commandOutcome,
  costText,
  POLICIES,
  readTyped as read,
  runSlashCommand,
  type Typed,
  usageText,
} from '../../../gateway/chat/commands.ts'
import type { SessionSummary } from '../../../runtime/runtime.ts'
import { COMMAND_SOURCE } from '../../admission.ts'
import { waitText } from '../../terminal/answers.ts'
import type { Paint } from '../../terminal/colours.ts'
import { countText, grouped, short } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'
import { drawFill } from '../../terminal/usage-bar.ts'
import { drawFound } from '../search/text.ts'

const { stop, help, ...others } = CHAT_COMMANDS

/** The commands of every chat, and those of the operator, in the order of the help. */
export const TERMINAL_COMMANDS = {
  stop,
  continue: { form: '/continue', does: 'continue a paused turn, or try the model again now' },
  ...others,
  quit: { form: '/quit', does: 'leave; a running turn continues' },
  help,
} as const

export type TerminalCommandName = keyof typeof TERMINAL_COMMANDS

export function readTerminalInput(line: string): Typed<TerminalCommandName> {
  return read(line, TERMINAL_COMMANDS)
}

export function helpText(): string {
  const forms = Object.values(TERMINAL_COMMANDS)
  const width = Math.max(...forms.map(({ form }) => form.length))
  const lines = forms.map(({ form, does }) => `${form.padEnd(width)}  ${does}`)
  return [
    ...lines,
    'Shift+Enter, Ctrl-J or \\ at the end of a line start a new line. Tab completes commands.',
    'Ctrl-C clears what you typed, or stops the running turn. Ctrl-D leaves.',
  ].join('\n')
}

/** Runs a command on a session and describes the outcome. The caller handles `new` and `quit`. */
export async function runSlash(
  command: { readonly name: Exclude<TerminalCommandName, 'new' | 'quit'>; readonly rest: string },
  session: CommandedSession,
  paint: Paint,
): Promise<string> {
  const once = { source: COMMAND_SOURCE, key: randomUUID() }
  const { name, rest } = command
  if (name === 'continue') {
    const summary = await session.summary()
    if (summary?.state === 'idle') return 'No turn is running.'
    const pastLimit = summary?.state === 'waiting-for-approval'
    const continued = session.continue({ ...once, pastLimit })
    const done =
      summary?.state === 'waiting-for-model' ? 'Trying the model again now.' : 'Continuing.'
    return await commandOutcome(session, continued, { done })
  }
  return await runSlashCommand({ name, rest }, session, {
    once,
    draw: {
      help: helpText,
      status: describe,
      found: (hit, text) => drawFound(hit, { query: { text }, paint }),
      name: printable,
    },
  })
}

function describe(summary: SessionSummary): string {
  const { id, agent, entries, contextTokens, windowTokens, compaction, pins, policy, wait } =
    summary
  const fill = drawFill({ tokens: contextTokens, windowTokens })
  return [
    `Session ${id} of ${printable(agent)}: ${activity(summary)}`,
    ...(wait === null ? [] : [printable(waitText(wait))]),
    `Context ${fill.text}: ${grouped(contextTokens)} of ${grouped(windowTokens)} tokens`,
    `${countText(entries, 'entry', 'entries')}, ${compaction === null ? 'not compacted' : `compacted at #${compaction}`}`,
    `Used: ${usageText(summary.usage)}`,
    `While a turn runs, messages ${POLICIES[policy]}.${pins.length === 0 ? '' : ` Pins: ${printable(pins.join(', '))}.`}`,
  ].join('\n')
}

/** Who runs the agent decides which process needs the keys, and what stopping the server does. */
export function runnerText({ url }: { readonly url: string | null }): string {
  return url === null
    ? 'This chat runs the agent itself, without a server.'
    : `The server at ${url} runs the agent.`
}

/** The notices when the server goes away, and when it is back. */
export const PRESENCE = {
  away: '(The server stopped. The chat waits for it and continues; Ctrl-D leaves.)',
  back: '(The server is back.)',
} as const

/** In the status line, while the state of the session is unknown. */
export const AWAY_STATUS = 'no server'

/** The status line above the input. What the session does comes first: a narrow terminal cuts the end. */
export function statusText(
  summary: SessionSummary,
  paint: Paint,
  doing: string = activity(summary),
): string {
  const { contextTokens: tokens, windowTokens } = summary
  const fill = drawFill({ tokens, windowTokens })
  const label = paint('dim', `── ${printable(summary.agent)} · ${doing} · `)
  const { inputTokens, outputTokens } = summary.usage
  const used = `${short(inputTokens)} in, ${short(outputTokens)} out, cost ${costText(summary.usage)}`
  const rest = paint('dim', ` · ${used} ──`)
  return `${label}${paint(fill.colour, fill.text)}${rest}`
}
