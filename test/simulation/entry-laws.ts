import type { AdoptSession } from '../../packages/core/src/store/commits.ts'
import type { Lease, OutcomeOf } from '../../packages/core/src/store/contract.ts'
import type { Fork } from '../../packages/core/src/store/fork-commits.ts'
import { checkEntry } from '../../packages/core/src/store/integrity/chain.ts'
import type { RecordEntries } from '../../packages/core/src/store/record-commits.ts'
import type { StoreChange } from '../../packages/core/src/store/rules/ruling.ts'
import type { Entry, MailRow, SessionRow } from '../../packages/core/src/store/tables/rows.ts'
import type { ForkLaws } from './fork-laws.ts'
import type { Observed } from './laws.ts'
import {
  CLEARS_NOTHING,
  expectedTokens,
  type Folded,
  foldShadow,
  handoffOf,
  Shadow,
  saidBelow,
  wordsOfEntry,
} from './shadow.ts'
import type { World } from './world.ts'

const BIRTHS: readonly string[] = ['createSession', 'startAfresh', 'adoptSession', 'fork']

/** Laws about what is written: transcript, mailbox, session row. */
export class EntryLaws {
  readonly #world: World
  readonly #shadows: Map<string, Shadow>
  readonly #forks: ForkLaws
  /** Turns in which the provider reported that the context is too long. */
  readonly overflows = new Set<string>()

  constructor(world: World, shadows: Map<string, Shadow>, forks: ForkLaws) {
    this.#world = world
    this.#shadows = shadows
    this.#forks = forks
  }

  observe(observed: Observed, change: StoreChange): void {
    const { verb, request } = observed
    if (verb === 'adoptSession') {
      this.#adopted(observed, change)
      return
    }
    for (const { before, after } of change.sessions ?? []) {
      if (before === null) this.#born(observed, change, after)
      const shadow = this.#shadows.get(after.id)
      if (shadow === undefined) this.#bad('I5', `session ${after.id} was never created`)
      else if (before !== null && (before.id !== after.id || before.birth !== after.birth)) {
        this.#bad('I5', `session ${before.id} became ${after.id}`)
      }
    }
    if (verb === 'retireRunner') {
      for (const { after } of change.sessions ?? []) {
        const shadow = this.#shadows.get(after.id)
        if (shadow === undefined) continue
        this.#lost(shadow)
        Object.assign(shadow, { holder: null, runner: null })
      }
    }
    if (verb === 'deleteSession') this.#deletedAll(observed)
    if (verb === 'recordEntries') this.#turnRecorded(request as RecordEntries)
    const lease = (request as { lease?: Lease }).lease
    if (verb === 'deliver') this.#orderOf(observed)
    if (verb === 'recover' && lease !== undefined) this.#recovered(lease, change)
    if (verb === 'acquire') this.#acquired(observed)
    else if (lease !== undefined && verb !== 'failCompaction') this.#fenced(verb, lease)
    for (const { sessionId, mail } of change.mail ?? []) this.#mailWritten(sessionId, mail, change)
    for (const { sessionId, entry } of change.entries ?? []) {
      const shadow = this.#shadows.get(sessionId)
      if (lease !== undefined && lease.sessionId !== sessionId) {
        this.#bad('I21', `an operation on ${lease.sessionId} wrote to ${sessionId}`)
      }
      if (shadow !== undefined) this.#appended(shadow, entry, observed, change)
    }
  }

  #deletedAll({ request, outcome }: Observed): void {
    const { sessions } = outcome as Extract<OutcomeOf<'deleteSession'>, { kind: 'done' }>
    for (const id of sessions) this.#deleted(id)
    this.#forks.deleted(sessions, (request as { forks?: string }).forks)
  }

  /** A recorded turn is complete, and never lands inside a turn that runs here. */
  #turnRecorded({ sessionId, what }: RecordEntries): void {
    const shadow = this.#shadows.get(sessionId)
    this.#world.count(`recorded a ${what.kind === 'turn' ? 'turn' : 'record'}`)
    if (shadow === undefined) return
    if (shadow.isRunning) this.#world.count('recorded beside a running turn')
    if (what.kind !== 'turn') return
    if (shadow.isRunning || shadow.openCalls.size > 0) {
      this.#bad('I15', `a turn was recorded in the middle of turn ${shadow.turn}`)
    }
    shadow.turn++
    shadow.isRunning = true
  }

  /** Deleting a session shuts out its holder, and nothing is written to it afterwards. */
  #deleted(sessionId: string): void {
    const shadow = this.#shadows.get(sessionId)
    if (shadow === undefined) return
    if (shadow.running !== null) this.#world.count('deleted with a compaction in flight')
    Object.assign(shadow, { fence: shadow.fence + 1, holder: null, runner: null, isDeleted: true })
    shadow.owes.clear()
  }

  /** People first, then notifications (decision 12). */
  #orderOf({ request }: Observed): void {
    const { mail, lease } = request as { mail: readonly number[]; lease: Lease }
    const shadow = this.#shadows.get(lease.sessionId)
    const lanes = mail.map((number) => shadow?.mail[number - 1]?.lane)
    if (
      lanes.lastIndexOf('user') > lanes.indexOf('notification') &&
      lanes.includes('notification')
    ) {
      this.#bad('I2', 'a notification entered before a person')
    }
  }

  /** Recovery commits once per acquisition, however often it is tried (I28). */
  #recovered({ sessionId, fence }: Lease, change: StoreChange): void {
    const shadow = this.#shadows.get(sessionId)
    if (shadow === undefined) return
    if (shadow.recoveredAt === fence) this.#bad('I28', `recovered twice under fence ${fence}`)
    const { losses, turn } = shadow
    const isMoved = shadow.birth === 'imported' && shadow.recoveredAt === 0
    shadow.recoveredAt = fence
    const isGivenUp = (change.entries ?? []).some(({ entry }) => entry.kind === 'turn')
    const isDeadly = isMoved || losses > this.#world.composition.settings.lossesMax
    if (isGivenUp !== (shadow.isRunning && isDeadly)) {
      this.#bad('I27', `turn ${turn} lost its holder ${losses} times, given up: ${isGivenUp}`)
    }
  }

  /** Whoever is lost before it took the turn up has not touched it (I27). */
  #lost(shadow: Shadow): void {
    if (shadow.isRunning && shadow.recoveredAt === shadow.fence) shadow.losses++
  }

  #bad(law: string, message: string): void {
    this.#world.violate(law, message)
  }

  #born({ verb, request }: Observed, change: StoreChange, row: SessionRow): void {
    if (this.#shadows.has(row.id)) this.#bad('I5', `session id ${row.id} was used again`)
    const isBirth = BIRTHS.includes(verb)
    const line = (change.audit ?? []).find(
      (audit) => audit.kind === 'session created' && audit.sessionId === row.id,
    )
    if (!isBirth || line === undefined) this.#bad('I30', `session ${row.id} was born by ${verb}`)
    const isFork = verb === 'fork'
    this.#shadows.set(row.id, isFork ? this.#forks.born(row, request as Fork) : new Shadow(row))
  }

  /** One file makes one session, the one it describes, unchanged (I30). */
  #adopted(observed: Observed, change: StoreChange): void {
    const request = observed.request as AdoptSession
    const { session, entries } = request
    for (const { after } of change.sessions ?? []) {
      if (after.id !== session.id) this.#bad('I30', `${session.id} was imported as ${after.id}`)
      this.#born(observed, change, after)
      const shadow = this.#shadows.get(after.id)
      if (shadow === undefined) continue
      const { fence, tailHash, seen, turn, losses, openCalls } = after
      Object.assign(shadow, { fence, tailHash, seen, turn, losses, answered: seen })
      shadow.isRunning = after.turnState === 'running'
      for (const call of openCalls) shadow.openCalls.add(call)
      for (const { mail } of change.mail ?? []) {
        const { number, lane, control, turnAt, body, state } = mail
        shadow.mail.push({ number, lane, control, turnAt, body, state, entry: null })
      }
      for (const { entry } of change.entries ?? []) {
        const { number, kind, tokens, operation } = entry
        const words = wordsOfEntry(entry)
        shadow.entries.push({ number, kind, tokens, fence: entry.fence, operation, entry, words })
        // Mail of the entries that a fork reads from its origin is in the origin's mailbox.
        if (entry.kind !== 'input' || number <= after.forkedAt) continue
        const mail = shadow.mail[entry.meta.mail - 1]
        if (mail !== undefined) mail.entry = number
        shadow.lastOfLane[entry.meta.lane] = entry.meta.mail
      }
      if (shadow.tail !== entries.length) this.#bad('I19', `${after.id} was not imported whole`)
      const written = shadow.entries.map(({ entry }) => entry)
      const emptied = this.#forks.adopted(shadow, request, written)
      for (const number of [...session.owed, ...emptied]) shadow.owes.add(number)
    }
  }

  #acquired({ request, outcome }: Observed): void {
    if (outcome.kind !== 'acquired' || !('lease' in outcome)) return
    const { sessionId, fence, holder, runner } = outcome.lease
    const shadow = this.#shadows.get(sessionId)
    if (shadow === undefined) return
    const isLive = shadow.runner !== null && this.#world.tables.runners.has(shadow.runner as never)
    if (isLive && shadow.runner !== runner) {
      this.#bad('I8', `${sessionId} was taken from ${shadow.runner}, which is alive`)
    }
    if (fence !== shadow.fence + 1) this.#bad('I8', `fence ${shadow.fence} became ${fence}`)
    if ((request as { fence: number }).fence !== shadow.fence) {
      this.#bad('I8', `${sessionId} was acquired with an old picture`)
    }
    if (shadow.runner !== null) this.#lost(shadow)
    if (shadow.runner !== null && shadow.runner !== runner) {
      this.#world.count('take-over')
      if (shadow.isRunning) this.#world.count('take-over mid-turn')
      if (shadow.isCalling) this.#world.count('take-over mid-call')
      shadow.isCalling = false
      if (shadow.running !== null) this.#world.count('take-over mid-compaction')
    }
    Object.assign(shadow, { fence, holder, runner })
    // Between two turns nothing has to be taken up.
    if (!shadow.isRunning) shadow.recoveredAt = fence
  }

  /** Only the current holder changes a session (I7, I8). */
  #fenced(verb: string, { sessionId, fence, holder, runner }: Lease): void {
    const shadow = this.#shadows.get(sessionId)
    if (shadow === undefined) return
    if (shadow.fence !== fence || shadow.holder !== holder || shadow.runner !== runner) {
      this.#bad('I8', `${verb} on ${sessionId} under fence ${fence}, it is ${shadow.fence}`)
    }
    if (verb === 'release') Object.assign(shadow, { holder: null, runner: null })
  }

  #mailWritten(sessionId: string, row: MailRow, change: StoreChange): void {
    const shadow = this.#shadows.get(sessionId)
    if (shadow === undefined) return
    const known = shadow.mail[row.number - 1]
    if (known === undefined) {
      if (row.number !== shadow.mail.length + 1) this.#bad('I2', `mail ${row.number} leaves a gap`)
      const { number, lane, control, turnAt, body, state } = row
      shadow.mail.push({ number, lane, control, turnAt, body, state, entry: null })
      if (lane === 'control' && control === 'stop') this.#world.count('stop admitted')
      if (shadow.running !== null && lane !== 'control') this.#world.count('mail during compaction')
      return
    }
    if (known.state !== 'admitted' || known.entry !== null) {
      this.#bad('I3', `mail ${row.number} was ${known.state} and is written again`)
    }
    // The entry that carried out a control item has its text. The item's own body is erased with
    // it, as is that of a withdrawn notification, because no erasure would reach them (I19).
    const isGone =
      row.lane === 'control' || (row.lane === 'notification' && row.state === 'withdrawn')
    const body = isGone ? null : known.body
    if (row.body !== body) this.#bad('I1', `mail ${row.number} changed`)
    known.state = row.state
    // The commit that ends its turn settles a stop; settled earlier, it would be lost in a crash
    // (I11).
    if (row.state === 'settled' && row.control === 'stop' && row.turnAt === shadow.turn) {
      const ends = (change.entries ?? []).some(({ entry }) => entry.kind === 'turn')
      if (shadow.isRunning && !ends)
        this.#bad('I11', `stop ${row.number} settled, its turn runs on`)
    }
  }

  #appended(shadow: Shadow, entry: Entry, observed: Observed, change: StoreChange): void {
    const { number, kind, fence } = entry
    if (shadow.isDeleted) this.#bad('I7', `entry ${number} in a deleted session`)
    if (number !== shadow.tail + 1) this.#bad('I19', `entry ${number} behind ${shadow.tail}`)
    const damage = checkEntry(shadow.tailHash, entry)
    if (damage !== undefined) this.#bad('I19', `entry ${number} of ${shadow.id}: ${damage}`)
    if (fence !== shadow.fence) this.#bad('I8', `entry ${number} under fence ${fence}`)
    if (shadow.entries.some((each) => each.operation === entry.operation && each.fence !== fence)) {
      this.#bad('I8', `operation ${entry.operation} wrote under two fences`)
    }
    this.#appendedKind(shadow, entry, observed, change)
    if (entry.kind === 'erasure') this.#paid(shadow, entry)
    const words = wordsOfEntry(entry)
    const { tokens, operation } = entry
    shadow.entries.push({ number, kind, tokens, fence, operation, entry, words })
    shadow.tailHash = entry.hash
  }

  /** The entry names everything that erasures in other sessions took from this one (I39). */
  #paid({ id, owes }: Shadow, { meta }: Entry & { kind: 'erasure' }): void {
    if (owes.size === 0) return
    this.#world.count('erasure of another session named')
    for (const number of meta.entries) owes.delete(number)
    if (owes.size > 0) this.#bad('I39', `${id} does not name that it lost ${[...owes].join()}`)
  }

  #appendedKind(shadow: Shadow, entry: Entry, { verb }: Observed, change: StoreChange): void {
    switch (entry.kind) {
      case 'arrival':
        if (shadow.openCalls.size > 0) this.#bad('I37', `${shadow.id} arrived with open calls`)
        shadow.seen = shadow.answered = entry.number
        break
      case 'input':
        if (verb !== 'recordEntries') this.#delivered(shadow, entry)
        break
      case 'assistant': {
        if (!shadow.isRunning || entry.meta.turn !== shadow.turn) {
          this.#bad('I15', `a step of turn ${entry.meta.turn} in turn ${shadow.turn}`)
        }
        if (shadow.openCalls.size > 0)
          this.#bad('I15', `a reply at ${entry.number} with open calls`)
        const isTwice = shadow.entries.some(
          (each) => each.kind === 'assistant' && each.operation === entry.operation,
        )
        if (isTwice && verb !== 'recordEntries')
          this.#bad('I3', `the reply of ${entry.operation} stands twice`)
        shadow.isCalling = false
        shadow.losses = 0
        shadow.seen = Math.max(shadow.seen, entry.meta.upto)
        for (const call of entry.meta.calls) shadow.openCalls.add(call)
        break
      }
      case 'result':
        if (!shadow.openCalls.delete(entry.meta.call)) {
          this.#bad('I15', `a result for ${entry.meta.call}, which is not open`)
        }
        if (entry.meta.outcome === 'unknown') {
          this.#world.count('call closed as unknown')
          if (verb !== 'recover') this.#bad('I32', `${verb} closed a call as unknown`)
        }
        break
      case 'compaction':
        this.#compacted(shadow, entry)
        break
      case 'revert':
        this.#reverted(shadow, entry)
        break
      case 'turn':
        this.#turnEnded(shadow, entry, verb, change)
        break
      case 'settings':
        for (const { after } of change.sessions ?? []) {
          shadow.policies.add(after.policy)
          shadow.limitsFrom(entry.number, after.limits)
        }
        if (wordsOfEntry(entry).length > 0) this.#world.count('system text')
        break
      default:
        break
    }
  }

  #delivered(shadow: Shadow, entry: Entry & { kind: 'input' }): void {
    const { mail: number, lane } = entry.meta
    const mail = shadow.mail[number - 1]
    if (mail === undefined || mail.lane !== lane) {
      this.#bad('I3', `no mail ${number}`)
      return
    }
    if (mail.entry !== null) this.#bad('I3', `mail ${number} delivered twice`)
    if (mail.state === 'withdrawn') this.#bad('I3', `mail ${number} was withdrawn`)
    if (mail.body !== entry.body) this.#bad('I1', `mail ${number} was delivered changed`)
    if (shadow.openCalls.size > 0) this.#bad('I15', `mail ${number} between a call and its result`)
    const skipped = shadow.mail.find(
      (each) =>
        each.lane === lane &&
        each.number < number &&
        each.entry === null &&
        each.state === 'admitted',
    )
    if (skipped !== undefined) this.#bad('I2', `mail ${number} overtook ${skipped.number}`)
    if (number < shadow.lastOfLane[lane]) this.#bad('I2', `mail ${number} out of order`)
    shadow.lastOfLane[lane] = number
    mail.entry = entry.number
    if (!shadow.isRunning) {
      shadow.turn++
      shadow.isRunning = true
    }
  }

  #compacted(shadow: Shadow, entry: Entry & { kind: 'compaction' }): void {
    const { covers, previous, by } = entry.meta
    const folded = foldShadow(shadow, shadow.tail)
    const operation = shadow.running
    if (operation === null || operation.id !== entry.operation) {
      this.#bad('I7', `compaction ${entry.operation} was not the one in flight`)
    } else {
      if (operation.fence !== shadow.fence) this.#bad('I7', `${operation.id} has an old fence`)
      if (operation.base !== folded.base) {
        this.#bad('I7', `${operation.id} has base ${operation.base}, it is ${folded.base}`)
      }
    }
    if (covers > shadow.seen) this.#bad('I10', `covers ${covers}, seen is ${shadow.seen}`)
    const below = handoffOf(folded.effective?.entry)?.previous ?? 0
    const expected = by === 'rewrite' ? below : (folded.effective?.number ?? 0)
    if (previous !== expected) this.#bad('I12', `stands on ${previous}, not on ${expected}`)
    // A handoff that covers the same range may take in what was answered since.
    const isMore = folded.carries.some((number) => number <= shadow.answered)
    const grows =
      by === 'rewrite' || by === 'clearing'
        ? covers === folded.covers
        : covers > folded.covers || (covers === folded.covers && isMore)
    if (!grows) this.#bad('I10', `covers ${covers} behind ${folded.covers}`)
    judgeClearing(shadow, entry, folded, (law, message) => this.#bad(law, message))
    const [word = ''] = wordsOfEntry(entry)
    if (by !== 'clearing' && word !== `handoff ${shadow.id} ${entry.operation} ${covers}`) {
      this.#bad('I21', `the handoff of ${shadow.id} says "${word}"`)
    }
    if (by !== 'clearing' && entry.tokens > shadow.limitsAt().handoffTokens) {
      this.#bad('I13', `a handoff of ${entry.tokens} tokens`)
    }
    if (shadow.openCalls.size > 0) this.#world.count('compaction committed with open calls')
    const waits = shadow.mail.filter((mail) => mail.control === 'stop' && mail.state === 'admitted')
    if (waits.length > 0) this.#world.count('interrupt at commit')
    if (shadow.tail > covers + 1) this.#world.count('committed while the tail had grown')
  }

  /**
   * Only the newest compaction, and only if the restored entries leave room for input (decision
   * 15).
   */
  #reverted(shadow: Shadow, entry: Entry & { kind: 'revert' }): void {
    this.#world.count('revert')
    if (shadow.running !== null) this.#world.count('revert with a compaction in flight')
    const folded = foldShadow(shadow, shadow.tail)
    const undone = folded.effective?.entry
    if (entry.meta.target !== undone?.number) this.#bad('I12', 'reverted what is not in effect')
    const below = saidBelow(shadow, handoffOf(undone)?.previous ?? 0)
    if (entry.meta.previous !== (below?.number ?? 0)) this.#bad('I12', 'reverted too far')
    const { covers = 0, carries = [], clears = CLEARS_NOTHING } = handoffOf(below?.entry) ?? {}
    const limits = shadow.limitsAt()
    const without = { ...folded, effective: below ?? null, covers, carries, clears }
    const tokens = expectedTokens(shadow, shadow.tail, without)
    if (tokens > limits.hardTokens - limits.inputTokens) this.#bad('I33', `${tokens} by a revert`)
  }

  #turnEnded(
    shadow: Shadow,
    entry: Entry & { kind: 'turn' },
    verb: string,
    change: StoreChange,
  ): void {
    const { turn, ended } = entry.meta
    if (!shadow.isRunning || turn !== shadow.turn) this.#bad('I11', `turn ${turn} ended twice`)
    if (shadow.openCalls.size > 0) this.#bad('I15', `turn ${turn} ended with open calls`)
    this.#world.count(`turn ${ended}`)
    if (ended === 'stopped') {
      const isMeant = shadow.mail.some((mail) => mail.control === 'stop' && mail.turnAt === turn)
      const waits = shadow.mail.some(
        ({ lane, entry: at, state }) => lane === 'user' && at === null && state !== 'settled',
      )
      if (!isMeant && !(shadow.policies.has('interrupt') && waits)) {
        this.#bad('I11', `turn ${turn} was stopped by nobody`)
      }
    }
    const said = shadow.entries.at(-1)
    const isFull = said?.words.includes('and nothing is left to compact') === true
    if (ended === 'failed' && isFull && !this.overflows.has(`${shadow.id} ${turn}`)) {
      this.#bad('I33', `turn ${turn} was given up for want of room`)
    }
    // An erased message no longer names its reply address.
    const isAsked = shadow.mail.some(
      ({ lane, entry: at }) =>
        lane === 'user' && at !== null && shadow.entries[at - 1]?.entry.body !== null,
    )
    const isOurs = verb !== 'recordEntries'
    if (isOurs && ended === 'answered' && isAsked && (change.replies ?? []).length === 0) {
      this.#bad('I31', `turn ${turn} was answered to nobody`)
    }
    // The other program's model has seen all of it.
    if (verb === 'recordEntries') shadow.seen = shadow.tail
    if (ended === 'failed' && verb === 'recover') {
      this.#world.count('poison turn')
      shadow.seen = shadow.tail
    }
    shadow.answered = shadow.seen
    shadow.losses = 0
    shadow.isRunning = false
    // Delivered input that no model has seen starts the next turn at once.
    const unseen = shadow.mail.some((mail) => mail.entry !== null && mail.entry > shadow.seen)
    for (const { after } of change.sessions ?? []) {
      if (after.id !== shadow.id) continue
      if ((after.turnState === 'running') !== unseen) {
        this.#bad('I10', `turn ${turn} ended, unseen input ${unseen}, next ${after.turnState}`)
      }
    }
    if (unseen) {
      shadow.turn++
      shadow.isRunning = true
      this.#world.count('unseen input begins the next turn')
    }
  }
}

/**
 * A clearing keeps the handoff, shortens only what a model has seen, and makes the context smaller;
 * every other compaction leaves shortened what it does not cover (I10, I13, I21).
 */
function judgeClearing(
  shadow: Shadow,
  entry: Entry & { kind: 'compaction' },
  folded: Folded,
  bad: (law: string, message: string) => void,
): void {
  const { by, covers, clears = CLEARS_NOTHING } = entry.meta
  const earlier = folded.clears
  if (by !== 'clearing') {
    const kept = earlier.upto > covers ? earlier : CLEARS_NOTHING
    if (clears.upto !== kept.upto || clears.tokens !== kept.tokens) {
      bad('I13', `${entry.operation} shows results up to ${earlier.upto} whole again`)
    }
    return
  }
  if (clears.upto > shadow.seen) bad('I10', `clears ${clears.upto}, seen is ${shadow.seen}`)
  if (clears.upto < earlier.upto || clears.tokens > earlier.tokens) {
    bad('I13', `${entry.operation} shows cleared results whole again`)
  }
  if (wordsOfEntry(entry).join() !== (folded.effective?.words ?? []).join()) {
    bad('I21', `the clearing of ${shadow.id} changed the handoff`)
  }
  const before = expectedTokens(shadow, shadow.tail, folded)
  const after = expectedTokens(shadow, shadow.tail, { ...folded, clears })
  if (after >= before || entry.tokens !== (folded.effective?.tokens ?? 0)) {
    bad('I13', `a clearing made ${before} tokens into ${after}`)
  }
}
