import { DatabaseSync } from 'node:sqlite'

/** What every other figure is compared with: each column of each message, read once. */
const database = new DatabaseSync(process.argv[2] ?? '', { readOnly: true })
let bytes = 0
for (const row of database.prepare('select * from messages').iterate()) {
  bytes += String(row['content']).length
}
database.close()
console.log(`${Math.round(bytes / 1e6)} MB of text.`)
