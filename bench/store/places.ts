import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operationId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import type { Limits } from '../../packages/core/src/store/tables/rows.ts'

/** A store on this machine's disk, and processes that write to it. */
export const LIMITS: Limits = {
  hardTokens: 200_000,
  pinTokens: 4_000,
  handoffTokens: 20_000,
  inputTokens: 30_000,
  stepTokens: 30_000,
  outputTokens: 16_000,
  laneMailMax: 10_000_000,
  sourceMailMax: 10_000_000,
}

export async function withStore<Value>(
  work: (store: Store, path: string) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-bench-'))
  const path = join(folder, 'store.db')
  const store = await openSqliteStore({ path })
  try {
    return await work(store, path)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function createSessions(store: Store, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `s${index}`)
  const plain = { agent: 'main', limits: LIMITS, policy: 'steer' } as const
  const create = (id: string) =>
    store.createSession({ ...plain, id: sessionId(id), operation: operationId(randomUUID()) })
  await Promise.all(ids.map(create))
  return ids
}

/** What each process waited for each acknowledgment, in milliseconds. */
export async function runWriters(
  path: string,
  ids: readonly string[],
  { seconds, rate }: { readonly seconds: number; readonly rate: number },
): Promise<readonly (readonly number[])[]> {
  const script = join(import.meta.dirname, 'writer.ts')
  const writers = ids.map((id) => {
    const child = spawn(process.execPath, [script, path, id, `${seconds}`, `${rate}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let printed = ''
    const ready = new Promise<void>((resolve) => {
      child.stdout.on('data', (data) => {
        printed += String(data)
        resolve()
      })
    })
    return { child, ready, ended: once(child, 'close'), text: () => printed }
  })
  const endAll = () => {
    for (const { child } of writers) child.kill('SIGKILL')
  }
  process.once('exit', endAll)
  await Promise.all(writers.map(({ ready }) => ready))
  for (const { child } of writers) child.stdin.write('go\n')
  await Promise.all(writers.map(({ ended }) => ended))
  process.off('exit', endAll)
  return writers.map(({ text }) =>
    (text().split('\n')[1] ?? '').split(' ').filter(Boolean).map(Number),
  )
}
