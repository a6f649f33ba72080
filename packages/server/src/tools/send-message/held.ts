import type { SessionId } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { Commits, Reads } from '#core/store/contract'
import type { ListSchedules, ScheduleRow } from '#core/store/operational-rows'
import { callScopedId } from '../own-mail.ts'
import type { ToolCall } from '../tool.ts'
import { fromOf, parseMailBody } from './recent-events.ts'

/**
 * Messages that are kept but start no turn. A held message is a durable timer of the receiver that
 * never comes due: it is in the store, is deleted with its session, and admits its mail exactly
 * once when it is fired. It is fired when anything else has arrived in the receiver's mailbox.
 */
const PREFIX = 'held'
/** The latest time that a Date can represent. */
const NEVER = 8_640_000_000_000_000

export function heldId(call: Pick<ToolCall, 'key'>): string {
  return callScopedId(PREFIX, call)
}

export function isHeld({ id }: Pick<ScheduleRow, 'id'>): boolean {
  return id.startsWith(`${PREFIX}-`)
}

/**
 * `since`: the newest mail of the receiver when the message was kept; `before`: what was held for
 * it then. This position orders them, because clocks can go back.
 */
export function holding(
  since: number,
  before: readonly Pick<ScheduleRow, 'repeat'>[],
): { readonly dueAt: number; readonly repeat: string } {
  const position = before.reduce((last, row) => Math.max(last, positionOf(row)), 0) + 1
  return { dueAt: NEVER, repeat: `${PREFIX} ${since} ${position}` }
}

/** All messages held for a session, fired ones included. */
export async function readHeld(
  store: Pick<Reads, 'listSchedules'>,
  sessionId: SessionId,
): Promise<readonly ScheduleRow[]> {
  const rows: ScheduleRow[] = []
  for await (const row of heldRows(store, { sessionId })) rows.push(row)
  return rows
}

/** Page by page, in the order of ids: all held messages share a prefix and are adjacent. */
async function* heldRows(
  store: Pick<Reads, 'listSchedules'>,
  query: Pick<ListSchedules, 'sessionId' | 'state'>,
): AsyncGenerator<ScheduleRow> {
  for (let after = `${PREFIX}-`; ; ) {
    const page = await store.listSchedules({ ...query, after, limit: LIST_MAX })
    const held = page.filter(isHeld)
    yield* held
    const last = held.at(-1)
    if (last === undefined || held.length < LIST_MAX) return
    after = last.id
  }
}

export function isFrom(row: ScheduleRow, sender: SessionId): boolean {
  return fromOf(parseMailBody(row.body))?.sessionId === sender
}

type HeldStore = Pick<Commits & Reads, 'listSchedules' | 'fireSchedule' | 'findSession'>

interface Releasing {
  /** Called before a session receives mail. */
  readonly beforeFire?: ((id: SessionId) => Promise<void>) | undefined
  /** Runs the work for one session; returns whether it received mail. */
  readonly release?: (id: SessionId, run: () => Promise<boolean>) => Promise<boolean>
}

/** Fires held messages whose receiver got other mail; returns the sessions that received mail. */
export async function releaseHeld(
  store: HeldStore,
  { beforeFire = async () => {}, release = (_, run) => run() }: Releasing = {},
): Promise<readonly SessionId[]> {
  // Lists all before firing any, because a session's messages fire in the order in which they were
  // held, not by id. Bodies are left out: they may be large, and the store has them.
  const held = new Map<SessionId, HeldRow[]>()
  for await (const { id, at, dueAt, repeat, ...row } of heldRows(store, { state: 'waiting' })) {
    const of = held.get(row.sessionId) ?? []
    held.set(row.sessionId, of)
    of.push({ id, at, dueAt, repeat })
  }
  const woken: SessionId[] = []
  for (const [id, of] of held) {
    if (await release(id, () => releaseOf(store, { id, of, beforeFire }))) woken.push(id)
  }
  return woken
}

type HeldRow = Pick<ScheduleRow, 'id' | 'at' | 'dueAt' | 'repeat'>

interface HeldFor {
  readonly id: SessionId
  readonly of: readonly HeldRow[]
  readonly beforeFire: (id: SessionId) => Promise<void>
}

async function releaseOf(store: HeldStore, { id, of, beforeFire }: HeldFor): Promise<boolean> {
  const session = await store.findSession(id)
  const isDue = session === undefined || of.some((row) => session.mail > sinceOf(row))
  if (!isDue) return false
  await beforeFire(id)
  let isWoken = false
  for (const { id: schedule, dueAt } of of.toSorted(byPosition)) {
    const outcome = await store.fireSchedule({ id: schedule, dueAt, nextDueAt: null })
    if (outcome.kind === 'full') break
    if (outcome.kind === 'fired') isWoken = true
  }
  return isWoken
}

type Held = Pick<ScheduleRow, 'at' | 'repeat'>

/** Messages without a position come from an older version. */
function byPosition(a: Held, b: Held): number {
  return positionOf(a) - positionOf(b) || a.at - b.at
}

function sinceOf({ repeat }: Pick<ScheduleRow, 'repeat'>): number {
  return Number(repeat?.split(' ')[1] ?? 0)
}

function positionOf({ repeat }: Pick<ScheduleRow, 'repeat'>): number {
  return Number(repeat?.split(' ')[2] ?? 0)
}
