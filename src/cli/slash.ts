import { randomUUID } from 'node:crypto'
import type { Session, SessionSummary } from '../runtime/runtime.ts'
import { COMMAND_SOURCE } from './admission.ts'
import { drawFill } from './fill.ts'
import { drawFound } from './found-text.ts'
import { grouped } from './moment.ts'
import type { Paint } from './paint.ts'
import { printable } from './printable.ts'

/** What a person types in a chat: something to say, or a command that begins with a slash. */
export type Typed =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'command'; readonly name: SlashName; readonly rest: string }
  | { readonly kind: 'unknown'; readonly name: string }

export const SLASH_COMMANDS = {
  stop: { form: '/stop', does: 'end the turn that runs' },
  compact: { form: '/compact [focus]', does: 'put a long conversation in order now' },
  new: { form: '/new', does: 'begin a new session; the old one stays' },
  status: { form: '/status', does: 'how full the context is and what goes on' },
  search: { form: '/search WORDS', does: 'find what was said, also what was compacted away' },
  pin: { form: '/pin [NAME [TEXT | -]]', does: 'keep a text word for word; - removes it' },
  help: { form: '/help', does: 'this list' },
  quit: { form: '/quit', does: 'leave; what runs goes on' },
} as const

export type SlashName = keyof typeof SLASH_COMMANDS

/** Two slashes say what begins with one. */
export function readTyped(line: string): Typed {
  const text = line.trim()
  if (text === '') return { kind: 'nothing' }
  if (text.startsWith('//')) return { kind: 'say', text: text.slice(1) }
  if (!text.startsWith('/')) return { kind: 'say', text: line }
  const [name, rest] = firstWord(text.slice(1))
  const isKnown = Object.hasOwn(SLASH_COMMANDS, name)
  return isKnown ? { kind: 'command', name: name as SlashName, rest } : { kind: 'unknown', name }
}

function firstWord(text: string): [word: string, rest: string] {
  const end = text.search(/\s/)
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end).trimStart()]
}

export function helpText(): string {
  const forms = Object.values(SLASH_COMMANDS)
  const width = Math.max(...forms.map(({ form }) => form.length))
  const lines = forms.map(({ form, does }) => `${form.padEnd(width)}  ${does}`)
  return [...lines, 'A line that ends in \\ goes on in the next one.'].join('\n')
}

export function unknownText(name: string): string {
  return `There is no command /${name}; /help lists them. Two slashes say it to the agent.`
}

const SEARCH_LIMIT = 5

/** Carries out a command on a session and tells what came of it. `new` and `quit` are the caller's. */
export async function runSlash(
  { name, rest }: { readonly name: Exclude<SlashName, 'new' | 'quit'>; readonly rest: string },
  session: Session,
  paint: Paint,
): Promise<string> {
  const once = { source: COMMAND_SOURCE, key: randomUUID() }
  switch (name) {
    case 'help':
      return helpText()
    case 'stop': {
      const summary = await session.summary()
      if (summary?.state === 'idle') return 'Nothing runs.'
      await session.stop(once)
      return 'Stopping.'
    }
    case 'compact':
      await session.compact({ ...once, ...(rest !== '' && { focus: rest }) })
      return 'Asked for; you can go on meanwhile.'
    case 'status': {
      const summary = await session.summary()
      return summary === undefined ? 'There is no session yet.' : describe(summary)
    }
    case 'search': {
      if (rest === '') return 'Say what to look for: /search WORDS'
      const found = await session.search({ text: rest, limit: SEARCH_LIMIT, neighbours: 0 })
      const hits = found.map((hit) => drawFound(hit, { text: rest, paint }).trimEnd())
      return hits.length === 0 ? 'Nothing found.' : hits.join('\n')
    }
    case 'pin':
      return await changePin(session, rest, once)
    default:
      return name satisfies never
  }
}

async function changePin(
  session: Session,
  rest: string,
  once: { readonly source: string; readonly key: string },
): Promise<string> {
  const [name, text] = firstWord(rest)
  const pins = (await session.summary())?.pins ?? []
  if (name === '') return pins.length === 0 ? 'No pins.' : `Pins: ${printable(pins.join(', '))}`
  if (text === '') return `Say what to keep: /pin ${printable(name)} TEXT, or - to remove it.`
  if (text === '-') {
    if (!pins.includes(name)) return `There is no pin ${printable(name)}.`
    await session.pin({ ...once, name, text: null })
    return `Pin ${printable(name)} goes with the next step.`
  }
  await session.pin({ ...once, name, text })
  return `Pinned as ${printable(name)}, from the next step on.`
}

function describe(summary: SessionSummary): string {
  const { id, agent, entries, contextTokens, windowTokens, compaction, pins, policy } = summary
  const fill = drawFill({ tokens: contextTokens, windowTokens })
  return [
    `Session ${id} of ${printable(agent)}: ${activity(summary)}`,
    `Context ${fill.text}: ${grouped(contextTokens)} of ${grouped(windowTokens)} tokens`,
    `${grouped(entries)} entries, ${compaction === null ? 'never compacted' : `compacted at #${compaction}`}`,
    `While a turn runs, messages ${POLICIES[policy]}.${pins.length === 0 ? '' : ` Pins: ${printable(pins.join(', '))}.`}`,
  ].join('\n')
}

const POLICIES: Record<SessionSummary['policy'], string> = {
  steer: 'enter it between two steps',
  queue: 'wait for the next turn',
  interrupt: 'end it',
  collect: 'are collected for the next turn',
}

/** What goes on, in a few words. */
export function activity({ state, isCompacting, waiting }: SessionSummary): string {
  const words = {
    idle: isCompacting ? 'compacting in the background' : 'ready',
    turn: isCompacting ? 'answering, compacting in the background' : 'answering',
    'waiting-for-compaction': 'making room; your message is safe',
    'waiting-for-model': 'the model cannot be reached; your message is safe',
    gone: 'purged',
  } satisfies Record<SessionSummary['state'], string>
  return waiting > 0 ? `${words[state]}, ${grouped(waiting)} waiting` : words[state]
}

/** The line that stands above what is being typed. */
export function statusText(summary: SessionSummary, paint: Paint): string {
  const { contextTokens: tokens, windowTokens } = summary
  const fill = drawFill({ tokens, windowTokens })
  const place = paint('dim', `── ${printable(summary.agent)} · `)
  return `${place}${paint(fill.colour, fill.text)}${paint('dim', ` · ${activity(summary)} ──`)}`
}
