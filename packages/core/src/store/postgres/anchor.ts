import { sweepDrafts } from '../../base/files/drafts.ts'
import { StoreDamagedError } from '../errors.ts'
import { type Anchor, checkAnchor, readAnchor, writeAnchor } from '../integrity/anchor.ts'
import type { StoreChange } from '../rules/ruling.ts'
import type { SessionRow } from '../tables/rows.ts'
import type { Connections, LoanedClient } from './connections/connections.ts'
import { CHAIN, CHAIN_END } from './maintenance.ts'
import { AUDIT_COLUMNS, decodeAudit } from './tables.ts'

const ANCHOR_MS = 1_000

/** The counters of a session that only ever grow. */
type Acknowledged = Pick<SessionRow, 'id' | 'fence' | 'tail' | 'mail'>

/**
 * How far the store had come, in a file on this host. A server does not lose the end of its log by
 * itself, but someone may restore an older backup, or a standby without the last commits may take
 * over. A store behind its anchor answers reads and refuses commits; to accept the loss, remove the
 * file.
 *
 * A standby can also take over while this process runs. So each new connection is checked for the
 * anchored commit and for the newest commit that this process has acknowledged: a server that has a
 * commit has all before it.
 */
export class PostgresAnchor {
  readonly #connections: Connections
  readonly #path: string
  readonly #place: string
  readonly #proven = new WeakSet<object>()
  #damage: StoreDamagedError | undefined
  #anchor: Anchor | undefined
  #acknowledged: Acknowledged | undefined
  #keptAt = Number.NEGATIVE_INFINITY

  private constructor(connections: Connections, path: string, place: string) {
    this.#connections = connections
    this.#path = path
    this.#place = place
    this.#anchor = readAnchor(path)
  }

  static async open(
    connections: Connections,
    path: string,
    place: string,
  ): Promise<PostgresAnchor> {
    sweepDrafts(path)
    const anchor = new PostgresAnchor(connections, path, place)
    await chainAll(connections)
    return anchor
  }

  /** Rejects if nothing may be written over this connection. */
  async prove(loan: LoanedClient): Promise<void> {
    if (this.#damage === undefined && !this.#proven.has(loan.connection)) {
      const problem = await this.#findLoss(loan)
      if (problem === null) this.#proven.add(loan.connection)
      else this.#damage = new StoreDamagedError({ path: this.#place, problem })
    }
    if (this.#damage !== undefined) throw this.#damage
  }

  /** Only the newest commit matters: see above. */
  acknowledge(change: StoreChange | undefined): void {
    this.#acknowledged = change?.sessions?.at(-1)?.after ?? this.#acknowledged
  }

  async #findLoss(loan: LoanedClient): Promise<string | null> {
    const [anchor, newest] = [this.#anchor, this.#acknowledged]
    const [[store] = [], [row] = [], [session] = []] = await loan.send([
      CHAIN_END,
      {
        text: `select ${AUDIT_COLUMNS} from audit where cursor = $1`,
        values: [anchor?.commits ?? 0],
      },
      {
        text: 'select 1 from session where id = $1 and fence >= $2 and tail >= $3 and mail >= $4',
        values: [newest?.id, newest?.fence, newest?.tail, newest?.mail],
      },
    ])
    const present = { id: String(store?.['id']), commits: Number(store?.['commits']) }
    const problem = checkAnchor(this.#path, anchor, present, () => row && decodeAudit(row).hash)
    if (problem !== null || newest === undefined || session !== undefined) return problem
    return `a commit that was acknowledged is not in it: another server answers, which lacks the last ones. Go back to the first one, or accept the loss: remove ${this.#path} and start again.`
  }

  /** At most once a second. Rows that are not linked yet are anchored next time. */
  async keep(): Promise<void> {
    const now = performance.now()
    if (this.#damage !== undefined || now - this.#keptAt < ANCHOR_MS) return
    this.#keptAt = now
    const { id, commits, hash } = await this.#readStore()
    if (commits < (this.#anchor?.commits ?? 0)) return
    this.#anchor = { storeId: id, commits, hash }
    try {
      writeAnchor(this.#path, this.#anchor)
    } catch {
      // A full disk must not fail a commit that the server has; the next anchor covers this one.
    }
  }

  /** Only for the anchored history, never another server's. */
  async #readStore(): Promise<{ id: string; commits: number; hash: string }> {
    const loan = await this.#connections.loan()
    try {
      await this.prove(loan)
      const [[store] = []] = await loan.send([CHAIN_END])
      return store as { id: string; commits: number; hash: string }
    } finally {
      loan.end()
    }
  }

  async close(): Promise<void> {
    this.#keptAt = Number.NEGATIVE_INFINITY
    try {
      await chainAll(this.#connections)
      await this.keep()
    } catch {
      // The server is unreachable: the anchor stays where it was.
    }
  }
}

async function chainAll(connections: Connections): Promise<void> {
  for (;;) {
    const [chained] = await connections.query(CHAIN)
    if (chained?.['more'] !== true) return
  }
}
