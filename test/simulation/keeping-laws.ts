import type { SessionId } from '../../packages/core/src/base/ids.ts'
import type { AdoptSession } from '../../packages/core/src/store/commits.ts'
import type { Lease } from '../../packages/core/src/store/contract.ts'
import type { Erase, StoreChange } from '../../packages/core/src/store/rules/ruling.ts'
import type { Entry } from '../../packages/core/src/store/tables/rows.ts'
import type { ForkLaws } from './fork-laws.ts'
import type { Observed } from './laws.ts'
import { handoffOf, isMessage, type Shadow, wordsIn } from './shadow.ts'
import type { World } from './world.ts'

/** Laws about what is kept and what is erased: erasure (decision 23) and blobs (decision 26). */
export class KeepingLaws {
  readonly #world: World
  readonly #shadows: Map<string, Shadow>
  readonly #forks: ForkLaws
  /** The mail and entries that use each blob and are not erased, by session and hash. */
  readonly #users = new Map<string, Set<string>>()

  constructor(world: World, shadows: Map<string, Shadow>, forks: ForkLaws) {
    this.#world = world
    this.#shadows = shadows
    this.#forks = forks
  }

  observe(observed: Observed, change: StoreChange): void {
    const { verb, request } = observed
    for (const { sessionId, mail } of change.mail ?? []) {
      for (const hash of mail.blobs) this.#use(sessionId, hash).add(`${mail.number}`)
    }
    if (verb === 'adoptSession') this.#adopted(request as AdoptSession, change)
    this.#erased(observed, change.erase ?? [])
    for (const { sessionId, entry } of change.entries ?? []) this.#tellsAll(sessionId, entry)
    if (verb === 'eraseSome') this.#emptied((request as { sessionId: SessionId }).sessionId)
    const touchesFiles = (change.blobUses?.length ?? 0) + (change.blobs?.length ?? 0) > 0
    if (touchesFiles || change.erase !== undefined) this.#filesKept()
  }

  /** Entries from before the fork came without their mail; the files of whole ones came along. */
  #adopted({ session }: AdoptSession, { entries = [] }: StoreChange): void {
    for (const { number, body, meta } of entries.map(({ entry }) => entry)) {
      if (number > session.forkedAt || body === null || !('blobs' in meta)) continue
      for (const hash of meta.blobs) this.#use(session.id, hash).add(`entry ${number}`)
    }
  }

  #use(sessionId: string, hash: string): Set<string> {
    const name = `${sessionId} ${hash}`
    const known = this.#users.get(name) ?? new Set()
    this.#users.set(name, known)
    return known
  }

  /**
   * Erased text is nowhere: not in mail, replies or a handoff that covers it, in this session or
   * any that reads the entry (I38).
   */
  #erased({ verb, request }: Observed, erasures: readonly Erase[]): void {
    const { lease } = request as { lease?: Lease }
    const gone: string[] = []
    const lost = new Map<Shadow, number[]>()
    for (const { sessionId, entries } of erasures) {
      this.#world.count(`erased by ${verb}`)
      for (const number of entries) {
        const known = this.#shadows.get(sessionId)?.entries[number - 1]
        if (known === undefined) continue
        if (isMessage(known)) gone.push(...wordsIn(known.entry.body))
        if (known.entry.kind === 'input') {
          const { mail, blobs } = known.entry.meta
          // An entry from another session names mail of that session.
          const isOwn = number > (this.#world.tables.session(sessionId)?.forkedAt ?? 0)
          const user = isOwn ? `${mail}` : `entry ${number}`
          for (const hash of blobs) this.#users.get(`${sessionId} ${hash}`)?.delete(user)
        }
        if (verb === 'eraseSome' && this.#forks.isRead(sessionId, number)) {
          this.#world.violate('I40', `entry ${number} of ${sessionId} is gone and a fork reads it`)
        }
        for (const shadow of this.#forks.empty(sessionId, number, withoutBody)) {
          lost.set(shadow, [...(lost.get(shadow) ?? []), number])
        }
      }
    }
    // A deletion takes several commits; what remains is checked when it reports completion.
    if (verb === 'eraseSome') return
    for (const [shadow, numbers] of lost) {
      this.#tellsNothing(shadow, numbers, shadow.id === lease?.sessionId)
    }
    if (gone.length > 0) this.#nowhere(gone)
  }

  #tellsNothing(shadow: Shadow, lost: readonly number[], isOwner: boolean): void {
    if (shadow.isDeleted) return
    // The erasing session names it in the same commit; the others owe an entry.
    if (!isOwner) {
      for (const number of lost) shadow.owes.add(number)
      shadow.reachedAt = this.#world.commits
      this.#world.count('erased in another session')
      if (shadow.running !== null) this.#world.count('erased elsewhere during a compaction')
    }
    shadow.erasedAt = isOwner ? shadow.tail : shadow.tail + 1
    const first = Math.min(...lost)
    const told = shadow.entries.find(
      ({ entry, number }) =>
        entry.body !== null && !(isOwner && number === shadow.tail) && tells(entry, first),
    )
    if (told !== undefined) {
      this.#world.violate('I38', `handoff ${told.number} of ${shadow.id} still tells of ${first}`)
    }
  }

  /** Each erasure that was requested by mail and not refused is done once the run is idle. */
  forgotten({ id, mail, entries, isDeleted }: Shadow): void {
    if (isDeleted) return
    const asked = mail.filter((each) => each.control === 'erase' && each.state === 'settled')
    for (const { number, body } of asked) {
      const wanted = JSON.parse(body ?? '') as { readonly entries: readonly number[] }
      const left = wanted.entries.find((each) => entries[each - 1]?.entry.body !== null)
      if (left !== undefined) {
        this.#world.violate('I19', `mail ${number} of ${id} asked to erase ${left}: still there`)
      }
    }
  }

  /** A handoff contains every word of the range it covers, and none that was erased. */
  #tellsAll(sessionId: SessionId, entry: Entry): void {
    const meta = handoffOf(entry)
    // An imported handoff without a text is replaced before a model sees it.
    if (meta === null || entry.body === null) return
    const range = this.#shadows.get(sessionId)?.entries.slice(0, meta.covers) ?? []
    const said = range.filter(isMessage).flatMap((each) => wordsIn(each.entry.body))
    const told = wordsIn(entry.body)
    const lost = said.find((word) => !told.includes(word))
    const kept = told.find((word) => !said.includes(word))
    if (lost !== undefined) this.#world.violate('I10', `handoff ${entry.number} lost ${lost}`)
    if (kept !== undefined) this.#world.violate('I19', `handoff ${entry.number} tells ${kept}`)
  }

  #nowhere(words: readonly string[]): void {
    const { tables } = this.#world
    const places: readonly (readonly [string, readonly { body: string | null }[]])[] = [
      ['entry', [...tables.entries.values()].flat()],
      ['mail', [...tables.mails.values()].flat()],
      ['reply', [...tables.replies.values()]],
    ]
    for (const [place, rows] of places) {
      for (const { body } of rows) {
        const word = body === null ? undefined : words.find((each) => body.includes(`"${each}"`))
        if (word !== undefined) this.#world.violate('I38', `erased ${word} is still in a ${place}`)
      }
    }
  }

  /** A deleted session leaves only its tombstone, its hashes, and what forks read. */
  #emptied(sessionId: SessionId): void {
    const { tables } = this.#world
    if (tables.session(sessionId)?.state !== 'gone') return
    const entries = tables.ownEntries(sessionId)
    const read = entries.filter(({ number }) => this.#forks.isRead(sessionId, number))
    const files = read.flatMap(({ body, meta }) =>
      body !== null && 'blobs' in meta ? meta.blobs : [],
    )
    const rows = [
      ...entries.filter((entry) => !read.includes(entry)),
      ...(tables.mails.get(sessionId) ?? []),
      ...[...tables.replies.values()].filter((reply) => reply.sessionId === sessionId),
    ]
    const blobs = [...tables.blobs.values()].filter(({ hash }) => !files.includes(hash))
    const left = [...blobs, ...tables.routes.values()].filter((row) => row.sessionId === sessionId)
    if (left.length > 0 || rows.some(({ body }) => body !== null)) {
      this.#world.violate('I40', `${sessionId} is gone and something of it is left`)
    }
    for (const name of this.#users.keys()) {
      if (name.startsWith(`${sessionId} `)) this.#users.delete(name)
    }
  }

  /** A blob exists as long as something uses it, and once used, no longer. */
  #filesKept(): void {
    const { tables } = this.#world
    const present = new Set([...tables.blobs.values()].map((row) => `${row.sessionId} ${row.hash}`))
    for (const [name, users] of this.#users) {
      const shadow = this.#shadows.get(name.split(' ')[0] ?? '')
      if (shadow?.isDeleted === true) continue
      if (users.size > 0 && !present.has(name)) {
        this.#world.violate('I19', `file ${name.slice(0, 24)} is gone and ${users.size} use it`)
      }
      if (users.size > 1) this.#world.count('file used twice')
      if (users.size > 0) continue
      this.#users.delete(name)
      if (present.has(name))
        this.#world.violate('I19', `file ${name.slice(0, 24)} outlived its use`)
      else this.#world.count('file erased with its last use')
    }
  }
}

function withoutBody(entry: Entry): Entry {
  return { ...entry, body: null, salt: null }
}

function tells(entry: Entry, number: number): boolean {
  return (handoffOf(entry)?.covers ?? 0) >= number
}
