import { appendFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'

/**
 * Admits without end, writes down what was acknowledged, and in between does what it is told: copies
 * the store, or empties its WAL. Says so just before, so that the test can kill it meanwhile.
 */
const [path = '', acks = '', name = '', deed = '', target = ''] = process.argv.slice(2)
process.stdin.on('end', () => process.exit(1)).resume()
const store = await openSqliteStore({ path })
const text = 'words '.repeat(20_000)

void keepHouse()
for (let index = 0; ; index++) {
  const key = `${name}-${index}`
  const to = { sessionId: sessionId('kept') }
  const plain = { to, source: name, key, lane: 'user', tokens: 1 } as const
  const outcome = await store.admit({ ...plain, body: `${key} ${text}` })
  if (outcome.kind !== 'admitted') throw new Error(`${key} was ${outcome.kind}`)
  appendFileSync(acks, `${outcome.mail} ${key}\n`)
}

async function keepHouse(): Promise<void> {
  for (let round = 0; ; round++) {
    await new Promise((resolve) => setTimeout(resolve, 60))
    writeSync(1, `${deed}\n`)
    if (deed === 'backup') await store.backup(`${target}-${round}`)
    else {
      const database = new DatabaseSync(path, { timeout: 1_000 })
      database.exec('pragma wal_checkpoint(truncate)')
      database.close()
    }
  }
}
