import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StoreFixture, said } from '../../contract-suite/bench.ts'
import { openSqliteStore } from '../open.ts'
import { storeThread } from './threads.ts'

async function openDesk(): Promise<StoreFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-threads-'))
  const store = await openSqliteStore({ path: join(folder, 'store.db') })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return StoreFixture.open(store)
}

/** A request for an unknown store is a bug that ends the thread. */
function kill(role: 'writer' | 'reader'): Promise<unknown> {
  const order = { kind: 'commit', verb: 'removeToken', request: { id: 'a' }, size: 1 } as const
  return storeThread(role).call(-1, 'admit', order)
}

describe('a thread of the store that dies', () => {
  it('leaves the outcome of its commits unknown, and a new thread takes the next one', async () => {
    const fixture = await openDesk()
    const key = { key: 'k' }
    const dying = kill('writer')
    const [killed, doubtful] = await Promise.allSettled([dying, fixture.tryAdmit(said('one'), key)])
    expect(killed).toMatchObject({ reason: { code: 'outcome-unknown' } })
    expect(doubtful.status === 'fulfilled' || doubtful.reason.code === 'outcome-unknown').toBe(true)
    expect((await fixture.tryAdmit(said('one'), key)).kind).toMatch(/admitted|duplicate/)
    await fixture.admit(said('two'))
    expect((await fixture.row()).mail).toBe(2)
  })

  it('fails its pending reads, and the next one is answered', async () => {
    const fixture = await openDesk()
    const dying = kill('reader')
    const [, owed] = await Promise.allSettled([dying, fixture.row()])
    if (owed.status === 'rejected') expect(owed.reason).toMatchObject({ code: 'store-busy' })
    expect((await fixture.row()).id).toBe(fixture.id)
  })
})

/** For each promise: its answer, and the turn of the event loop in which it came. */
async function inTurns<Value>(
  ask: () => readonly Promise<Value>[],
): Promise<readonly (readonly [Value, number])[]> {
  let turn = 0
  const count = () => {
    turn += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const answered = await Promise.all(ask().map(async (value) => [await value, turn] as const))
  clearImmediate(counting)
  return answered
}

function mostInOneTurn(answered: readonly (readonly [unknown, number])[]): number {
  const perTurn = Map.groupBy(answered, ([, turn]) => turn).values()
  return Math.max(...[...perTurn].map(({ length }) => length))
}

describe('a thread of the store', () => {
  it('passes on the answers of a batch in order, a few per turn of the event loop', async () => {
    const fixture = await openDesk()
    const answered = await inTurns(() =>
      Array.from({ length: 16 }, () => fixture.admit(said('one'))),
    )
    expect(answered.map(([mail]) => mail)).toEqual(Array.from({ length: 16 }, (_, n) => n + 1))
    expect(mostInOneTurn(answered)).toBeLessThanOrEqual(4)
  })

  it('passes on no more at once if they arrived one by one while the event loop was busy', async () => {
    const fixture = await openDesk()
    const held = new Int32Array(new SharedArrayBuffer(4))
    setImmediate(() => void Atomics.wait(held, 0, 0, 200))
    const answered = await inTurns(() => Array.from({ length: 16 }, () => fixture.row()))
    expect(mostInOneTurn(answered)).toBeLessThanOrEqual(4)
  })
})

it('writes the address of its thread in the form in which bundlers find it', () => {
  const source = readFileSync(new URL('./threads.ts', import.meta.url), 'utf8')
  expect(source).toContain("new Worker(new URL('./thread.js', import.meta.url)")
})
