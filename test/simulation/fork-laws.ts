import type { SessionId } from '../../packages/core/src/base/ids.ts'
import { buildContext, messagesOf } from '../../packages/core/src/session/context/build.ts'
import type { AdoptSession } from '../../packages/core/src/store/commits.ts'
import type { Fork } from '../../packages/core/src/store/fork-commits.ts'
import { memoryReads } from '../../packages/core/src/store/memory/reads.ts'
import type { Entry, SessionRow } from '../../packages/core/src/store/tables/rows.ts'
import { expectedWords, foldShadow, Shadow, wordsOf } from './shadow.ts'
import type { World } from './world.ts'

/** Laws about sessions that share entries: forks, imported copies, purges (I36, I37, I40, I41). */
export class ForkLaws {
  readonly #world: World
  readonly #shadows: ReadonlyMap<string, Shadow>

  constructor(world: World, shadows: ReadonlyMap<string, Shadow>) {
    this.#world = world
    this.#shadows = shadows
  }

  #bad(law: string, message: string): void {
    this.#world.violate(law, message)
  }

  /**
   * A fork points to the right entry of the right session, and brings nothing that its entries do
   * not say.
   */
  born(row: SessionRow, { from, at }: Fork): Shadow {
    const { tables } = this.#world
    const asked = this.#shadows.get(from)
    if (asked === undefined || asked.isDeleted || at > asked.tail) {
      this.#bad('I36', `${row.id} was forked from ${from} at ${at}`)
      return new Shadow(row)
    }
    const keeper = asked.keeperOf(at)
    if (row.origin !== keeper.id || row.forkedAt !== at) {
      this.#bad('I36', `${row.id} reads ${row.origin} up to ${row.forkedAt}, not ${keeper.id}`)
    }
    if (asked.origin !== null) this.#world.count('fork of a fork')
    if (asked.isRunning && at === asked.tail) this.#world.count('fork of a running turn')
    const { control, user, notification } = row.pending
    const routes = [...tables.routes.values()].filter(({ sessionId }) => sessionId === row.id)
    const replies = [...tables.replies.values()].filter(({ sessionId }) => sessionId === row.id)
    const taken = control + user + notification + row.mail + routes.length + replies.length
    if (taken > 0 || row.title !== null || row.turnState === 'running') {
      this.#bad('I37', `${row.id} was born with something to do`)
    }
    const shadow = new Shadow(row, keeper)
    if (shadow.openCalls.size > 0) this.#world.count('fork with open calls')
    if (shadow.owes.size > 0) this.#world.count('fork under an emptied handoff')
    return shadow
  }

  /** A fork's model sees what its origin's model would have seen at that entry (I36). */
  readsItsPrefix(shadow: Shadow): void {
    const { forkedAt: upto, id } = shadow
    if (shadow.origin === null || shadow.isDeleted) return
    // A model never sees an emptied handoff; its replacement comes first.
    if (foldShadow(shadow, upto).effective?.entry.body === null) return
    const source = memoryReads(this.#world.tables).readContext({
      sessionId: id as SessionId,
      upto: upto as Entry['number'],
    })
    const context = source && buildContext(source, source.limits, upto as Entry['number'])
    const words = context === null ? [] : messagesOf(context).flatMap(wordsOf)
    if (words.join('\n') !== expectedWords(shadow, upto).join('\n')) {
      this.#bad('I36', `${id} at ${upto} does not read what its origin said`)
    }
  }

  /** An import restores nothing that was erased here, in whichever session. */
  adopted({ id }: Shadow, { entries }: AdoptSession, written: readonly Entry[]): readonly number[] {
    const erased = new Set(
      [...this.#shadows.values()]
        .filter((other) => other.id !== id)
        .flatMap((other) => other.entries)
        .flatMap(({ entry }) => (entry.body === null ? [entry.hash] : [])),
    )
    const revived = written.find(({ body, hash }) => body !== null && erased.has(hash))
    if (revived !== undefined) this.#bad('I41', `entry ${revived.number} of ${id} is back`)
    const emptied = written.filter(({ body }, index) => body === null && entries[index]?.body)
    if (emptied.length > 0) this.#world.count('erased entry kept out of an import')
    return emptied.map(({ number }) => number)
  }

  /** Whether a living session reads this entry. */
  isRead(sessionId: string, number: number): boolean {
    return this.#readers(sessionId, number).some(({ isDeleted }) => !isDeleted)
  }

  /** All sessions that read this entry, including its own. */
  #readers(sessionId: string, number: number): readonly Shadow[] {
    return [...this.#shadows.values()].filter(
      (shadow) => number <= shadow.tail && shadow.keeperOf(number).id === sessionId,
    )
  }

  /** Empties an entry in every session that reads it. */
  empty(sessionId: string, number: number, emptied: (entry: Entry) => Entry): readonly Shadow[] {
    const readers = this.#readers(sessionId, number)
    for (const shadow of readers) shadow.replace(number, emptied)
    return readers
  }

  /** A deletion takes the named session, and its readers only if requested. */
  deleted(sessions: readonly string[], forks: string | undefined): void {
    for (const shadow of this.#shadows.values()) {
      if (shadow.isDeleted || !isReader(shadow, sessions)) continue
      if (forks === 'keep') this.#world.count('deleted under a living fork')
      else this.#bad('I40', `${shadow.id} lives and reads a session that was deleted`)
    }
    if (sessions.length > 1) this.#world.count('deleted with its forks')
  }

  /** What is left of a deleted session is read by a living one. */
  nothingUnread(): void {
    const { tables } = this.#world
    for (const { id, state, forkedAt, origin } of tables.sessions.values()) {
      if (state !== 'gone') continue
      for (const { number, body } of tables.ownEntries(id)) {
        if (body !== null && !this.isRead(id, number)) {
          const where = origin === null ? '' : ` (forked at ${forkedAt})`
          this.#bad('I40', `entry ${number} of ${id}${where} is left and nobody reads it`)
        }
      }
    }
  }
}

function isReader(shadow: Shadow, sessions: readonly string[]): boolean {
  for (let origin = shadow.origin; origin !== null; origin = origin.origin) {
    if (sessions.includes(origin.id)) return true
  }
  return false
}
