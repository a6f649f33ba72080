import { expect, it } from 'vitest'
import { type SessionId, sessionId } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { ScheduleRow } from '#core/store/operational-rows'
import { heldId, holding, isFrom, isHeld, readHeld, releaseHeld } from './held.ts'

const ADA = sessionId('ada')
const BO = sessionId('bo')

function row(id: string, sessionId: SessionId, more: Partial<ScheduleRow> = {}): ScheduleRow {
  const body = JSON.stringify({ from: { agent: 'cy', sessionId: 'cy', tokens: 1 } })
  return { id, sessionId, at: 0, dueAt: 9, repeat: 'held 0 1', body, ...more } as ScheduleRow
}

/** A store of these rows; what it was asked and told. */
function storeOf(rows: readonly ScheduleRow[], fired: Readonly<Record<string, string>> = {}) {
  const told: unknown[] = []
  const mail: Readonly<Record<string, number>> = { ada: 5, bo: 0 }
  const store = {
    listSchedules: async (query: { after?: string; limit: number; sessionId?: string }) => {
      told.push(query)
      return rows
        .filter(({ id }) => id > (query.after ?? ''))
        .filter(({ sessionId: id }) => (query.sessionId ?? id) === id)
        .slice(0, query.limit)
    },
    findSession: async (id: string) => (id in mail ? { mail: mail[id] } : undefined),
    fireSchedule: async (request: { id: string }) => {
      told.push(request)
      return { kind: fired[request.id] ?? 'fired' }
    },
  }
  return { store: store as never, told }
}

it('is known by its id', () => {
  expect(heldId({ key: 'k' } as never)).toMatch(/^held-[0-9a-f]{16}$/)
  expect(['held-1', 'held', 't-1', 'xheld-1'].map((id) => isHeld({ id }))).toEqual([
    ...[true, false, false, false],
  ])
})

it('never comes due, and has its place behind those that are held', () => {
  expect(holding(7, [])).toEqual({ dueAt: 8_640_000_000_000_000, repeat: 'held 7 1' })
  const before = [{ repeat: 'held 3 4' }, { repeat: 'held 3 2' }, { repeat: null }]
  expect(holding(0, before).repeat).toBe('held 0 5')
})

it('is from the session that its body names', () => {
  expect([isFrom(row('held-1', ADA), sessionId('cy')), isFrom(row('held-1', ADA), BO)]).toEqual([
    ...[true, false],
  ])
})

it('is read page by page, for one session', async () => {
  const name = (at: number) => `held-${String(at).padStart(6, '0')}`
  const many = Array.from({ length: LIST_MAX + 1 }, (_, at) => row(name(at), ADA))
  const { store, told } = storeOf([row('a-1', ADA), ...many, row('t-1', ADA)])
  expect(await readHeld(store, ADA)).toEqual(many)
  expect(told).toEqual([
    { sessionId: ADA, after: 'held-', limit: LIST_MAX },
    { sessionId: ADA, after: name(LIST_MAX - 1), limit: LIST_MAX },
  ])
})

it('is released in order once its receiver got other mail', async () => {
  const { store, told } = storeOf([
    row('held-1', ADA, { repeat: 'held 4 3' }),
    row('held-2', ADA, { repeat: 'held 9 1', dueAt: 8 }),
    row('held-3', BO, { repeat: 'held 0 1' }),
    row('held-4', ADA, { repeat: 'held 9 2', at: 7 }),
    row('held-5', ADA, { repeat: 'held 9 2', at: 6 }),
  ])
  const before: string[] = []
  const beforeFire = async (id: string) => void before.push(id)
  expect(await releaseHeld(store, { beforeFire })).toEqual([ADA])
  expect(before).toEqual([ADA])
  expect(told).toEqual([
    { state: 'waiting', after: 'held-', limit: LIST_MAX },
    { id: 'held-2', dueAt: 8, nextDueAt: null },
    { id: 'held-5', dueAt: 9, nextDueAt: null },
    { id: 'held-4', dueAt: 9, nextDueAt: null },
    { id: 'held-1', dueAt: 9, nextDueAt: null },
  ])
})

it('of a session that is gone is fired, and its outcome tells whether anybody wakes', async () => {
  const gone = sessionId('gone')
  const rows = [row('held-1', gone), row('held-2', gone, { repeat: 'held 0 2' })]
  expect(await releaseHeld(storeOf(rows, { 'held-1': 'gone', 'held-2': 'gone' }).store)).toEqual([])
  expect(await releaseHeld(storeOf(rows, { 'held-1': 'passed' }).store)).toEqual([gone])
  const full = storeOf(rows, { 'held-1': 'full' })
  expect(await releaseHeld(full.store)).toEqual([])
  expect(full.told).toHaveLength(2)
})

it('that came with the newest mail waits', async () => {
  const { store } = storeOf([row('held-1', ADA, { repeat: 'held 5 1' })])
  expect(await releaseHeld(store)).toEqual([])
  const older = storeOf([row('held-1', ADA, { repeat: 'held 4 1' })])
  expect(await releaseHeld(older.store, { release: async () => false })).toEqual([])
  expect(await releaseHeld(older.store)).toEqual([ADA])
})
