import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'
import { openPlace } from '../place.ts'

/** The product as a process that can be killed: `serve.ts STORE FOLDER PORT TOKENS-PER-SECOND`. */
const [path = '', folder = '', port = '0', speed = '12'] = process.argv.slice(2)
const place = await openPlace({
  store: await openSqliteStore({ path }),
  folder,
  port: Number(port),
  model: { speed: { outputTokensPerSecond: Number(speed) } },
})
process.stdout.write(`${place.url}\n`)
process.on('SIGTERM', () => void place.close().then(() => process.exit(0)))
