import type { MailItem } from '#core/store/queries'
import type { Entry, OperationRow, ReplyRow, SessionRow } from '#core/store/tables/rows'
import type { Findings } from './laws.ts'

/**
 * What must be true of any session, whatever happened to it, read only from the store after
 * everything has settled. It uses no code of sessions or rules, so it cannot share their errors.
 */
export interface RehearsedSession {
  readonly row: SessionRow
  readonly entries: readonly Entry[]
  readonly mail: readonly MailItem[]
  readonly operations: readonly OperationRow[]
  readonly replies: readonly ReplyRow[]
}

export function judgeStored(stored: RehearsedSession, findings: Findings): void {
  judgeWriters(stored, findings)
  judgeTurns(stored, findings)
  judgeDeliveries(stored, findings)
  judgeStops(stored, findings)
  judgeFoundations(stored, findings)
  judgeWaits(stored, findings)
}

/** A compaction that a turn waits for is claimed before its step, or for an overflow (I35). */
function judgeWaits({ row, operations }: RehearsedSession, findings: Findings): void {
  for (const { id, by, trigger } of operations) {
    const isOfModel = by === 'model' || by === 'rewrite'
    if (isOfModel && (trigger === 'preflight' || trigger === 'reactive')) {
      findings.broken('prompt', `${row.id}: a turn waited for the model of ${id}`)
    }
  }
}

/** Each fence has one writer, and each writer, new at every acquisition, has one fence. */
function judgeWriters({ row, entries }: RehearsedSession, findings: Findings): void {
  const writers = new Map<number, string>()
  const fences = new Map<string, number>()
  for (const { number, fence, operation } of entries) {
    const [writer = ''] = operation.split('-')
    const known = writers.get(fence) ?? writer
    writers.set(fence, known)
    if (known !== writer) {
      findings.broken('written', `${row.id}: entry ${number} and others before it have two writers`)
    }
    const before = fences.get(writer) ?? fence
    fences.set(writer, before)
    if (before !== fence) {
      findings.broken('written', `${row.id}: entry ${number} is by a holder of fence ${before}`)
    }
  }
}

/** Results follow their calls; a turn ends once, and an operation has one outcome. */
function judgeTurns({ row, entries }: RehearsedSession, findings: Findings): void {
  const bad = (text: string) => findings.broken('written', `${row.id}: ${text}`)
  let open: string[] = []
  const replied = new Set<string>()
  const ended = new Set<number>()
  for (const entry of entries) {
    const { number, kind } = entry
    if (kind === 'result') {
      const { call } = entry.meta
      if (!open.includes(call)) bad(`entry ${number} is the result of no open call`)
      open = open.filter((each) => each !== call)
      continue
    }
    const isSpoken = kind === 'input' || kind === 'assistant' || kind === 'turn'
    if (isSpoken && open.length > 0) bad(`entry ${number} stands between a call and its result`)
    if (kind === 'assistant') {
      if (replied.has(entry.operation)) bad(`the reply of ${entry.operation} stands there twice`)
      replied.add(entry.operation)
      if (ended.has(entry.meta.turn))
        bad(`entry ${number} is of turn ${entry.meta.turn}, long over`)
      open = [...entry.meta.calls]
    }
    if (kind === 'turn') {
      if (ended.has(entry.meta.turn)) bad(`turn ${entry.meta.turn} ended twice`)
      ended.add(entry.meta.turn)
    }
  }
  if (open.length > 0 && row.turnState === 'idle') bad(`${open.length} calls have no result`)
}

/** People before watchers, and no more than fit beside the unanswered messages (I34). */
function judgeDeliveries({ row, entries, mail }: RehearsedSession, findings: Findings): void {
  const bad = (text: string) => findings.broken('bounded', `${row.id}: ${text}`)
  const room = row.limits.inputTokens
  let seen = 0
  let open: { number: number; tokens: number }[] = []
  let last: Extract<Entry, { kind: 'input' }> | null = null
  const taken = new Set<number>()
  for (const entry of entries) {
    if (entry.kind === 'assistant') seen = Math.max(seen, entry.meta.upto)
    if (entry.kind === 'turn' && entry.meta.ended === 'failed') seen = entry.number
    if (entry.kind === 'turn') open = open.filter(({ number }) => number > seen)
    if (entry.kind !== 'input') continue
    const { number, tokens, operation } = entry
    const isBehind = last?.operation === operation && last.meta.lane === 'notification'
    if (isBehind && entry.meta.lane === 'user') bad(`entry ${number} waited for a notification`)
    const before = open.reduce((sum, each) => sum + each.tokens, 0)
    if (open.length > 0 && before + tokens > room) {
      bad(`${before + tokens} tokens of unanswered input, room for ${room}`)
    }
    const item = mail.find((each) => each.number === entry.meta.mail)
    if (item !== undefined && taken.has(item.number)) {
      findings.broken('mailed', `${row.id}: mail ${item.number} is delivered twice`)
    }
    taken.add(entry.meta.mail)
    if (item?.state === 'withdrawn') {
      findings.broken('mailed', `${row.id}: mail ${item.number} was withdrawn and is delivered`)
    }
    open.push({ number, tokens })
    last = entry
  }
}

/** A turn is stopped only by a stop sent while it ran, or by a person who interrupts. */
function judgeStops({ row, entries, mail }: RehearsedSession, findings: Findings): void {
  const aimedAt = new Set(
    mail.filter(({ control }) => control === 'stop').map(({ turnAt }) => turnAt),
  )
  for (const entry of entries) {
    if (entry.kind !== 'turn' || entry.meta.ended !== 'stopped') continue
    if (aimedAt.has(entry.meta.turn) || row.policy === 'interrupt') continue
    findings.broken('stopped', `${row.id}: turn ${entry.meta.turn} was stopped, by no stop`)
  }
}

/** The base and range of each compaction, and that it made the context smaller. */
function judgeFoundations(stored: RehearsedSession, findings: Findings): void {
  const { row, entries, operations } = stored
  const bad = (text: string) => findings.broken('founded', `${row.id}: ${text}`)
  let seen = 0
  let base = 0
  for (const entry of entries) {
    if (entry.kind === 'assistant') seen = Math.max(seen, entry.meta.upto)
    if (entry.kind === 'turn' && entry.meta.ended === 'failed') seen = entry.number
    if (entry.kind === 'compaction') {
      const { number, operation: id, fence } = entry
      const { covers } = entry.meta
      if (covers > seen) bad(`compaction ${number} covers ${covers}, a model has had ${seen}`)
      const operation = operations.find((each) => each.id === id)
      if (operation === undefined) bad(`compaction ${number} was never claimed`)
      else {
        if (operation.base !== base)
          bad(`${id} was claimed on ${operation.base}, stands on ${base}`)
        if (operation.fence !== fence) bad(`${id} was claimed and committed by different holders`)
        if (operation.state !== 'committed') bad(`${id} stands there and is ${operation.state}`)
      }
      const isWritten = entry.meta.by !== 'clearing'
      if (isWritten && entry.tokens > row.limits.handoffTokens)
        bad(`handoff ${number} is over its budget`)
    }
    if (entry.kind === 'compaction' || entry.kind === 'revert' || entry.kind === 'erasure') {
      base = entry.number
    }
  }
  if (row.state === 'open' && row.base !== base) bad(`its base is ${row.base}, not ${base}`)
  for (const { id, by, state, result } of operations) {
    if (state === 'running' && row.operation !== id) bad(`${id} never ended`)
    // A model's rewrite of a digest may be longer than the digest, if there is space.
    if (by === 'rewrite') continue
    const { tokensBefore: before, tokensAfter: after } = result
    const isLarger = typeof before === 'number' && typeof after === 'number' && after >= before
    if (state === 'committed' && isLarger) bad(`${id} made ${before} tokens into ${after}`)
  }
}

/** A turn whose question had a reply address has a reply for it, even if it was given up. */
export function judgeReplies(
  { row, entries, mail, replies }: RehearsedSession,
  findings: Findings,
): void {
  if (row.state !== 'open') return
  let address: number | null = null
  for (const entry of entries) {
    if (entry.kind === 'input') {
      const item = mail.find(({ number }) => number === entry.meta.mail)
      if (item?.body?.includes('"replyTo"') === true) address = entry.number
    }
    if (entry.kind !== 'turn') continue
    const { turn, ended } = entry.meta
    const key = `${row.id}-${turn}`
    if (address !== null && ended === 'answered' && !replies.some((each) => each.key === key)) {
      findings.broken('sent', `${row.id}: turn ${turn} was answered and nothing was to be sent`)
    }
    address = null
  }
  for (const { number, state } of replies) {
    if (state === 'waiting') findings.broken('sent', `${row.id}: reply ${number} was never sent`)
  }
}

/**
 * Checks the file that the receiver wrote. The first sends of a session are in order; a repeated
 * send has a later attempt, by another claimant or by one whose attempt failed.
 */
export function judgeSends(lines: readonly string[], findings: Findings): void {
  const newest = new Map<string, number>()
  const known = new Map<string, { attempt: number; claimant: string }>()
  for (const line of lines) {
    const [session = '', number = '', attempt = '', claimant = ''] = line.split(' ')
    const reply = `${session} reply ${number}`
    const before = known.get(reply)
    if (before === undefined) {
      const last = newest.get(session) ?? 0
      if (Number(number) < last) findings.broken('sent', `${reply} was sent behind reply ${last}`)
      newest.set(session, Math.max(last, Number(number)))
    } else if (before.attempt >= Number(attempt) || before.claimant === claimant) {
      findings.broken('sent', `${reply} was sent twice, in attempts ${before.attempt}, ${attempt}`)
    }
    known.set(reply, { attempt: Number(attempt), claimant })
  }
}

/** Checks the file that the tool wrote: one line per parcel handed over. */
export function judgeEffects(parcels: readonly string[], findings: Findings): void {
  for (const [parcel, times] of Map.groupBy(parcels, (each) => each)) {
    if (times.length === 1) continue
    findings.broken('effects', `parcel ${parcel} was handed over ${times.length} times`)
  }
}
