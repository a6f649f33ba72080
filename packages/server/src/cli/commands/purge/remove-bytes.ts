import type { Rewritten } from '#core/store/postgres/rewrite-tables'
import type { StoreFlags } from '../../../host/flags.ts'
import { isServer, rewriteServerTables } from '../../../host/open-store.ts'
import { storeOf } from '../../../host/store-selection.ts'
import type { Runtime } from '../../../runtime/runtime.ts'
import { EXIT } from '../../exit.ts'
import { countText } from '../../terminal/format.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { printNotice } from '../../terminal/stderr.ts'

const GUIDE = 'the operating guide, under PostgreSQL,'

/**
 * PostgreSQL keeps the bytes of removed rows in its table files. Rewriting locks each table, so it
 * is not done while processes serve the store unless the operator asks for it.
 */
export async function removeBytes(
  runtime: Runtime,
  flags: StoreFlags & { readonly vacuum?: boolean },
  { isGone }: { readonly isGone: boolean },
): Promise<number> {
  const where = await storeOf(flags)
  if (!isServer(where.url)) return EXIT.done
  const why = flags.vacuum === false ? '' : await whyNotNow(runtime, flags, isGone)
  if (why !== null) {
    printNotice(
      `The removed bytes are still in the table files of PostgreSQL${why}. See the operating guide, under PostgreSQL.`,
    )
    return EXIT.done
  }
  const progress = new ProgressLine('Rewriting the tables')
  try {
    const rewritten = await rewriteServerTables(where, process.env, (table) =>
      progress.update(`Rewriting table ${table}`),
    )
    printNotice(
      `PostgreSQL has rewritten the tables without the removed bytes. They may still be in ${placesLeft(rewritten).join(' and ')}; ${GUIDE} has the commands that a superuser can run.`,
    )
    return EXIT.done
  } finally {
    progress.end()
  }
}

async function whyNotNow(
  runtime: Runtime,
  { vacuum }: { readonly vacuum?: boolean },
  isGone: boolean,
): Promise<string | null> {
  if (!isGone)
    return ', because another process has yet to remove the rows; run this again afterwards'
  if (vacuum === true) return null
  const { runners } = await runtime.health()
  if (runners.length === 0) return null
  return ', because processes serve this store and would have to wait. Stop them and run this again, or add --vacuum'
}

function placesLeft({ samples, strayFiles }: Rewritten): readonly string[] {
  const stray =
    strayFiles === null
      ? ['files that a crash of the server left behind']
      : [`${countText(strayFiles, 'file', 'files')} that belong to no table (a crash left them)`]
  return [
    'its WAL',
    ...(samples ? [] : ['the samples of its planner (pg_statistic)']),
    ...(strayFiles === 0 ? [] : stray),
  ]
}
