import { describe, expect, it } from 'vitest'
import { AT, asked, Play, RUNNING, scene } from '../../../../../../test/support/play.ts'
import { entryNumber, mailNumber, operationId } from '../../../base/ids.ts'
import { REWRITES_MAX } from '../../../store/bounds.ts'
import { SESSION_SETTINGS } from '../../settings.ts'

describe('a compaction during a turn', () => {
  it('never aborts a handoff for a stop, a message or the end of a turn', () => {
    const operation = {}
    const play = new Play().tell({ kind: 'opened' })
    play.look(scene({ pieces: [['user', 10]], row: RUNNING, operation }))
    expect(play.kinds).toEqual(['writeHandoff', 'runStep'])
    play.tell({ kind: 'woken' })
    const stop = [
      ['control', 'stop', 5],
      ['user', null],
    ] as const
    play.look(
      scene({ pieces: [['user', 10]], row: RUNNING, operation, mail: stop, policy: 'interrupt' }),
    )
    expect(play.kinds).toEqual(['abortStep'])
    play.tell({ kind: 'step ended', outcome: { kind: 'interrupted', message: null, tokens: 0 } })
    expect(play.kinds).toEqual(['commitReply'])
    expect(play.state.handoff.kind).toBe('writing')
  })

  it('replaces an unfinished model handoff by a digest instead of waiting for it', () => {
    const pieces = [
      ['user', 2_000],
      ['assistant', 1_900],
    ] as const
    const row = { ...RUNNING, seen: entryNumber(2) }
    const play = new Play().tell({ kind: 'opened' })
    play.look(scene({ pieces, row, operation: {}, mail: [['user', null]] }))
    expect(play.kinds).toEqual(['writeHandoff', 'claimCompaction'])
    expect(play.commit('claimCompaction').request).toMatchObject({
      by: 'digest',
      trigger: 'preflight',
      covers: 2,
    })
    const waits = new Play().tell({ kind: 'opened' })
    waits.look(scene({ pieces, row, operation: { by: 'digest' }, mail: [['user', null]] }))
    expect(waits.kinds).toEqual(['writeHandoff', 'notify'])
  })

  it('waits above the hard limit if configured so, and delivers no mail meanwhile', () => {
    const playing = () => {
      const play = new Play()
      play.state = { ...play.state, settings: { ...SESSION_SETTINGS, atHardLimit: 'wait' } }
      return play.tell({ kind: 'opened' })
    }
    const full = [
      ['user', 2_000],
      ['assistant', 1_900],
    ] as const
    const row = { ...RUNNING, seen: entryNumber(2) }
    const claims = playing().look(scene({ pieces: full, row }))
    expect(claims.commit('claimCompaction').request).toMatchObject({
      by: 'model',
      trigger: 'preflight',
      covers: 2,
    })
    const waits = playing()
    waits.look(scene({ pieces: full, row, operation: {}, mail: [['user', null]] }))
    expect(waits.kinds).toEqual(['writeHandoff', 'notify'])
    const soft = [
      ['user', 1_900],
      ['assistant', 1_000],
    ] as const
    const goesOn = new Play()
      .tell({ kind: 'opened' })
      .look(scene({ pieces: soft, row, operation: {} }))
    expect(goesOn.kinds).toEqual(['writeHandoff', 'runStep'])
  })

  it('clears old results first if that is enough to fit a step, unless a digest is in effect', () => {
    const pieces = [
      ['user', 100],
      ['call', 50],
      ['result', 1_900],
      ['call', 50],
      ['result', 1_500],
      ['call', 50],
      ['result', 300],
    ] as const
    const row = { ...RUNNING, seen: entryNumber(6) }
    const full = new Play().tell({ kind: 'opened' }).look(scene({ pieces, row }))
    expect(full.commit('claimCompaction').request).toMatchObject({
      ...{ by: 'clearing', trigger: 'preflight', covers: 0 },
    })
    const follows = new Play().tell({ kind: 'opened' })
    follows.look(scene({ pieces, row, operation: { by: 'clearing', covers: entryNumber(0) } }))
    expect(follows.commit('commitCompaction').request).toMatchObject({
      ...{ body: {}, tokens: 0, carries: [], settles: [] },
      clears: { upto: 5, tokens: 200 },
    })
    // A model is to rewrite this digest, or to write a handoff that covers more.
    const above = { ...row, by: 'digest', effective: entryNumber(1) } as const
    const digest = new Play().tell({ kind: 'opened' }).look(scene({ pieces, row: above }))
    expect(digest.commit('claimCompaction').request).toMatchObject({ by: 'digest' })
  })

  it('writes a digest if the model failed during this wait', () => {
    const failed = { state: 'failed', trigger: 'preflight', covers: entryNumber(2) } as const
    const play = new Play().tell({ kind: 'opened' })
    const row = { ...RUNNING, seen: entryNumber(2) }
    play.look(
      scene({
        pieces: [
          ['user', 2_000],
          ['assistant', 1_900],
        ],
        row,
        operation: failed,
      }),
    )
    expect(play.commit('claimCompaction').request).toMatchObject({ by: 'digest' })
  })

  it('stops a turn that waits for a compaction, and continues the compaction', () => {
    const play = new Play().tell({ kind: 'opened' })
    const row = { ...RUNNING, seen: entryNumber(2) }
    const full = [
      ['user', 2_000],
      ['assistant', 1_900],
    ] as const
    play.look(scene({ pieces: full, row, operation: {}, mail: [['control', 'stop', 5]] }))
    expect(play.kinds).toEqual(['writeHandoff', 'commitReply'])
    expect(play.commit('commitReply').request).toMatchObject({ ends: { how: 'stopped' } })
  })

  it('keeps a manual request waiting while an operation runs, and settles it with the commit [fault 26]', () => {
    const play = new Play().tell({ kind: 'opened' })
    const joined = {
      pieces: [['user', 900]],
      operation: {},
      mail: [['control', 'compact']],
    } as const
    play.look(scene(joined))
    expect(play.kinds).toEqual(['writeHandoff'])
    const id = operationId('op')
    play.tell({ kind: 'handoff written', operation: id, body: {}, tokens: 100, carries: [] })
    expect(play.commit('commitCompaction').request).toMatchObject({ operation: 'op', settles: [1] })
    const failed = new Play().tell({ kind: 'opened' }).look(scene(joined))
    failed.tell({ kind: 'handoff failed', operation: id, reason: 'summary-failed' })
    expect(failed.commit('failCompaction').request).toMatchObject({ settles: [] })
  })

  it('writes with the focus of the request that it answers, and settles those with the same or none', () => {
    const foci = [{ focus: 'the pier' }, { focus: 'the mill' }, {}, { focus: 'the mill' }]
    const view = (requestedBy: number | null) => {
      const operation = { requestedBy: requestedBy === null ? null : mailNumber(requestedBy) }
      const mail = foci.map(() => ['control', 'compact'] as const)
      const seen = scene({ pieces: [['user', 900]], operation, mail })
      const controls = seen.controls.map((each, at) => ({
        ...each,
        body: JSON.stringify(foci[at]),
      }))
      return { ...seen, controls }
    }
    const written = (requestedBy: number | null) => {
      const play = new Play().tell({ kind: 'opened' })
      play.look(view(requestedBy))
      const [effect] = play.effects
      const focus = effect?.kind === 'writeHandoff' ? effect.focus : undefined
      const operation = operationId('op')
      play.tell({ kind: 'handoff written', operation, body: {}, tokens: 1, carries: [] })
      return [focus, (play.commit('commitCompaction').request as { settles: unknown }).settles]
    }
    expect([written(1), written(2), written(3), written(null)]).toEqual([
      ['the pier', [1, 3]],
      ['the mill', [2, 3, 4]],
      [null, [3]],
      [null, [3]],
    ])
  })

  it('writes a digest for a manual request if the model wrote nothing usable, and only then gives up', () => {
    const asked = (operation: Parameters<typeof scene>[0]['operation']) =>
      new Play().tell({ kind: 'opened' }).look(
        scene({
          pieces: [
            ['user', 900],
            ['assistant', 800],
          ],
          row: {
            seen: entryNumber(2),
            settled: { user: mailNumber(2), notification: mailNumber(0) },
          },
          mail: [['control', 'compact']],
          ...(operation && { operation: { requestedBy: mailNumber(1), ...operation } }),
        }),
      )
    const failing = { reason: 'unusable:repetition' }
    const ends = (by: 'model' | 'digest') =>
      asked({ by }).tell({ kind: 'handoff failed', operation: operationId('op'), ...failing })
    expect(asked(undefined).commit('claimCompaction').request).toMatchObject({ by: 'model' })
    expect(ends('model').commit('failCompaction').request).toMatchObject({ settles: [] })
    const after = (reason: string) => asked({ state: 'failed', result: { reason } })
    expect(after(failing.reason).commit('claimCompaction').request).toMatchObject({
      by: 'digest',
      requestedBy: 1,
    })
    // An orderly shutdown says nothing about the model.
    expect(after('closing').commit('claimCompaction').request).toMatchObject({ by: 'model' })
    expect(ends('digest').commit('failCompaction').request).toMatchObject({ settles: [1] })
  })

  it('writes a digest, manual or in the background, once the attempts with models are used up', () => {
    const full = {
      pieces: [
        ['user', 2_000],
        ['assistant', 900],
        // A turn like this one would still fit, so nothing is written ahead of it.
        ['user', 50],
        ['assistant', 50],
      ],
      row: { seen: entryNumber(4), settled: { user: mailNumber(2), notification: mailNumber(0) } },
      operation: { state: 'committed', startedAt: AT.wall - 1 },
    } as const
    const claimed = (times: number, mail: Parameters<typeof scene>[0]['mail'] = []) => {
      const view = scene({ ...full, mail })
      const operations = Array.from({ length: times }, () => view.operations).flat()
      const play = new Play().tell({ kind: 'opened' }).look({ ...view, operations })
      return play.commit('claimCompaction').request
    }
    const { attemptsPerWindow } = SESSION_SETTINGS
    expect(claimed(attemptsPerWindow - 1)).toMatchObject({ by: 'model', trigger: 'background' })
    expect(claimed(attemptsPerWindow)).toMatchObject({ by: 'digest', trigger: 'background' })
    const request = [['control', 'compact']] as const
    expect(claimed(attemptsPerWindow, request)).toMatchObject({ by: 'digest', trigger: 'manual' })
  })

  it('records the sizes of the context before and after, including the tail', () => {
    const play = new Play().tell({ kind: 'opened' }).look(
      scene({
        pieces: [
          ['user', 900],
          ['assistant', 500],
          ['user', 40],
        ],
        row: {
          seen: entryNumber(2),
          settled: { user: mailNumber(3), notification: mailNumber(0) },
        },
        operation: { covers: entryNumber(2) },
      }),
    )
    const written = { operation: operationId('op'), body: {}, tokens: 100, carries: [] }
    play.tell({ kind: 'handoff written', ...written })
    expect(play.commit('commitCompaction').request).toMatchObject({
      result: { tokensBefore: 1_440, tokensAfter: 140, messagesBefore: 3, messagesAfter: 1 },
    })
  })

  it('writes a digest between turns if another turn as long as the last would not fit and the model is slow', () => {
    const view = (
      turn: number,
      last: number,
      operation: Parameters<typeof scene>[0]['operation'],
    ) =>
      scene({
        pieces: [
          ['user', 2_000],
          ['assistant', 1_000],
          ['user', last],
          ['assistant', 50],
        ],
        row: {
          turn,
          seen: entryNumber(4),
          settled: { user: mailNumber(4), notification: mailNumber(0) },
        },
        ...(operation && { operation }),
      })
    const claims = (last: number, turns: number, operation = {}) => {
      const play = new Play().tell({ kind: 'opened' }).look(view(1, last, operation))
      for (let turn = 2; turn <= turns; turn++)
        play.tell({ kind: 'woken' }).look(view(turn, last, operation))
      return play.kinds.includes('claimCompaction') ? play.commit('claimCompaction').request : null
    }
    const digest = { by: 'digest', trigger: 'background', reason: 'the next turn might not fit' }
    expect(claims(700, 2)).toMatchObject(digest)
    // Another turn fits, the operation started in this turn, or a person requested it.
    expect([claims(100, 2), claims(700, 1)]).toEqual([null, null])
    expect(claims(700, 2, { requestedBy: mailNumber(3) })).toBeNull()
    // The model is down.
    expect(claims(700, 1, { state: 'failed', endedAt: AT.wall })).toMatchObject(digest)
  })

  it('has a model rewrite a digest below the soft limit as well, as often as it may be replaced', () => {
    const claimed = (row: Parameters<typeof scene>[0]['row']) => {
      const pieces = [
        ['user', 10],
        ['assistant', 10],
      ] as const
      const settled = { user: mailNumber(1), notification: mailNumber(0) }
      const view = scene({ pieces, row: { seen: entryNumber(2), settled, ...row } })
      const play = new Play().tell({ kind: 'opened' }).look(view)
      return play.kinds.includes('claimCompaction') ? play.commit('claimCompaction').request : null
    }
    const digest = { by: 'digest', covers: entryNumber(1) } as const
    const rewrite = { by: 'rewrite', trigger: 'background', covers: 1 }
    expect(claimed({ ...digest, rewrites: REWRITES_MAX - 1 })).toMatchObject(rewrite)
    expect(claimed({ ...digest, rewrites: REWRITES_MAX })).toBeNull()
    expect(claimed({ ...digest, by: 'model' })).toBeNull()
  })

  it('delays automatic compactions after a failure, but not requested ones', () => {
    const full = {
      pieces: [
        ['user', 2_000],
        ['assistant', 900],
        ['user', 50],
        ['assistant', 50],
      ],
      row: { seen: entryNumber(4), settled: { user: mailNumber(2), notification: mailNumber(0) } },
    } as const
    const failed = { state: 'failed', endedAt: AT.wall } as const
    const claims = (...shown: ReturnType<typeof scene>[]) => {
      const play = new Play().tell({ kind: 'opened' })
      for (const view of shown) play.look(view)
      return play.kinds.includes('claimCompaction')
    }
    const request = [['control', 'compact']] as const
    expect(claims(scene(full))).toBe(true)
    expect(claims(scene({ ...full, operation: failed }))).toBe(false)
    expect(claims(scene({ ...full, operation: failed, mail: request }))).toBe(true)

    // The actor's own clock delays them too, when the store has no record of the failure.
    const again = (mail: typeof request | []) => {
      const play = new Play().tell({ kind: 'opened' }).look(scene({ ...full, operation: {} }))
      play.tell({ kind: 'handoff failed', operation: operationId('op'), reason: 'summary-failed' })
      const done = { verb: 'failCompaction', outcome: { kind: 'done' } } as never
      return play.tell({ kind: 'committed', committed: done }).look(scene({ ...full, mail })).kinds
    }
    expect(again([])).not.toContain('claimCompaction')
    expect(again(request)).toContain('claimCompaction')
  })

  it('aborts a handoff whose operation the store has ended [fault 19]', () => {
    const play = new Play()
      .tell({ kind: 'opened' })
      .look(scene({ pieces: [['user', 900]], operation: {} }))
    play.tell({ kind: 'woken' }).look(scene({ pieces: [['user', 900]] }))
    expect(play.effects[0]).toEqual({ kind: 'abortHandoff', reason: 'superseded' })
  })

  it('gives a turn up only after digests that were written and refused [I33]', () => {
    const full = {
      pieces: [
        ['user', 2_000],
        ['assistant', 1_900],
      ],
      row: { ...RUNNING, seen: entryNumber(2) },
    } as const
    const ended = (reason: string) => {
      const digest = {
        by: 'digest',
        trigger: 'preflight',
        state: 'failed',
        covers: entryNumber(2),
        result: { reason },
      } as const
      const view = scene({ ...full, operation: digest })
      const [operation] = view.operations
      const twice = operation === undefined ? [] : [operation, operation]
      return new Play().tell({ kind: 'opened' }).look({ ...view, operations: twice })
    }
    expect(ended('closing').commit('claimCompaction').request).toMatchObject({ covers: 2 })
    expect(ended('not-smaller').commit('commitReply').request).toMatchObject({
      ends: { how: 'failed' },
    })
  })

  it('looks again for an operation if the store was too busy to return its source', () => {
    const full = { pieces: [['user', 900]], operation: {} } as const
    const play = new Play().tell({ kind: 'opened' }).look(scene(full))
    expect(play.kinds).toEqual(['writeHandoff'])
    play.tell({ kind: 'handoff delayed', operation: operationId('op') })
    expect(play.kinds).toEqual(['setTimer'])
    play.wait(SESSION_SETTINGS.retryMs).tell({ kind: 'woken' })
    expect(play.kinds).toEqual(['writeHandoff', 'look'])
  })

  it('compacts for the window that the provider reported, once per step', () => {
    const refused = {
      pieces: [
        ['user', 900],
        ['assistant', 800],
        ['user', 10],
      ],
      row: { ...RUNNING, seen: entryNumber(2) },
    } as const
    const overflow = { kind: 'overflow', limitTokens: 1_000 } as const
    const play = asked(refused).tell({ kind: 'step ended', outcome: overflow })
    expect(play.commit('claimCompaction').request).toMatchObject({ trigger: 'reactive', covers: 2 })
    const operation = { trigger: 'reactive', covers: entryNumber(2) } as const
    const claimed = { kind: 'claimed', operation: operationId('op'), superseded: null }
    play.tell({
      kind: 'committed',
      committed: { verb: 'claimCompaction', outcome: claimed as never },
    })
    play.look(scene({ ...refused, operation }))
    expect(play.effects[0]).toMatchObject({
      kind: 'writeHandoff',
      limits: { hardTokens: 1_000, handoffTokens: 125, outputTokens: 75 },
    })

    const again = asked({
      ...refused,
      row: { ...refused.row, base: entryNumber(3) },
      operation: { ...operation, state: 'committed' },
    }).tell({ kind: 'step ended', outcome: overflow })
    expect(again.commit('commitReply').request).toMatchObject({ ends: { how: 'failed' } })
  })

  it('assumes a window smaller than the request after an overflow without a number', () => {
    const play = asked({
      pieces: [
        ['user', 900],
        ['assistant', 800],
      ],
      row: { ...RUNNING, seen: entryNumber(2) },
    }).tell({ kind: 'step ended', outcome: { kind: 'overflow' } })
    expect(play.state.overflow).toMatchObject({ limitTokens: 1_360 })
  })
})
