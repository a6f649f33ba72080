import { readdirSync } from 'node:fs'
import type { Store } from '../../packages/core/src/store/contract.ts'
import type { AuditRow, Entry } from '../../packages/core/src/store/tables/rows.ts'
import { type Host, isAtRest, until } from './host.ts'
import { type Kept, readAudit, readKept } from './kept.ts'
import { type Ack, agentOf, readAcks } from './sending-client.ts'

/**
 * The checker is independent: it compares the files that senders, tools, edges and models wrote
 * with the store once everything is idle. It uses no code of the session.
 */
export interface Verdict {
  readonly lost: string[]
  readonly duplicated: string[]
  readonly reordered: string[]
  readonly idsChanged: string[]
  /** All other findings. */
  readonly broken: string[]
  readonly counts: {
    acknowledged: number
    answered: number
    givenUp: number
    compactions: number
    effects: number
    takeovers: number
    resent: number
  }
}

/** Waits until everything is idle, shuts down the agents, then checks. */
export async function judge(host: Host, withinMs = REST_MS_MAX): Promise<Verdict> {
  return await host.using(async (store) => {
    const isQuiet = await comesToRest(store, withinMs)
    const faults = await host.end()
    const verdict = await check(host, store)
    verdict.broken.push(...faults)
    if (!isQuiet) verdict.broken.push(`not at rest, and no mail settled for ${withinMs} ms`)
    return verdict
  })
}

/** On a busy machine a backlog takes long: it only has to get shorter each time. */
async function comesToRest(store: Store, withinMs: number): Promise<boolean> {
  for (let before = -1, settled = await countSettled(store); settled > before; ) {
    const isQuiet = await until('all is at rest', () => isAtRest(store), { withinMs }).then(
      () => true,
      () => false,
    )
    if (isQuiet) return true
    before = settled
    settled = await countSettled(store)
  }
  return false
}

async function countSettled(store: Store): Promise<number> {
  const sessions = await store.listSessions({ limit: 1_000 })
  return sessions.reduce((sum, { settled }) => sum + settled.user + settled.notification, 0)
}

const REST_MS_MAX = 60_000

async function check(host: Host, store: Store): Promise<Verdict> {
  const verdict: Verdict = {
    lost: [],
    duplicated: [],
    reordered: [],
    idsChanged: [],
    broken: [],
    counts: {
      acknowledged: 0,
      answered: 0,
      givenUp: 0,
      compactions: 0,
      effects: 0,
      takeovers: 0,
      resent: 0,
    },
  }
  const kept = await readAll(host, store, verdict)
  const acks = readdirSync(host.folder)
    .filter((name) => name.startsWith('acks-'))
    .flatMap((name) => readAcks(host.folder, name.slice('acks-'.length)))
  checkMail(kept, acks, verdict)
  const views = readViews(host)
  for (const each of kept.values()) {
    checkTranscript(each, views, verdict)
    checkWriters(each, verdict)
  }
  checkEffects(kept, host.lines('effects'), verdict)
  checkSends(kept, host.lines('sends'), verdict)
  checkAudit(await readAudit(store), kept, verdict)
  for (const { sessionId: id, entry, problem } of await store.verify({})) {
    verdict.broken.push(`verify: ${id} ${entry}: ${problem}`)
  }
  for (const line of host.lines('crashes')) verdict.broken.push(`actor crashed: ${line}`)
  return verdict
}

async function readAll(host: Host, store: Store, verdict: Verdict): Promise<Map<string, Kept>> {
  const sessions = await store.listSessions({ limit: 1_000 })
  const ids = sessions.map(({ id }) => id as string).sort()
  const born = host.sessions.toSorted()
  if (ids.join() !== born.join()) verdict.idsChanged.push(`sessions ${born} became ${ids}`)
  const kept = new Map<string, Kept>()
  for (const session of sessions) {
    const { id } = session
    // This session was never created. The comparison above reports it, and its rows may be incomplete.
    if (!born.includes(id)) continue
    const route = { agent: agentOf(id), channel: 'chat', address: id }
    const leadsTo = (await store.findRoute(route))?.sessionId
    if (leadsTo !== id) verdict.idsChanged.push(`the route of ${id} leads to ${leadsTo}`)
    const found = await readKept(store, session)
    const { replies } = found
    if (replies.length !== Math.min(1_000, session.replies)) {
      verdict.lost.push(`${id} has ${session.replies} replies, ${replies.length} are there`)
    }
    kept.set(id, found)
  }
  return kept
}

/** I1, I2, I4: acknowledged mail is there, once, under its number, in order. */
function checkMail(kept: ReadonlyMap<string, Kept>, acks: readonly Ack[], verdict: Verdict): void {
  const places = new Map<string, string[]>()
  for (const [id, { mail }] of kept) {
    for (const [index, { number, key, source }] of mail.entries()) {
      if (number !== index + 1) verdict.reordered.push(`${id} mail ${number} at place ${index + 1}`)
      const name = `${source} ${key}`
      places.set(name, [...(places.get(name) ?? []), `${id} ${number}`])
    }
  }
  for (const [name, where] of places) {
    if (where.length > 1) verdict.duplicated.push(`${name} is mail ${where.join(' and ')}`)
  }
  const newest = new Map<string, number>()
  for (const { key, source, sessionId: id, mail } of acks) {
    verdict.counts.acknowledged++
    if (!places.get(`${source} ${key}`)?.includes(`${id} ${mail}`)) {
      verdict.lost.push(`${key} was acknowledged as mail ${mail} of ${id}`)
    }
    if (!key.endsWith(`@${id}`)) verdict.idsChanged.push(`${key} was acknowledged by ${id}`)
    const last = newest.get(`${source} ${id}`) ?? 0
    if (mail <= last) verdict.reordered.push(`${key} is mail ${mail} behind ${last}`)
    newest.set(`${source} ${id}`, mail)
  }
}

/** (session, upto) of every started step -> the keys that its context showed verbatim. */
function readViews(host: Host): ReadonlyMap<string, readonly ReadonlySet<string>[]> {
  const views = new Map<string, Set<string>[]>()
  for (const line of host.lines('views')) {
    const [id, upto, , ...keys] = line.split(' ')
    const name = `${id} ${upto}`
    views.set(name, [...(views.get(name) ?? []), new Set(keys)])
  }
  return views
}

/** I3, I10: each message once, in its lane's order, shown verbatim, answered once. */
function checkTranscript(
  { session, mail, entries }: Kept,
  views: ReadonlyMap<string, readonly ReadonlySet<string>[]>,
  verdict: Verdict,
): void {
  const { id } = session
  const keys = new Map(mail.map(({ number, key }) => [number as number, key ?? '']))
  const taken = new Map<number, Entry>()
  const last = { user: 0, notification: 0 }
  const answers = new Map<string, number>()
  const givenUp = new Set<string>()
  let open: string[] = []
  for (const entry of entries) {
    if (entry.kind === 'input') {
      const { mail: number, lane } = entry.meta
      const key = keys.get(number) ?? `mail ${number}`
      if (taken.has(number)) verdict.duplicated.push(`${key} is an entry of ${id} twice`)
      if (number <= last[lane]) verdict.reordered.push(`${key} entered ${id} behind ${last[lane]}`)
      last[lane] = number
      taken.set(number, entry)
      open.push(key)
      if (!entry.body?.includes(`"${key} `)) verdict.broken.push(`${key} entered with another text`)
    } else if (entry.kind === 'assistant') {
      for (const key of answeredBy(entry)) answers.set(key, (answers.get(key) ?? 0) + 1)
    } else if (entry.kind === 'turn') {
      if (entry.meta.ended === 'failed') for (const key of open) givenUp.add(key)
      open = []
    } else if (entry.kind === 'compaction') {
      verdict.counts.compactions++
      const foreign = keysIn(entry.body ?? '').find((key) => !key.endsWith(`@${id}`))
      if (foreign !== undefined) {
        verdict.idsChanged.push(`the handoff ${entry.number} of ${id} speaks of ${foreign}`)
      }
    }
  }
  for (const item of mail) {
    const key = item.key ?? ''
    if (item.state !== 'settled') verdict.lost.push(`${key} is ${item.state} at rest`)
    if (item.lane === 'control') continue
    const entry = taken.get(item.number)
    if (entry === undefined) {
      verdict.lost.push(`${key} never entered the transcript of ${id}`)
      continue
    }
    const times = answers.get(key) ?? 0
    if (times > 1) verdict.duplicated.push(`${key} was answered ${times} times`)
    if (times === 1) verdict.counts.answered++
    else if (times === 0 && givenUp.has(key)) verdict.counts.givenUp++
    else if (times === 0) verdict.lost.push(`${key} was never answered`)
    if (!givenUp.has(key)) checkSeen({ entries, entry, key, id }, views, verdict)
  }
}

/** I7, I8: under one fence there is one writer; its operation ids start with the holder's name. */
function checkWriters({ session, entries }: Kept, verdict: Verdict): void {
  const writers = new Map<number, string>()
  for (const { fence, operation, number } of entries) {
    const writer = operation.split('-')[0] ?? ''
    const known = writers.get(fence) ?? writer
    writers.set(fence, known)
    if (known !== writer) verdict.broken.push(`entry ${number} of ${session.id} has two writers`)
  }
}

/** The first step after a message had it word for word, whatever was compacted meanwhile. */
function checkSeen(
  found: { entries: readonly Entry[]; entry: Entry; key: string; id: string },
  views: ReadonlyMap<string, readonly ReadonlySet<string>[]>,
  verdict: Verdict,
): void {
  const { entries, entry, key, id } = found
  const step = entries
    .slice(entry.number)
    .find((each) => each.kind === 'assistant' && each.meta.upto >= entry.number)
  if (step?.kind !== 'assistant') {
    verdict.lost.push(`no step saw ${key}`)
    return
  }
  const seen = views.get(`${id} ${step.meta.upto}`) ?? []
  if (seen.length === 0 || seen.some((view) => !view.has(key))) {
    verdict.lost.push(`the step at ${step.meta.upto} of ${id} did not see ${key}`)
  }
}

function answeredBy(entry: Entry): readonly string[] {
  const [, list = ''] = /"text":"answers: ([^"]*)"/.exec(entry.body ?? '') ?? []
  return list.split(' ').filter(Boolean)
}

function keysIn(body: string): readonly string[] {
  return body.match(/[a-z0-9]+-[0-9]+@[A-Za-z0-9_-]+/g) ?? []
}

/**
 * I32: an effect belongs to a recorded call and happens at most once; for a successful call,
 * exactly once.
 */
function checkEffects(
  kept: ReadonlyMap<string, Kept>,
  effects: readonly string[],
  verdict: Verdict,
): void {
  const left = new Map<string, number>()
  for (const key of effects) left.set(key, (left.get(key) ?? 0) + 1)
  verdict.counts.effects = effects.length
  for (const [key, times] of left) {
    if (times > 1) verdict.duplicated.push(`the effect ${key} happened ${times} times`)
  }
  for (const [id, { entries }] of kept) {
    const outcomes = new Map<string, string>()
    for (const entry of entries) {
      if (entry.kind === 'result') outcomes.set(entry.meta.call, entry.meta.outcome)
    }
    for (const entry of entries) {
      if (entry.kind !== 'assistant') continue
      for (const call of entry.meta.calls) {
        const key = `${id}-${entry.number}-${call}`
        const outcome = outcomes.get(call)
        const isEffect = entry.body?.includes(`"id":"${call}","input":{},"name":"effect"`)
        if (outcome === undefined) verdict.broken.push(`the call ${key} has no result`)
        if (isEffect && outcome === 'ok' && !left.has(key)) {
          verdict.lost.push(`the call ${key} says ok and nothing happened`)
        }
        left.delete(key)
      }
    }
  }
  for (const key of left.keys()) verdict.broken.push(`the effect ${key} was never recorded`)
}

/** I31: sent at least once, first sends in order, a second send only by another runner. */
function checkSends(
  kept: ReadonlyMap<string, Kept>,
  sends: readonly string[],
  verdict: Verdict,
): void {
  const known = new Map<string, { attempt: number; claimants: string[] }>()
  const newest = new Map<string, number>()
  for (const line of sends) {
    const [id = '', number = '', address = '', attempt = '', claimant = ''] = line.split(' ')
    const name = `${id} ${number}`
    const before = known.get(name)
    if (before === undefined) {
      const last = newest.get(`${id} ${address}`) ?? 0
      if (Number(number) < last) verdict.reordered.push(`reply ${name} left behind ${last}`)
      newest.set(`${id} ${address}`, Math.max(last, Number(number)))
    } else {
      verdict.counts.resent++
      if (before.claimants.includes(claimant) || Number(attempt) <= before.attempt) {
        verdict.duplicated.push(`reply ${name} was sent again by ${claimant}, attempt ${attempt}`)
      }
    }
    const claimants = [...(before?.claimants ?? []), claimant]
    known.set(name, { attempt: Number(attempt), claimants })
  }
  for (const [id, { replies, entries }] of kept) {
    const keys = new Set<string>()
    const told = new Set(replies.map(({ entry }) => entry))
    for (const entry of entries) {
      if (answeredBy(entry).length > 0 && !told.has(entry.number)) {
        verdict.lost.push(`the answer at ${entry.number} of ${id} has no reply`)
      }
    }
    for (const { number, key, state } of replies) {
      if (state !== 'sent') verdict.lost.push(`reply ${number} of ${id} is ${state} at rest`)
      if (!known.has(`${id} ${number}`)) verdict.lost.push(`reply ${number} of ${id} never left`)
      if (keys.has(key)) verdict.duplicated.push(`two replies of ${id} have the key ${key}`)
      keys.add(key)
    }
  }
}

/**
 * I5, I6, I20: each operation starts and ends once, in one session, with no other running, and
 * ends at the latest when another process takes the session over.
 */
function checkAudit(
  rows: readonly AuditRow[],
  kept: ReadonlyMap<string, Kept>,
  verdict: Verdict,
): void {
  const running = new Map<string, string>()
  const sessionOf = new Map<string, string>()
  for (const { kind, sessionId: id, operation } of rows) {
    if (kind === 'lease lost') verdict.counts.takeovers++
    if (!kept.has(id)) verdict.idsChanged.push(`${kind} in ${id}, which was never created`)
    const orphan = kind === 'lease acquired' ? running.get(id) : undefined
    if (orphan !== undefined) verdict.broken.push(`${orphan} of ${id} outlived its owner`)
    if (!kind.startsWith('compaction ') || kind === 'compaction reverted' || operation === null) {
      continue
    }
    if (kind === 'compaction started') {
      const other = running.get(id)
      if (other !== undefined) verdict.broken.push(`${operation} runs beside ${other} in ${id}`)
      running.set(id, operation)
      sessionOf.set(operation, id)
    } else {
      if (sessionOf.get(operation) !== id) {
        verdict.idsChanged.push(`${operation} of ${sessionOf.get(operation)} ended in ${id}`)
      }
      if (running.get(id) !== operation) verdict.broken.push(`${operation} ended without running`)
      running.delete(id)
    }
  }
  for (const [id, operation] of running) verdict.broken.push(`${operation} of ${id} never ended`)
}

export function findingsOf(verdict: Verdict): readonly string[] {
  const { lost, duplicated, reordered, idsChanged, broken } = verdict
  return [
    ...lost.map((text) => `lost: ${text}`),
    ...duplicated.map((text) => `duplicated: ${text}`),
    ...reordered.map((text) => `reordered: ${text}`),
    ...idsChanged.map((text) => `id changed: ${text}`),
    ...broken.map((text) => `broken: ${text}`),
  ]
}
