import { describe, expect, it } from 'vitest'
import { AT, asked, Play, RUNNING, SAID, scene } from '../../../../../test/support/play.ts'
import { entryNumber, mailNumber } from '../../base/ids.ts'
import { SESSION_SETTINGS } from '../settings.ts'

/** Another message has entered a running turn. */
function movedOn() {
  return scene({
    row: RUNNING,
    pieces: [
      ['user', 10],
      ['user', 10],
    ],
  })
}

describe('the protocol', () => {
  it('begins with a look', () => {
    expect(new Play().tell({ kind: 'opened' }).kinds).toEqual(['look'])
  })

  it('recovers first, once per acquisition', () => {
    const play = new Play().tell({ kind: 'opened' })
    play.look(scene({ row: { recovered: 2 }, mail: [['user', null]] }))
    expect(play.kinds).toEqual(['recover'])
  })

  it('delivers user messages before notifications, and starts a step after the delivery', () => {
    const play = new Play().tell({ kind: 'opened' })
    play.look(
      scene({
        mail: [
          ['user', null],
          ['notification', null],
        ],
      }),
    )
    expect(play.commit('deliver').request).toMatchObject({ mail: [1, 2] })
    const outcome = { kind: 'delivered', tail: { number: 2, hash: '' }, entries: [], turn: 6 }
    play.tell({ kind: 'committed', committed: { verb: 'deliver', outcome } as never })
    expect(play.kinds).toEqual(['look'])
    play.look(
      scene({
        pieces: [
          ['user', 10],
          ['user', 10],
        ],
        row: { ...RUNNING, turn: 6 },
      }),
    )
    expect(play.kinds).toEqual(['runStep'])
  })

  it.each([
    ['takes the rows returned by a commit as a look', false, ['runStep']],
    ['looks anyway if something may have arrived meanwhile', true, ['look']],
  ] as const)('%s', (_, isHinted, kinds) => {
    const play = new Play().tell({ kind: 'opened' }).look(scene({ mail: [['user', null]] }))
    if (isHinted) play.tell({ kind: 'woken' })
    const outcome = { kind: 'delivered', tail: { number: 1, hash: '' }, entries: [], turn: 6 }
    const view = scene({ pieces: [['user', 10]], row: { ...RUNNING, turn: 6 } })
    const committed = { verb: 'deliver', outcome } as never
    play.tell({ kind: 'committed', committed, seen: { view, next: null } })
    expect(play.kinds).toEqual(kinds)
  })

  it('repeats a delivery with an unknown outcome unchanged, before a step starts [I15]', () => {
    const play = new Play().tell({ kind: 'opened' })
    play.look(scene({ row: RUNNING, pieces: [['user', 10]], mail: [['notification', null]] }))
    const { request } = play.commit('deliver')
    expect(request).toMatchObject({ mail: [1] })
    // A user message that arrived meanwhile comes first but does not fit, so a step would be next.
    const later = scene({ row: RUNNING, pieces: [['user', 10]], mail: [['notification', null]] })
    const [first] = later.waiting
    if (first === undefined) throw new Error('Nothing waits.')
    const long = { ...first, lane: 'user', number: mailNumber(2), tokens: 5_000 } as const
    play.tell({ kind: 'unsure' }).look({ ...later, waiting: [long, first] })
    expect(play.commit('deliver').request).toEqual(request)
    play.tell({ kind: 'unsure' }).look(movedOn())
    expect(play.kinds).toEqual(['runStep'])
  })

  it('ends the turn with a reply without calls, and sends it', () => {
    const play = asked().tell({
      kind: 'step ended',
      outcome: { kind: 'replied', message: SAID, tokens: 4 },
    })
    expect(play.commit('commitReply').request).toMatchObject({
      step: { upto: 1, calls: [] },
      ends: { how: 'answered', replies: [{ edge: 'chat', address: 'x', body: { text: 'yes' } }] },
    })
  })

  it('starts a tool only once the store shows its call', () => {
    const calling = {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c', name: 'send', input: null }],
    } as const
    const play = asked().tell({
      kind: 'step ended',
      outcome: { kind: 'replied', message: calling, tokens: 4 },
    })
    expect(play.kinds).toEqual(['commitReply'])
    play.tell({ kind: 'unsure' })
    expect(play.kinds).toEqual(['look'])
    const open = { ...RUNNING, openCalls: ['c'] }
    play.look(
      scene({
        pieces: [
          ['user', 10],
          ['call', 10],
        ],
        row: open,
      }),
      'h-1',
    )
    expect(play.kinds).toEqual(['startTools'])
  })

  it('does not run an erased call, and says so in its result [I32]', () => {
    const view = scene({
      pieces: [
        ['user', 10],
        ['call', 10],
      ],
      row: { ...RUNNING, openCalls: ['c'] },
    })
    const pieces = view.context.pieces.map((piece) =>
      piece.message.role === 'assistant' ? { ...piece, isErased: true as const } : piece,
    )
    const play = new Play().tell({ kind: 'opened' })
    play.look({ ...view, context: { ...view.context, pieces } })
    expect(play.kinds).toEqual(['commitResults'])
    expect(play.commit('commitResults').request).toMatchObject({
      results: [{ call: 'c', outcome: 'interrupted', body: 'Not run: the call was erased.' }],
    })
  })

  it('repeats a reply with an unknown outcome under the same id, unless the store has it', () => {
    const lost = () =>
      asked()
        .tell({ kind: 'step ended', outcome: { kind: 'replied', message: SAID, tokens: 4 } })
        .tell({ kind: 'unsure' })
    const again = lost().look(scene({ pieces: [['user', 10]], row: RUNNING }))
    expect(again.commit('commitReply').request).toMatchObject({ operation: 'h-1' })
    const there = lost().look(
      scene({
        pieces: [
          ['user', 10],
          ['assistant', 4],
        ],
      }),
      'h-1',
    )
    expect(there.kinds).not.toContain('commitReply')
  })

  it('repeats the unknown end of a stopped turn before it starts a step, even if the stop is withdrawn [I11]', () => {
    const view = scene({ pieces: [['user', 10]], row: RUNNING })
    const play = new Play().tell({ kind: 'opened' })
    play.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [['control', 'stop', 5]] }))
    const { request } = play.commit('commitReply')
    expect(request).toMatchObject({ ends: { how: 'stopped' } })
    play.tell({ kind: 'unsure' }).look(view)
    expect(play.commit('commitReply').request).toEqual(request)
    play.tell({ kind: 'unsure' }).look(movedOn())
    expect(play.kinds).toEqual(['runStep'])
  })

  it('aborts the step for a stop of this turn, and for no other stop', () => {
    const meant = asked().tell({ kind: 'woken' })
    meant.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [['control', 'stop', 5]] }))
    expect(meant.kinds).toEqual(['abortStep'])
    const stale = asked().tell({ kind: 'woken' })
    stale.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [['control', 'stop', 4]] }))
    expect(stale.kinds).toEqual(['settleControl'])
  })

  it('keeps the partial reply of a stopped step, and ends the turn as stopped', () => {
    const play = asked().tell({ kind: 'woken' })
    play.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [['control', 'stop', 5]] }))
    play.tell({ kind: 'step ended', outcome: { kind: 'interrupted', message: SAID, tokens: 2 } })
    expect(play.commit('commitReply').request).toMatchObject({
      step: { body: SAID },
      ends: { how: 'stopped', replies: [] },
    })
  })

  it.each([
    ['interrupt', 'user', ['abortStep']],
    ['interrupt', 'notification', []],
    ['steer', 'user', []],
    ['queue', 'user', []],
  ] as const)(
    'under the policy %s, mail of lane %s causes %j during a step',
    (policy, lane, kinds) => {
      const play = asked({ policy }).tell({ kind: 'woken' })
      play.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [[lane, null]], policy }))
      expect(play.kinds).toEqual(kinds)
    },
  )

  it('delivers mail into a running turn under steer, but not under queue', () => {
    const between = { pieces: [['user', 10]], row: { ...RUNNING, seen: entryNumber(1) } } as const
    const steer = new Play()
      .tell({ kind: 'opened' })
      .look(scene({ ...between, mail: [['user', null]] }))
    expect(steer.kinds).toEqual(['deliver'])
    const queue = new Play().tell({ kind: 'opened' })
    queue.look(scene({ ...between, mail: [['user', null]], policy: 'queue' }))
    expect(queue.kinds).toEqual(['runStep'])
  })

  it('holds collected mail until the sender pauses', () => {
    const play = new Play().tell({ kind: 'opened' })
    play.look(scene({ mail: [['user', null]], policy: 'collect' }))
    expect(play.effects).toEqual([{ kind: 'setTimer', at: AT.mono + SESSION_SETTINGS.debounceMs }])
  })

  it('resets the alarm of an idle session that a jumping clock has set years ahead [I25, fault 75]', () => {
    const pieces = Array.from({ length: 20 }, () => ['user', 100] as const)
    const { lingerMs, idleCompactionMs } = SESSION_SETTINGS
    const soon = AT.wall + lingerMs + (idleCompactionMs ?? 0)
    const atRest = (wakeAt: number | null) => {
      const view = scene({ pieces, row: { seen: entryNumber(20), wakeAt } })
      const play = new Play().tell({ kind: 'opened' }).look(view)
      return play.wait(lingerMs).tell({ kind: 'woken' })
    }
    for (const wakeAt of [null, AT.wall + 10 * 365 * 86_400_000]) {
      expect(atRest(wakeAt).commit('release').request).toMatchObject({ wakeAt: soon })
    }
    expect(atRest(soon).commit('release').request).not.toHaveProperty('wakeAt')
  })

  it('stops at once when the lease is lost, and writes nothing more [fault 23]', () => {
    const play = asked({ operation: {} })
    play.tell({ kind: 'lost' })
    expect(play.kinds).toEqual(['abortStep', 'abortHandoff', 'end'])
    play.tell({ kind: 'step ended', outcome: { kind: 'replied', message: SAID, tokens: 4 } })
    expect(play.effects).toEqual([])
  })

  it('aborts the step and releases the lease when it closes, and leaves the turn to the next holder', () => {
    const play = asked().tell({ kind: 'closing' })
    expect(play.kinds).toEqual(['abortStep'])
    play.tell({ kind: 'step ended', outcome: { kind: 'interrupted', message: SAID, tokens: 2 } })
    expect(play.commit('release').request).toMatchObject({ reason: 'shutdown' })
  })

  it('waits before it retries a failed model, and notifies once per turn', () => {
    const play = asked()
    const down = { kind: 'failed', reason: 'down', retryable: true } as const
    play.tell({ kind: 'step ended', outcome: down })
    const { modelRetryMs } = SESSION_SETTINGS
    const [notice, timer] = play.effects
    expect(notice).toMatchObject({
      ...{ kind: 'notify', turn: 5, notice: 'waiting-for-model', isKnown: false, why: 'down' },
      nextTryAt: expect.any(Number),
    })
    // Up to a quarter sooner, by a random part that differs between sessions.
    const waitMs = (timer?.kind === 'setTimer' ? timer.at : 0) - AT.mono
    expect(waitMs).toBeGreaterThan(modelRetryMs * 0.75)
    expect(waitMs).toBeLessThanOrEqual(modelRetryMs)
    play.tell({ kind: 'model back' })
    expect(play.kinds).toEqual(['runStep'])
    play.tell({ kind: 'step ended', outcome: down })
    expect(play.kinds).not.toContain('notify')
  })

  it('pauses at a spending limit until a person continues or stops the turn', () => {
    const play = asked()
    play.tell({ kind: 'step ended', outcome: { kind: 'paused', reason: 'spent 2 of 1' } })
    expect(play.effects).toMatchObject([
      { kind: 'notify', notice: 'waiting-for-approval', isKnown: false, why: 'spent 2 of 1' },
      { kind: 'setTimer' },
    ])
    expect(play.kinds).not.toContain('commit')
    const paused = { row: RUNNING, pieces: [['user', 10]] } satisfies Parameters<typeof scene>[0]
    play.tell({ kind: 'woken' }).look(scene({ ...paused, mail: [['control', 'continue']] }))
    expect(play.commit('settleControl').request).toMatchObject({ mail: [1] })
    const committed = { verb: 'settleControl', outcome: { kind: 'done' } } as const
    play.tell({ kind: 'committed', committed }).look(scene(paused))
    expect(play.kinds).toEqual(['runStep'])
  })

  it('ends the turn as failed if the model failed for good', () => {
    const play = asked()
    play.tell({
      kind: 'step ended',
      outcome: { kind: 'failed', reason: 'refused', retryable: false },
    })
    expect(play.commit('commitReply').request).toMatchObject({
      step: { upto: 1 },
      ends: { how: 'failed' },
    })
  })
})
