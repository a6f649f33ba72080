import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'

/** Opens a store, writes to it and closes it, again and again. Argument: the database. */
const [path = ''] = process.argv.slice(2)
for (let title = 0; ; title++) {
  const store = await openSqliteStore({ path })
  await store.setTitle({ sessionId: sessionId('target'), title: String(title) })
  await store.close()
  if (title === 0) console.log('ready')
}
