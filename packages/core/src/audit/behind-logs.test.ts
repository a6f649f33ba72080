import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { sessionId } from '../base/ids.ts'
import { StoreFixture } from '../store/contract-suite/bench.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { findBehindLogs } from './behind-logs.ts'
import { AuditLog } from './log/log.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** Three entries, two messages. */
async function talked() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store, { id: sessionId('s') })
  await fixture.exchange('hello', 'hi')
  await fixture.admit('waits')
  const folder = mkdtempSync(join(tmpdir(), 'throughline-behind-'))
  folders.push(folder)
  return { store, openLog: () => new AuditLog({ folder, clock: systemClock }) }
}

function admitted(mail: number, session = 's') {
  const mailbox = { from: mail, to: mail }
  return { kind: 'message admitted', sessionId: session, mailbox, reason: 'user' } as const
}

it('a store that has what the logs record is behind none', async () => {
  const { store, openLog } = await talked()
  const log = openLog()
  for (const mail of [1, 2]) log.write(admitted(mail))
  log.write(admitted(9, 'of another store'))
  appendFileSync(log.path, '{"v":1,"lo')
  expect(await findBehindLogs(store, [log.path, '/nowhere/a.jsonl', tmpdir()])).toEqual([])
})

it('a session is behind whose later messages a log records, also a long one', async () => {
  const { store, openLog } = await talked()
  const [one, other] = [openLog(), openLog()]
  for (let times = 0; times < 2_000; times++) one.write(admitted(1))
  one.write(admitted(3))
  other.write(admitted(1))
  expect(await findBehindLogs(store, [one.path, other.path])).toEqual(['s'])
  expect(await findBehindLogs(store, [other.path])).toEqual([])
})
