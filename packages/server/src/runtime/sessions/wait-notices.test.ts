import { describe, expect, it } from 'vitest'
import { runnerId, sessionId } from '#core/base/ids'
import { DamagedRowError } from '#core/store/errors'
import type { SessionRow } from '#core/store/rows'
import { WaitNotices } from './wait-notices.ts'

describe('what a turn waits for', () => {
  const id = sessionId('s')
  const ours = runnerId('ours')
  const session = { id, turn: 3, turnState: 'running', runner: ours } as const

  it('is known until the turn says something', () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(notices.of(session, ours)?.code).toBe('waiting-for-model')
    notices.end(id)
    expect(notices.of(session, ours)).toBeUndefined()
  })

  it('says nothing about another turn, nor about one that goes on elsewhere', () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-compaction', isVisible: true })
    expect(notices.of({ ...session, turn: 4 }, ours)).toBeUndefined()
    expect(notices.of({ ...session, runner: runnerId('theirs') }, ours)).toBeUndefined()
    expect(notices.of({ ...session, runner: null }, ours)).toBeUndefined()
  })

  /** What somebody is told who comes now, where the store knows this row; null: a damaged one. */
  const read = (notices: WaitNotices, row: Partial<SessionRow> | null) => {
    const findSession = async () => {
      if (row !== null) return { ...session, ...row } as SessionRow
      throw new DamagedRowError({ row: `session ${id}`, column: 'tail', problem: 'is wrong' })
    }
    return notices.readCurrent({ findSession }, { only: undefined, ourselves: ours })
  }

  it('is told to whoever comes later while it holds, and only where people are told', async () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-compaction', isVisible: false })
    expect(await read(notices, {})).toEqual([])
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, {})).toMatchObject([
      { sessionId: id, turn: 3, code: 'waiting-for-model' },
    ])
    // It was stopped, or the next one has begun: nobody told us, and nobody else is told.
    expect(await read(notices, { turnState: 'idle' })).toEqual([])
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, { turn: 4 })).toEqual([])
    expect(await read(notices, {})).toEqual([])
  })

  it('of one session is no news to those who follow another', async () => {
    const notices = new WaitNotices()
    const other = sessionId('t')
    for (const each of [id, other]) {
      notices.note({ id: each, turn: 3, notice: 'waiting-for-model', isVisible: true })
    }
    const findSession = async (asked: typeof id) => ({ ...session, id: asked }) as SessionRow
    const toldTo = async (only: typeof id | undefined) =>
      (await notices.readCurrent({ findSession }, { only, ourselves: ours })).map(
        (notice) => notice.sessionId,
      )
    expect(await toldTo(other)).toEqual([other])
    expect(await toldTo(sessionId('u'))).toEqual([])
    expect(await toldTo(undefined)).toEqual([id, other])
  })

  it('is not forgotten by whoever has read the row before its turn began', async () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 4, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, { turnState: 'idle' })).toEqual([])
    expect(notices.of({ ...session, turn: 4 }, ours)?.code).toBe('waiting-for-model')
  })

  it('of one session whose row is damaged keeps nobody from hearing of the others', async () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, null)).toEqual([])
  })
})
