import {
  entryNumber,
  mailNumber,
  operationId,
  runnerId,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import type { Context } from '../../packages/core/src/session/context/build.ts'
import type { ContextPiece } from '../../packages/core/src/session/context/piece.ts'
import type { SessionView } from '../../packages/core/src/session/context/session-view.ts'
import { advance, openState } from '../../packages/core/src/session/protocol/advance.ts'
import type {
  Effect,
  Event,
  SessionVerb,
  State,
} from '../../packages/core/src/session/protocol/state.ts'
import { SESSION_SETTINGS } from '../../packages/core/src/session/settings.ts'
import type { MailItem } from '../../packages/core/src/store/queries.ts'
import type {
  BusyPolicy,
  Lane,
  Limits,
  OperationRow,
  SessionRow,
} from '../../packages/core/src/store/tables/rows.ts'

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
export const AT = { wall: 1_000_000, mono: 1_000_000 }

type Told = Event extends infer Each ? (Each extends Event ? Omit<Each, 'at'> : never) : never

/** Feeds events to the machine and collects its effects. */
export class Play {
  state: State = openState({
    lease: LEASE,
    settings: SESSION_SETTINGS,
    isRepeatable: (name) => name === 'read',
    at: AT,
  })
  effects: readonly Effect[] = []
  #waitedMs = 0

  tell(told: Told): this {
    const at = { wall: AT.wall + this.#waitedMs, mono: AT.mono + this.#waitedMs }
    const { state, effects } = advance(this.state, { ...told, at } as Event)
    this.state = state
    this.effects = effects
    return this
  }

  wait(forMs: number): this {
    this.#waitedMs += forMs
    return this
  }

  look(view: SessionView, next: string | null = null): this {
    return this.tell({ kind: 'looked', view, next: next === null ? null : operationId(next) })
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

export interface Scene {
  readonly row?: Partial<SessionRow>
  readonly pieces?: readonly (readonly [
    role: 'user' | 'assistant' | 'call' | 'result',
    tokens: number,
  ])[]
  readonly mail?: readonly (readonly [lane: Lane, control: string | null, turnAt?: number])[]
  readonly operation?: Partial<OperationRow>
  readonly policy?: BusyPolicy
}

export function scene({
  row = {},
  pieces = [],
  mail = [],
  operation,
  policy = 'steer',
}: Scene): SessionView {
  const none = entryNumber(0)
  const shown: ContextPiece[] = pieces.map(([role, tokens], index) => ({
    number: entryNumber(index + 1),
    tokens,
    ...(role === 'user' && { mail: { lane: 'user', number: index + 1 } }),
    message:
      role === 'user'
        ? { role, parts: [{ type: 'text', text: 'u' }] }
        : role === 'result'
          ? { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', output: [] }] }
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
          requestedBy: null,
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
    pending: pendingOf(items),
    settled: { user: 0, notification: 0 },
    wakeAt: null,
    settings: none,
    origin: null,
    forkedAt: none,
    owed: [],
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

function pendingOf(items: readonly MailItem[]): SessionRow['pending'] {
  const count = (lane: Lane) => items.filter((item) => item.lane === lane).length
  return { control: count('control'), user: count('user'), notification: count('notification') }
}

export const RUNNING = { turnState: 'running' } as const
export const SAID = { role: 'assistant', parts: [{ type: 'text', text: 'yes' }] } as const

/** A turn whose first step has just started. */
export function asked(more: Scene = {}): Play {
  const play = new Play().tell({ kind: 'opened' })
  return play.look(scene({ pieces: [['user', 10]], row: RUNNING, ...more }))
}
