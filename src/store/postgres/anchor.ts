import { checkAnchor, readAnchor, writeAnchor } from '../anchor.ts'
import { StoreDamagedError } from '../errors.ts'
import type { Connections } from './connections.ts'
import { CHAIN } from './house.ts'
import { AUDIT_COLUMNS, decodeAudit } from './tables.ts'

const ANCHOR_MS = 1_000
const PLACE = { text: 'select id, commits, hash from store where one = 1', values: [] }

/**
 * How far the store had come, in a file of this host. A server does not lose the end of its log by
 * itself, but an older backup can be put back, or a standby take over that lacks the last commits: a
 * store behind its anchor answers reads and refuses commits. Wherever losing them was accepted, the
 * file is removed by hand.
 */
export class PostgresAnchor {
  readonly #connections: Connections
  readonly #path: string
  readonly #damage: StoreDamagedError | undefined
  #keptAt = Number.NEGATIVE_INFINITY

  private constructor(
    connections: Connections,
    path: string,
    damage: StoreDamagedError | undefined,
  ) {
    this.#connections = connections
    this.#path = path
    this.#damage = damage
  }

  static async open(
    connections: Connections,
    path: string,
    place: string,
  ): Promise<PostgresAnchor> {
    const anchor = readAnchor(path)
    await chainAll(connections)
    const [store] = await connections.query(PLACE)
    const [row] = await connections.query({
      text: `select ${AUDIT_COLUMNS} from audit where cursor = $1`,
      values: [anchor?.commits ?? 0],
    })
    const present = { id: String(store?.['id']), commits: Number(store?.['commits']) }
    const problem = checkAnchor(anchor, present, () => row && decodeAudit(row).hash)
    const damage = problem === null ? undefined : new StoreDamagedError({ path: place, problem })
    return new PostgresAnchor(connections, path, damage)
  }

  /** Throws when nothing may be acknowledged. */
  check(): void {
    if (this.#damage !== undefined) throw this.#damage
  }

  /** At most once a second; what is not linked yet is anchored with the next one. */
  async keep(): Promise<void> {
    const now = performance.now()
    if (this.#damage !== undefined || now - this.#keptAt < ANCHOR_MS) return
    this.#keptAt = now
    const [store] = await this.#connections.query(PLACE)
    const { id, commits, hash } = store as { id: string; commits: number; hash: string }
    try {
      writeAnchor(this.#path, { storeId: id, commits, hash })
    } catch {
      // A full disk must not fail what the server has kept; the next anchor covers this one.
    }
  }

  async close(): Promise<void> {
    this.#keptAt = Number.NEGATIVE_INFINITY
    try {
      await chainAll(this.#connections)
      await this.keep()
    } catch {
      // The server is away: the anchor stays where it was.
    }
  }
}

async function chainAll(connections: Connections): Promise<void> {
  for (;;) {
    const [chained] = await connections.query(CHAIN)
    if (chained?.['more'] !== true) return
  }
}
