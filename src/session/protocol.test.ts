import { describe, expect, it } from 'vitest'
import { entryNumber, mailNumber, operationId, runnerId, sessionId } from '../base/ids.ts'
import type { MailItem } from '../store/queries.ts'
import type { BusyPolicy, Lane, Limits, OperationRow, SessionRow } from '../store/rows.ts'
import type { Context, Piece } from './context.ts'
import { advance, openState } from './protocol.ts'
import {
  type Effect,
  type Event,
  type Picture,
  SESSION_SETTINGS,
  type SessionVerb,
  type State,
} from './state.ts'

const LIMITS: Limits = {
  hardTokens: 4_000,
  pinTokens: 150,
  handoffTokens: 500,
  inputTokens: 600,
  stepTokens: 800,
  outputTokens: 300,
  laneMailMax: 10,
  sourceMailMax: 10,
}
const LEASE = { sessionId: sessionId('s'), runner: runnerId('r'), holder: 'h', fence: 3 }
const AT = { wall: 1_000_000, mono: 1_000_000 }

type Told = Event extends infer Each ? (Each extends Event ? Omit<Each, 'at'> : never) : never

/** Plays events to the machine and keeps what it wants done. */
class Play {
  state: State = openState({
    lease: LEASE,
    settings: SESSION_SETTINGS,
    isRepeatable: (name) => name === 'read',
    at: AT,
  })
  effects: readonly Effect[] = []

  tell(told: Told): this {
    const { state, effects } = advance(this.state, { ...told, at: AT } as Event)
    this.state = state
    this.effects = effects
    return this
  }

  look(picture: Picture, next: string | null = null): this {
    return this.tell({ kind: 'looked', picture, next: next === null ? null : operationId(next) })
  }

  get kinds(): readonly string[] {
    return this.effects.map((effect) =>
      effect.kind === 'commit' ? effect.commit.verb : effect.kind,
    )
  }

  commit(verb: SessionVerb) {
    const effect = this.effects.find((each) => each.kind === 'commit' && each.commit.verb === verb)
    if (effect?.kind !== 'commit') throw new Error(`No ${verb} in ${this.kinds.join()}`)
    return effect.commit
  }
}

interface Scene {
  readonly row?: Partial<SessionRow>
  readonly pieces?: readonly (readonly [role: 'user' | 'assistant' | 'call', tokens: number])[]
  readonly mail?: readonly (readonly [lane: Lane, control: string | null, turnAt?: number])[]
  readonly operation?: Partial<OperationRow>
  readonly policy?: BusyPolicy
}

function scene({ row = {}, pieces = [], mail = [], operation, policy = 'steer' }: Scene): Picture {
  const none = entryNumber(0)
  const shown: Piece[] = pieces.map(([role, tokens], index) => ({
    number: entryNumber(index + 1),
    tokens,
    message:
      role === 'user'
        ? { role, parts: [{ type: 'text', text: 'u' }] }
        : {
            role: 'assistant',
            parts: [
              { type: 'text', text: 'a' },
              ...(role === 'call'
                ? [{ type: 'tool-call' as const, id: 'c', name: 'send', input: null }]
                : []),
            ],
          },
  }))
  const tail = entryNumber(pieces.length)
  const context: Context = {
    upto: tail,
    effective: none,
    covers: none,
    system: [],
    settings: [],
    handoff: null,
    pieces: shown,
    reverted: none,
    tokens: pieces.reduce((sum, [, tokens]) => sum + tokens, 0),
  }
  const items = mail.map(
    ([lane, control, turnAt = null], index): MailItem => ({
      number: mailNumber(index + 1),
      lane,
      control,
      source: 'ann',
      key: `k${index}`,
      body: '{}',
      tokens: 10,
      state: 'pending',
      turnAt,
      blobs: [],
      at: 0,
    }),
  )
  const running: OperationRow | null =
    operation === undefined
      ? null
      : {
          id: operationId('op'),
          sessionId: LEASE.sessionId,
          by: 'model',
          trigger: 'background',
          reason: '',
          fence: LEASE.fence,
          base: none,
          covers: entryNumber(1),
          previous: none,
          state: 'running',
          result: {},
          startedAt: AT.wall,
          endedAt: null,
          ...operation,
        }
  const session = {
    id: LEASE.sessionId,
    limits: LIMITS,
    policy,
    fence: LEASE.fence,
    recovered: LEASE.fence,
    tail,
    tailHash: `hash ${tail}`,
    base: none,
    seen: none,
    effective: none,
    covers: none,
    by: null,
    rewrites: 0,
    operation: running?.state === 'running' ? running.id : null,
    turn: 5,
    turnState: 'idle',
    openCalls: [],
    wakeAt: null,
    settings: none,
    ...row,
  } as unknown as SessionRow
  return {
    session,
    context,
    controls: items.filter((item) => item.lane === 'control'),
    waiting: items.filter((item) => item.lane !== 'control'),
    operations: running === null ? [] : [running],
    replyTo: { edge: 'chat', address: 'x' },
  }
}

const RUNNING = { turnState: 'running' } as const
const SAID = { role: 'assistant', parts: [{ type: 'text', text: 'yes' }] } as const

/** A turn in which the model has just been asked. */
function asked(more: Scene = {}): Play {
  const play = new Play().tell({ kind: 'opened' })
  return play.look(scene({ pieces: [['user', 10]], row: RUNNING, ...more }))
}

describe('the protocol', () => {
  it('looks before it does anything', () => {
    expect(new Play().tell({ kind: 'opened' }).kinds).toEqual(['look'])
  })

  it('recovers first, once per acquisition', () => {
    const play = new Play().tell({ kind: 'opened' })
    play.look(scene({ row: { recovered: 2 }, mail: [['user', null]] }))
    expect(play.kinds).toEqual(['recover'])
  })

  it('delivers people before notifications, and begins a step behind the delivery', () => {
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

  it('starts a tool only when the store shows its call recorded', () => {
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

  it('offers a reply whose commit is unknown again under the same id, and not once it is there', () => {
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

  it('aborts the step for a stop of this turn, and for no other stop', () => {
    const meant = asked().tell({ kind: 'woken' })
    meant.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [['control', 'stop', 5]] }))
    expect(meant.kinds).toEqual(['abortStep'])
    const stale = asked().tell({ kind: 'woken' })
    stale.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [['control', 'stop', 4]] }))
    expect(stale.kinds).toEqual(['settleControl'])
  })

  it('keeps what was said when a step is stopped, and settles the stop with the turn', () => {
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
  ] as const)('under %s, mail of lane %s does %j to a running step', (policy, lane, kinds) => {
    const play = asked({ policy }).tell({ kind: 'woken' })
    play.look(scene({ pieces: [['user', 10]], row: RUNNING, mail: [[lane, null]], policy }))
    expect(play.kinds).toEqual(kinds)
  })

  it('lets mail into a running turn under steer and not under queue', () => {
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

  it('waits above the hard limit only, and buffers everything meanwhile', () => {
    const full = [
      ['user', 2_000],
      ['assistant', 1_900],
    ] as const
    const row = { ...RUNNING, seen: entryNumber(2) }
    const claims = new Play().tell({ kind: 'opened' }).look(scene({ pieces: full, row }))
    expect(claims.commit('claimCompaction').request).toMatchObject({
      trigger: 'preflight',
      covers: 2,
    })
    const waits = new Play().tell({ kind: 'opened' })
    waits.look(scene({ pieces: full, row, operation: {}, mail: [['user', null]] }))
    expect(waits.kinds).toEqual(['writeHandoff'])
    const soft = [
      ['user', 1_900],
      ['assistant', 1_000],
    ] as const
    const goesOn = new Play()
      .tell({ kind: 'opened' })
      .look(scene({ pieces: soft, row, operation: {} }))
    expect(goesOn.kinds).toEqual(['writeHandoff', 'runStep'])
  })

  it('goes to the digest when the model failed this wait', () => {
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

  it('stops a turn that waits for a compaction, and the compaction goes on', () => {
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
    play.tell({ kind: 'handoff written', operation: id, body: {}, tokens: 100 })
    expect(play.commit('commitCompaction').request).toMatchObject({ operation: 'op', settles: [1] })
    const failed = new Play().tell({ kind: 'opened' }).look(scene(joined))
    failed.tell({ kind: 'handoff failed', operation: id, reason: 'summary-failed' })
    expect(failed.commit('failCompaction').request).toMatchObject({ settles: [] })
  })

  it('drops a handoff whose operation the store has ended [fault 19]', () => {
    const play = new Play()
      .tell({ kind: 'opened' })
      .look(scene({ pieces: [['user', 900]], operation: {} }))
    play.tell({ kind: 'woken' }).look(scene({ pieces: [['user', 900]] }))
    expect(play.effects[0]).toEqual({ kind: 'abortHandoff', reason: 'superseded' })
  })

  it('stops at once when the lease is lost, and writes nothing more [fault 23]', () => {
    const play = asked({ operation: {} })
    play.tell({ kind: 'lost' })
    expect(play.kinds).toEqual(['abortStep', 'abortHandoff', 'end'])
    play.tell({ kind: 'step ended', outcome: { kind: 'replied', message: SAID, tokens: 4 } })
    expect(play.effects).toEqual([])
  })

  it('ends what runs and gives the lease back when it closes, leaving the turn to the next', () => {
    const play = asked().tell({ kind: 'closing' })
    expect(play.kinds).toEqual(['abortStep'])
    play.tell({ kind: 'step ended', outcome: { kind: 'interrupted', message: SAID, tokens: 2 } })
    expect(play.commit('release').request).toMatchObject({ reason: 'shutdown' })
  })

  it('waits before it asks again when store or model failed', () => {
    const play = asked()
    play.tell({ kind: 'step ended', outcome: { kind: 'failed', reason: 'down', retryable: true } })
    expect(play.effects).toEqual([{ kind: 'setTimer', at: AT.mono + SESSION_SETTINGS.retryMs }])
  })

  it('ends the turn as failed when the model will never answer, and says so', () => {
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
