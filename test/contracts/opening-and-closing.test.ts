import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { create } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { readSqliteStore } from '../../packages/core/src/store/sqlite/read.ts'

const CHILD = join(import.meta.dirname, 'children', 'open-and-close.ts')
const id = sessionId('target')

it('a store is read whole while other processes open and close it', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-closing-'))
  const path = join(folder, 'store.db')
  const store = await openSqliteStore({ path })
  await create(store, { id })
  await store.close()
  const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  context.onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    rmSync(folder, { recursive: true, force: true })
  })
  await once(child.stdout, 'data')
  const titles = new Set<string | null | undefined>()
  // Before, about one of ten openings met the moment at which the WAL has lost its index.
  for (let round = 0; round < 400 || titles.size <= 10; round++) {
    expect(child.exitCode).toBeNull()
    const reader = await readSqliteStore(path)
    titles.add((await reader.findSession(id))?.title)
    await reader.close()
  }
  expect(titles).not.toContain(undefined)
}, 120_000)
