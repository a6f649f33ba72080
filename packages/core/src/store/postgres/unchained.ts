import { LIST_MAX } from '../bounds.ts'
import type { Reads } from '../contract.ts'
import { hashAudit } from '../integrity/chain.ts'
import type { AuditRow } from '../tables/rows.ts'
import { type Connections, inSnapshot } from './connections/connections.ts'
import { CHAIN_END } from './maintenance.ts'
import { POSTGRES_SCHEMA } from './schema.ts'
import { AUDIT_COLUMNS, type Columns, decodeAudit, toText } from './tables.ts'
import { verifyPostgres } from './verify.ts'

/** The audit as of one moment: the chain up to a number, and the rows not yet linked to it. */
interface Horizon {
  readonly id: string
  readonly commits: number
  readonly hash: string
  readonly unchained: readonly AuditRow[]
}

/**
 * Reading links new audit rows into the chain, which is a write. Read-only clients link them in
 * memory. Meanwhile another process may link them in another order, so all pages belong to the
 * moment of the first page; reading from the start takes a new one.
 */
export function unchainedReads(
  connections: Connections,
): Pick<Reads, 'readStore' | 'readAudit' | 'verify'> {
  let horizon: Horizon | undefined
  return {
    readStore: async () => {
      const { id, commits, hash, unchained } = await readHorizon(connections)
      const last = unchained.at(-1)
      return {
        id,
        schema: POSTGRES_SCHEMA,
        commits: commits + unchained.length,
        hash: last?.hash ?? hash,
      }
    },
    readAudit: async ({ after, sessionId, limit }) => {
      if (horizon === undefined || after === 0) horizon = await readHorizon(connections)
      const most = Math.min(limit, LIST_MAX)
      const chained = await connections.query({
        text: `select ${AUDIT_COLUMNS} from audit where cursor > $1 and cursor <= $2
          ${sessionId === undefined ? '' : 'and session = $4'} order by cursor limit $3`,
        values: [
          ...[after, horizon.commits, most],
          ...(sessionId === undefined ? [] : [toText(sessionId)]),
        ],
      })
      const rest = horizon.unchained
        .filter((row) => row.cursor > after)
        .filter((row) => sessionId === undefined || row.sessionId === sessionId)
      return [...chained.map(decodeAudit), ...rest].slice(0, most)
    },
    // An unlinked row has no hash to check.
    verify: (query) => verifyPostgres(connections, query),
  }
}

function readHorizon(connections: Connections): Promise<Horizon> {
  return inSnapshot(connections, async (loan) => {
    const [[store] = [], lines = []] = await loan.send([
      CHAIN_END,
      { text: 'select line from audit where cursor is null order by id', values: [] },
    ])
    const { id, commits, hash } = store as unknown as Omit<Horizon, 'unchained'>
    return { id, commits, hash, unchained: linked(lines, commits, hash) }
  })
}

function linked(lines: readonly Columns[], commits: number, hash: string): readonly AuditRow[] {
  let link = hash
  return lines.map(({ line }, index) => {
    const columns = { line, cursor: commits + index + 1, hash: Buffer.alloc(0) }
    const row = decodeAudit(columns)
    link = hashAudit(link, row)
    return { ...row, hash: link }
  })
}
