import { pinNameProblem } from '#core/message/handoff/pinned'
import type {
  Admission,
  Found,
  Idempotent,
  Session,
  SessionSummary,
} from '../../runtime/runtime.ts'
import { refusalReason, undoRefusalReason } from '../../runtime/sessions/refusal-text.ts'
import { amountText } from '../../runtime/usage.ts'

/** Chat input: a message, or a command that begins with a slash. */
export type Typed<Name extends string> =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'command'; readonly name: Name; readonly rest: string }
  | { readonly kind: 'unknown'; readonly name: string }

/**
 * Commands of every chat. None exceeds what the operator has limited: `/continue`, past a spending
 * limit, is the terminal's alone.
 */
export const SLASH_COMMANDS = {
  stop: { form: '/stop', does: 'stop the running turn' },
  compact: { form: '/compact [focus]', does: 'compact this conversation now' },
  undo: { form: '/undo', does: 'undo the newest compaction; the older messages are back' },
  new: { form: '/new', does: 'start a new session; the old one stays' },
  status: { form: '/status', does: 'show how full the context is and what is running' },
  search: { form: '/search WORDS', does: 'search this conversation, compacted parts included' },
  pin: { form: '/pin [NAME [TEXT | -]]', does: 'keep a text word for word; - removes it' },
  help: { form: '/help', does: 'this list' },
} as const

export type SlashName = keyof typeof SLASH_COMMANDS

/** Two leading slashes send a message that begins with one. */
export function readTyped<Name extends string>(
  line: string,
  commands: Readonly<Record<Name, unknown>>,
): Typed<Name> {
  const text = line.trim()
  if (text === '') return { kind: 'nothing' }
  if (text.startsWith('//')) return { kind: 'say', text: text.slice(1) }
  if (!text.startsWith('/')) return { kind: 'say', text: line }
  const [name, rest] = firstWord(text.slice(1))
  const isKnown = Object.hasOwn(commands, name)
  return isKnown ? { kind: 'command', name: name as Name, rest } : { kind: 'unknown', name }
}

function firstWord(text: string): [word: string, rest: string] {
  const end = text.search(/\s/)
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end).trimStart()]
}

export function unknownText(name: string): string {
  return `There is no command /${name}; /help lists them. Start with two slashes to send this to the agent.`
}

/** How a gateway renders the result of a command. */
export interface Drawing {
  help(): string
  status(summary: SessionSummary): string
  found(hit: Found, words: string): string
  /** A name that a person chose. */
  name(text: string): string
}

/** What the commands need of a session, whether in this process or on a server. */
export type CommandedSession = Pick<
  Session,
  'summary' | 'stop' | 'continue' | 'compact' | 'revert' | 'pin' | 'controlOutcome' | 'search'
>

const SEARCH_LIMIT = 5

export const COMPACTED = 'Compacted.'

/** Runs a command on a session and describes the outcome. The caller handles `new`. */
export async function runSlashCommand(
  { name, rest }: { readonly name: Exclude<SlashName, 'new'>; readonly rest: string },
  session: CommandedSession,
  { once, draw }: { readonly once: Idempotent; readonly draw: Drawing },
): Promise<string> {
  switch (name) {
    case 'help':
      return draw.help()
    case 'stop': {
      const summary = await session.summary()
      if (summary?.state === 'idle') return 'No turn is running.'
      return await commandOutcome(session, session.stop(once), { done: 'Stopping.' })
    }
    case 'compact':
      return await commandOutcome(
        session,
        session.compact({ ...once, ...(rest !== '' && { focus: rest }) }),
        { done: COMPACTED, pending: 'Compaction requested; you can continue meanwhile.' },
      )
    case 'undo': {
      const { compaction = null, windowTokens = 0 } = (await session.summary()) ?? {}
      if (compaction === null) return 'No compaction is in effect.'
      return await commandOutcome(session, session.revert(once), {
        done: 'The compaction is undone: the agent sees the older messages again.',
        pending: 'The compaction will be undone before the next step, if the messages fit.',
        refused(end) {
          const why = undoRefusalReason(end, { compaction, windowTokens })
          return end.why === 'no-room'
            ? `${why}. The older messages are still stored: /search WORDS finds them`
            : why
        },
      })
    }
    case 'status': {
      const summary = await session.summary()
      return summary === undefined ? 'There is no session yet.' : draw.status(summary)
    }
    case 'search': {
      if (rest === '') return 'Give the words to search for: /search WORDS'
      const { found, note } = await session.search({
        text: rest,
        limit: SEARCH_LIMIT,
        neighbours: 0,
      })
      const hits = found.map((hit) => draw.found(hit, rest).trimEnd())
      const nothing =
        'Nothing found. A hit needs only one of the words, in any form; a phrase in quotation marks must match exactly.'
      return [...(hits.length === 0 ? [nothing] : hits), ...(note ? [note] : [])].join('\n')
    }
    case 'pin':
      return await changePin(session, rest, once, draw)
    default:
      return name satisfies never
  }
}

async function changePin(
  session: CommandedSession,
  rest: string,
  once: Idempotent,
  draw: Drawing,
): Promise<string> {
  const [name, text] = firstWord(rest)
  const label = draw.name(name)
  const pins = (await session.summary())?.pins ?? []
  if (name === '') return pins.length === 0 ? 'No pins.' : `Pins: ${draw.name(pins.join(', '))}`
  const problem = pinNameProblem(name)
  if (problem !== null) return `Not done: ${problem}.`
  if (text === '') return `Give the text to keep: /pin ${label} TEXT, or - to remove it.`
  if (text === '-') {
    if (!pins.includes(name)) return `There is no pin ${label}.`
    const removed = session.pin({ ...once, name, text: null })
    const words = {
      done: `Pin ${label} is removed.`,
      pending: `Pin ${label} will be removed with the next step.`,
    }
    return await commandOutcome(session, removed, words)
  }
  return await commandOutcome(session, session.pin({ ...once, name, text }), {
    done: `Pinned as ${label}.`,
    pending: `Will be pinned as ${label} with the next step, if it fits.`,
  })
}

/** How long a command waits for its outcome before it replies. */
const CARRY_OUT_MS_MAX = 1_000

/** The texts for a request that was done, accepted and not yet done, or refused. */
interface OutcomeTexts {
  readonly done: string
  /** Undefined: it is not waited for. */
  readonly pending?: string
  readonly refused?: typeof refusalReason
}

export async function commandOutcome(
  session: CommandedSession,
  asked: Promise<Admission>,
  { done, pending, refused = refusalReason }: OutcomeTexts,
): Promise<string> {
  const admission = await asked
  if (admission.kind !== 'admitted' && admission.kind !== 'duplicate') {
    return NOT_TAKEN[admission.kind]
  }
  if (pending === undefined) return done
  const end = await session.controlOutcome(admission.mail, AbortSignal.timeout(CARRY_OUT_MS_MAX))
  if (end === null) return pending
  return end.kind === 'done' ? done : `Not done: ${refused(end)}.`
}

const NOT_TAKEN: Readonly<Record<Exclude<Admission['kind'], 'admitted' | 'duplicate'>, string>> = {
  conflict: 'Not done: an earlier request had the same key and other content.',
  full: 'Not done: too many requests are queued. Try again later.',
  'too-large': 'Not done: that is too long.',
  'unknown-agent': 'There is no such agent.',
  unknown: 'There is no session yet.',
  gone: 'This session was purged.',
}

/** A one-line summary of the session's state. */
export function activity({ state, isCompacting, waiting, lastTurn }: SessionSummary): string {
  const words = {
    idle: isCompacting
      ? 'compacting in the background'
      : lastTurn === 'failed'
        ? 'the last turn failed'
        : lastTurn === 'stopped'
          ? 'ready, the last turn was stopped'
          : 'ready',
    turn: isCompacting ? 'answering, compacting in the background' : 'answering',
    'waiting-for-compaction': 'compacting first; your message is safe',
    'waiting-for-model': 'waiting for the model; your message is safe',
    'waiting-for-approval': 'paused at a spending limit, until the operator continues it',
    gone: 'purged',
  } satisfies Record<SessionSummary['state'], string>
  return waiting > 0 ? `${words[state]}, ${waiting} queued` : words[state]
}

/** `12,345 tokens in (9,000 cached), 678 out, cost 0.04`. */
export function usageText({
  inputTokens,
  cachedTokens,
  outputTokens,
  ...rest
}: SessionSummary['usage']): string {
  const cached = cachedTokens === 0 ? '' : ` (${cachedTokens.toLocaleString('en')} cached)`
  return `${inputTokens.toLocaleString('en')} tokens in${cached}, ${outputTokens.toLocaleString('en')} out, cost ${costText(rest)}`
}

/** A trailing `+` means that calls without a known price are left out. No price at all is not 0. */
export function costText({
  cost,
  unpricedCalls,
}: Pick<SessionSummary['usage'], 'cost' | 'unpricedCalls'>): string {
  if (unpricedCalls === 0) return amountText(cost)
  return cost === 0 ? 'unknown' : `${amountText(cost)}+`
}

export const POLICIES: Readonly<Record<SessionSummary['policy'], string>> = {
  steer: 'enter it between two steps',
  queue: 'wait for the next turn',
  interrupt: 'end it',
  collect: 'are collected for the next turn',
}
