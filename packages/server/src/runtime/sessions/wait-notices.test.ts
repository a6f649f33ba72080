import { describe, expect, it } from 'vitest'
import { runnerId, sessionId } from '#core/base/ids'
import { DamagedRowError } from '#core/store/errors'
import type { SessionRow } from '#core/store/tables/rows'
import { WaitNotices } from './wait-notices.ts'

describe('the notice of a waiting turn', () => {
  const id = sessionId('s')
  const ours = runnerId('ours')
  const session = { id, turn: 3, turnState: 'running', runner: ours } as const

  it('is kept until the turn writes', () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(notices.of(session, ours)?.code).toBe('waiting-for-model')
    notices.end(id)
    expect(notices.of(session, ours)).toBeUndefined()
  })

  it('says when a provider asks for a long pause within a call, and nothing of a short one', () => {
    const notices = new WaitNotices()
    const retry = { turn: 3, text: 'Too many requests.' }
    notices.noteRetry(id, { ...retry, nextTryAt: 5_999 }, 1_000)
    expect(notices.of(session, ours)).toBeUndefined()
    notices.noteRetry(id, { ...retry, nextTryAt: 6_000 }, 1_000)
    expect(notices.of(session, ours)).toEqual({
      ...{ kind: 'notice', turn: 3, code: 'waiting-for-model', nextTryAt: 6_000 },
      text: 'Too many requests. Your message is safe; I will answer when the model is back.',
    })
  })

  it.each<[Parameters<WaitNotices['note']>[0]['notice'], string | undefined, string]>([
    [
      'waiting-for-model',
      undefined,
      'The model cannot be reached just now. Your message is safe; I will answer when the model is back.',
    ],
    [
      'waiting-for-model',
      'It is down.',
      'It is down. Your message is safe; I will answer when the model is back.',
    ],
    [
      'waiting-for-compaction',
      'x',
      'Your message is safe. I am putting a long conversation in order and will answer right after.',
    ],
    [
      'waiting-for-approval',
      'The day is spent.',
      'Paused. The day is spent. The operator can allow the same amount once more, on the page or with /continue in the terminal; /stop ends this turn.',
    ],
  ])('says what people need: %s because of %s', (notice, why, text) => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice, isVisible: true, ...(why !== undefined && { why }) })
    expect(notices.of(session, ours)).toEqual({ kind: 'notice', turn: 3, code: notice, text })
  })

  it('does not apply to another turn, or to one that continues elsewhere', () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-compaction', isVisible: true })
    expect(notices.of({ ...session, turn: 4 }, ours)).toBeUndefined()
    expect(notices.of({ ...session, runner: runnerId('theirs') }, ours)).toBeUndefined()
    expect(notices.of({ ...session, runner: null }, ours)).toBeUndefined()
  })

  /** The notices for a new listener if the store has this row; null: a damaged row. */
  const read = (notices: WaitNotices, row: Partial<SessionRow> | null) => {
    const findSession = async () => {
      if (row !== null) return { ...session, ...row } as SessionRow
      throw new DamagedRowError({ row: `session ${id}`, column: 'tail', problem: 'is wrong' })
    }
    return notices.readCurrent({ findSession }, { only: undefined, ourselves: ours })
  }

  it('is sent to later listeners while it is valid, and only if notices are enabled', async () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-compaction', isVisible: false })
    expect(await read(notices, {})).toEqual([])
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, {})).toMatchObject([
      { sessionId: id, turn: 3, code: 'waiting-for-model' },
    ])
    // The turn was stopped, or the next one has started, without an event here: no notice is sent.
    expect(await read(notices, { turnState: 'idle' })).toEqual([])
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, { turn: 4 })).toEqual([])
    expect(await read(notices, {})).toEqual([])
  })

  it('of a turn that is over is forgotten by the next who asks', async () => {
    const notices = new WaitNotices()
    const noted = { id, turn: 3, notice: 'waiting-for-model', isVisible: true } as const
    for (const row of [{ turnState: 'idle' }, { turn: 4 }, { turn: 4, turnState: 'idle' }]) {
      notices.note(noted)
      expect(await read(notices, row as Partial<SessionRow>)).toEqual([])
      expect(notices.of(session, ours)).toBeUndefined()
    }
    notices.note(noted)
    expect(await read(notices, { runner: runnerId('theirs') })).toEqual([])
    expect(notices.of(session, ours)?.turn).toBe(3)
  })

  it('of one session is not sent to listeners of another', async () => {
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

  it('survives a listener that read the row before the turn began', async () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 4, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, { turnState: 'idle' })).toEqual([])
    expect(notices.of({ ...session, turn: 4 }, ours)?.code).toBe('waiting-for-model')
  })

  it('of a session with a damaged row does not hide the notices of others', async () => {
    const notices = new WaitNotices()
    notices.note({ id, turn: 3, notice: 'waiting-for-model', isVisible: true })
    expect(await read(notices, null)).toEqual([])
  })
})
