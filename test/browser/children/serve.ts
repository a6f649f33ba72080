import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { openPlace } from '../place.ts'

/** The product as a process that can be killed: `serve.ts STORE FOLDER PORT`. */
const [path = '', folder = '', port = '0'] = process.argv.slice(2)
const place = await openPlace({
  store: await openSqliteStore({ path }),
  folder,
  port: Number(port),
  model: { speed: { outputTokensPerSecond: 12 } },
})
process.stdout.write(`${place.url}\n`)
process.on('SIGTERM', () => void place.close().then(() => process.exit(0)))
