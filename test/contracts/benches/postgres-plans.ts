import pg from 'pg'

/** Notes each statement with parameters that the driver sends; gives the way to end that. */
export function recordStatements(into: Set<string>): () => void {
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first] = args
    if (typeof first === 'object' && first !== null && 'text' in first) into.add(String(first.text))
    return (query as (...given: unknown[]) => unknown).apply(this, args)
  } as typeof query
  return () => {
    pg.Client.prototype.query = query
  }
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/** Tables that do not grow for as long as a store is used. */
const SMALL = new Set(['runner', 'token', 'store', 'pg_class'])

/**
 * What a plan says that could take longer in an older store. Sequential scans are switched off, so
 * that one is left only where no index fits; a plan for any parameters is asked for.
 */
export async function growthIn(
  sql: (text: string) => Promise<readonly Record<string, unknown>[]>,
  statement: string,
): Promise<readonly string[]> {
  for (const way of ['seqscan', 'hashjoin', 'mergejoin']) await sql(`set enable_${way} = off`)
  const [row = {}] = await sql(`explain (generic_plan, format json) ${statement}`)
  const [{ Plan }] = row['QUERY PLAN'] as [{ Plan: PlanNode }]
  const found: string[] = []
  const visit = (node: PlanNode) => {
    const { 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node
    const type = node['Node Type']
    if (type === 'Seq Scan' && table !== undefined && !SMALL.has(table)) found.push(`scan ${table}`)
    const isWhole = index !== undefined && condition === undefined
    if (isWhole && ![...SMALL].some((each) => index.startsWith(`${each}_`))) {
      found.push(`whole ${index}`)
    }
    for (const child of node.Plans ?? []) visit(child)
  }
  visit(Plan)
  return found
}
