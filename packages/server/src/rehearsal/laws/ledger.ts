import { agentName } from '../terms.ts'

/**
 * The rehearsal's own record of the messages it sent, independent of every agent and store. A
 * message carries its name in brackets, `[agent-3.17]`, and states one fact that can be asked for
 * later.
 */
export interface TrackedMessage {
  /** Its name: agent and number. */
  readonly key: string
  readonly agent: string
  readonly lane: 'user' | 'notification'
  readonly text: string
  /** The fact that it states: the code word of its parcel. */
  readonly word: string
  /** Its position among all messages sent; null: not sent yet. */
  order: number | null
  /** The acknowledged mail number; null: not acknowledged yet. */
  mail: number | null
}

const MARK = /\[(agent-\d{1,4}\.\d{1,6})\]/g

/** The names of all messages that a text contains. */
export function marksIn(text: string): readonly string[] {
  return [...text.matchAll(MARK)].map(([, key = '']) => key)
}

/** A word that occurs in no other message, so that a search finds it. */
export function parcelOf(key: string): string {
  return key.replace('agent-', 'p').replace('.', 'x')
}

export function agentOf(key: string): string {
  return key.slice(0, key.indexOf('.'))
}

export class Ledger {
  readonly #letters = new Map<string, TrackedMessage>()
  readonly #counts = new Map<string, number>()
  #sent = 0
  /** Acknowledged stops by agent: no other turn may have been stopped. */
  readonly stops = new Map<string, number>()

  get letters(): readonly TrackedMessage[] {
    return [...this.#letters.values()]
  }

  find(key: string): TrackedMessage | undefined {
    return this.#letters.get(key)
  }

  write(agent: string, { lane, tokens, command }: NewLetter): TrackedMessage {
    const number = (this.#counts.get(agent) ?? 0) + 1
    this.#counts.set(agent, number)
    const key = `${agent}.${number}`
    const word = wordFor(agent, number)
    const parcel = parcelOf(key)
    const fact = `[${key}] The code word of parcel ${parcel} is ${word}.`
    const order = command === 'hand-over' ? `\nuse hand_over {"parcel":"${parcel}"}` : ''
    const filler = fillerOf(tokens * CHARACTERS_PER_TOKEN - fact.length - order.length)
    const text = `${fact}${filler}${order}`
    const letter: TrackedMessage = { key, agent, lane, text, word, order: null, mail: null }
    this.#letters.set(key, letter)
    return letter
  }

  send(letter: TrackedMessage): void {
    letter.order ??= ++this.#sent
  }

  acknowledgeStop(agent: string): void {
    this.stops.set(agent, (this.stops.get(agent) ?? 0) + 1)
  }

  acknowledged(agent: string): number {
    return this.letters.filter((each) => each.agent === agent && each.mail !== null).length
  }
}

interface NewLetter {
  readonly lane: TrackedMessage['lane']
  readonly tokens: number
  readonly command?: 'hand-over'
}

const CHARACTERS_PER_TOKEN = 4
const TREES = ['maple', 'alder', 'rowan', 'cedar', 'hazel', 'aspen', 'larch', 'elder'] as const
const NOUNS = ['north', 'harbour', 'lantern', 'ferry', 'granite', 'orchard', 'signal', 'meadow']

function wordFor(agent: string, number: number): string {
  const tree = TREES[number % TREES.length] ?? 'maple'
  return `${tree}-${(number * 7_919) % 9_973}-${agent}`
}

/** Meaningless words that never repeat, so that nothing can be deduplicated. */
export function fillerOf(characters: number): string {
  const words: string[] = []
  let length = 0
  for (let at = 0; length < characters; at++) {
    const word = `${NOUNS[at % NOUNS.length]}${at % 17 === 16 ? '.' : ''}`
    words.push(word)
    length += word.length + 1
  }
  return words.length === 0 ? '' : ` ${words.join(' ')}.`
}

/** The task that every agent gets at the start and must still know at the end. */
export function openTaskOf(agent: string): string {
  return `bring parcel open-${agent} home`
}

export function firstOrderOf(agent: string, watched: { program: string; seconds: number }): string {
  const tasks = JSON.stringify({ tasks: [{ content: openTaskOf(agent), status: 'pending' }] })
  const script = `setInterval(() => console.log('${WATCHED_LINE}'), 2000)`
  const start = JSON.stringify({
    ...{ action: 'start', program: watched.program, args: ['-e', script] },
    ...{ watch: [WATCHED_LINE], time_seconds: watched.seconds, notify_end: false },
  })
  return `use tasks ${tasks}\nuse process ${start}`
}

export const WATCHED_LINE = 'WATCHED: a line that somebody waits for'

export function agentNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => agentName(index + 1))
}
