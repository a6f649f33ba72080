import { entryNumber, type SessionId } from '../../packages/core/src/base/ids.ts'
import { clip } from '../../packages/core/src/base/line.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import type { ReplyRow } from '../../packages/core/src/store/tables/rows.ts'
import { splitText } from '../../packages/server/src/gateway/chat/split.ts'
import type { DrilledPlatform, ShownMessage } from './kill-drill.ts'

/**
 * What must hold after a drill. Every message stands in exactly one turn, in order; every turn ends
 * with one committed reply, which answers the newest of its messages; and the chats show each reply
 * once, in order. A platform without a nonce may show one message too many per kill: the very last
 * that the killed process had sent, which nobody ever touched again. Each has to be explained so.
 */
export interface Conversation {
  readonly platform: DrilledPlatform
  /** By address, in order. */
  readonly said: ReadonlyMap<string, readonly string[]>
  /** For each killed process, how many messages were shown when it was dead. */
  readonly lives: readonly number[]
}

export interface KillVerdict {
  readonly kills: number
  readonly said: number
  readonly turns: number
  readonly replies: number
  readonly shown: number
  /** Messages too many, in the window that a platform without a nonce has. */
  readonly repeated: number
  /** Messages of replies that came out shorter than what was shown of them. */
  readonly remains: number
  /** Turns that died so often that they were ended with words of our own. */
  readonly givenUp: number
  readonly findings: readonly string[]
}

interface Turn {
  readonly turn: number
  readonly ended: string
  readonly inputs: readonly string[]
}

const LIMIT = 1_000
/** How a message beyond the end of a shorter reply reads. */
const NOTHING = '…'
const GIVEN_UP = 'This could not be answered: the work on it ended abruptly several times.'

export async function isSettled(store: Store, { platform, said }: Conversation): Promise<boolean> {
  for (const [address, texts] of said) {
    const id = await sessionAt(store, platform, address)
    if (id === undefined) return texts.length === 0
    const row = await store.findSession(id)
    if (row === undefined || row.turnState !== 'idle' || row.pending.user > 0) return false
    if (row.mail < texts.length) return false
  }
  return (await store.listReplies({ state: 'waiting', limit: 1 })).length === 0
}

export async function judge(store: Store, conversation: Conversation): Promise<KillVerdict> {
  const { platform, said, lives } = conversation
  const findings: string[] = (await store.verify({})).map((finding) => JSON.stringify(finding))
  const sums = { said: 0, turns: 0, replies: 0, shown: 0, repeated: 0, remains: 0, givenUp: 0 }
  const shown = platform.shown().map((message, at) => ({ ...message, at }))
  const last = new Set(platform.nonce ? [] : lives.map((count) => count - 1))
  for (const [address, texts] of said) {
    const tell = (problem: string) => findings.push(`${address}: ${problem}`)
    const id = await sessionAt(store, platform, address)
    if (id === undefined) {
      tell('there is no session')
      continue
    }
    const turns = await turnsOf(store, id)
    const replies = (await store.listReplies({ sessionId: id, limit: LIMIT })).toSorted(
      (a, b) => a.number - b.number,
    )
    judgeTurns(turns, texts, tell)
    judgeReplies({ id, turns, replies }, tell)
    const here = shown.filter((message) => message.address === address)
    const { lengthMax } = platform
    const { repeated, remains } = judgeShown({ here, turns, replies, last, lengthMax }, tell)
    sums.said += texts.length
    sums.turns += turns.length
    sums.replies += replies.length
    sums.shown += here.length
    sums.repeated += repeated
    sums.remains += remains
    sums.givenUp += turns.filter(({ ended }) => ended === 'failed').length
  }
  return { kills: lives.length, ...sums, findings }
}

function judgeTurns(
  turns: readonly Turn[],
  texts: readonly string[],
  tell: (problem: string) => void,
): void {
  const heard = turns.flatMap(({ inputs }) => inputs)
  if (JSON.stringify(heard) !== JSON.stringify(texts)) {
    const missing = texts.filter((text) => !heard.includes(text)).map((text) => clip(text, 12))
    tell(`heard ${heard.length} of ${texts.length}, without ${missing}`)
  }
  const empty = turns.filter(({ inputs }) => inputs.length === 0)
  if (empty.length > 0) tell(`${empty.length} turns about nothing`)
}

function judgeReplies(
  { id, turns, replies }: Pick<Told, 'turns' | 'replies'> & { readonly id: SessionId },
  tell: (problem: string) => void,
): void {
  const keys = replies.map(({ key }) => key)
  const wanted = turns.map(({ turn }) => `${id}-${turn}`)
  if (JSON.stringify(keys) !== JSON.stringify(wanted)) {
    tell(`${turns.length} turns, ${keys.length} replies, ${new Set(keys).size} keys`)
  }
  if (replies.some(({ state }) => state !== 'sent')) tell('not all sent')
  for (const [at, reply] of replies.entries()) {
    const { ended, inputs } = turns[at] ?? { ended: 'never', inputs: [] }
    const answer = ended === 'failed' ? GIVEN_UP : inputs.at(-1)?.replace(/^say /, '')
    if (textIn(reply) !== answer) tell(`a turn is answered with ${clip(textIn(reply), 40)}`)
  }
}

interface Told {
  readonly here: readonly (ShownMessage & { readonly at: number })[]
  readonly turns: readonly Turn[]
  readonly replies: readonly ReplyRow[]
  /** What a killed process sent last: it may not have got round to noting it. */
  readonly last: ReadonlySet<number>
  readonly lengthMax: number
}

/** Goes along what stands there, beside what should. Every answer has words of its own. */
function judgeShown(
  { here, turns, replies, last, lengthMax }: Told,
  tell: (problem: string) => void,
): { readonly repeated: number; readonly remains: number } {
  const wanted = replies.flatMap((reply, turn) =>
    piecesOf(reply, lengthMax).map((text, piece) => ({ text, turn, isFirst: piece === 0 })),
  )
  const sums = { repeated: 0, remains: 0 }
  let next = 0
  for (const [index, { text, at, isEdited }] of here.entries()) {
    const due = wanted[next]
    const isDue = read(text) === due?.text
    const isSaidAgain = read(here[index + 1]?.text ?? '') === due?.text
    if (isDue && !isSaidAgain) next++
    else if (!isDue && text === NOTHING && isEdited && due?.isFirst !== false) sums.remains++
    else if (
      last.has(at) &&
      !isEdited &&
      isPartOf(text, [turns[(due?.turn ?? turns.length) - 1], turns[due?.turn ?? -1]])
    ) {
      sums.repeated++
    } else {
      tell(`"${clip(text, 60)}" stands where "${clip(due?.text ?? '', 60)}" is due`)
      return sums
    }
  }
  if (next < wanted.length) tell(`"${clip(wanted[next]?.text ?? '', 60)}" was never shown`)
  return sums
}

/** It was on its way to be an answer to something that these turns took. */
function isPartOf(text: string, turns: readonly (Turn | undefined)[]): boolean {
  const begun = read(text).replace(/ ?…$/, '')
  const said = turns.flatMap((turn) => turn?.inputs ?? [])
  return begun === GIVEN_UP || said.some((each) => each.includes(begun))
}

async function turnsOf(store: Store, id: SessionId): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  let inputs: string[] = []
  const tail = (await store.findSession(id))?.tail ?? 0
  for (let from = 1; from <= tail; from += LIMIT) {
    const to = entryNumber(Math.min(tail, from + LIMIT - 1))
    const entries = await store.readEntries({ sessionId: id, from: entryNumber(from), to })
    for (const entry of entries) {
      if (entry.kind === 'input') inputs.push(inputText(entry.body))
      if (entry.kind !== 'turn') continue
      turns.push({ turn: entry.meta.turn, ended: entry.meta.ended, inputs })
      inputs = []
    }
  }
  // What no turn has ended with is missing from all of them.
  return turns
}

function inputText(body: string | null): string {
  const { message } = (JSON.parse(body ?? '{}') ?? {}) as {
    message?: { parts?: readonly { text?: string }[] }
  }
  return message?.parts?.[0]?.text ?? ''
}

async function sessionAt(
  store: Store,
  { channel }: DrilledPlatform,
  address: string,
): Promise<SessionId | undefined> {
  return (await store.findRoute({ agent: 'main', channel, address }))?.sessionId
}

function textIn({ body }: ReplyRow): string {
  return (JSON.parse(body ?? '{}') as { text?: string }).text ?? ''
}

function piecesOf(reply: ReplyRow, lengthMax: number): readonly string[] {
  return splitText(textIn(reply), lengthMax).map(read)
}

/** Platforms differ in the blanks at the ends. */
function read(text: string): string {
  return text.trim()
}
