import { z } from 'zod'
import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import { clip, oneLine } from '#core/base/line'
import type { Commits, Reads } from '#core/store/contract'
import type { ScheduleRow } from '#core/store/operational-rows'
import { defineTool, ok, refuse } from '../define-tool.ts'
import { type Counting, callScopedId, noticeBody } from '../own-mail.ts'
import { isProgram } from '../process/records.ts'
import { isHeld } from '../send-message/held.ts'
import type { Tool, ToolAnswer, ToolCall } from '../tool.ts'
import { cronProblem, EVERY_MS_MIN, nextDue, type Repeat, writeRepeat } from './repeat.ts'

export const SCHEDULE_TOOL = 'schedule'

/** The id of the schedule that a call creates, the same for every repetition. */
export function scheduleId(call: Pick<ToolCall, 'key'>): string {
  return callScopedId('t', call)
}

/** Ids are listed in their order, and those that share all but the last character are few. */
export async function findOwnSchedule(
  store: Pick<Reads, 'listSchedules'>,
  sessionId: SessionId,
  id: string,
): Promise<ScheduleRow | undefined> {
  const near = await store.listSchedules({ sessionId, after: id.slice(0, -1), limit: 64 })
  return near.find((row) => row.id === id)
}

const SECONDS_MAX = 10 * 366 * 86_400

const input = z.strictObject({
  action: z.enum(['add', 'list', 'cancel']),
  text: z.string().min(1).max(20_000).optional().describe('What you want to be told then.'),
  at: z
    .string()
    .max(64)
    .optional()
    .describe('Once: a time with its zone, 2026-05-01T09:00:00+02:00.'),
  in_seconds: z.int().min(1).max(SECONDS_MAX).optional().describe('Once: so long from now.'),
  every_seconds: z
    .int()
    .min(EVERY_MS_MIN / 1_000)
    .max(SECONDS_MAX)
    .optional()
    .describe('Again and again, first after so long.'),
  cron: z.string().max(200).optional().describe('Again and again: minute hour day month weekday.'),
  timezone: z.string().max(64).optional().describe('For cron: a name such as Europe/Berlin.'),
  id: z.string().max(64).optional().describe('To cancel.'),
})

type Input = z.output<typeof input>

export interface ScheduleParts extends Counting {
  readonly store: Pick<Commits & Reads, 'putSchedule' | 'cancelSchedule' | 'listSchedules'>
  readonly clock: Clock
  /** The time zone of cron texts that name none. */
  readonly timezone: string
}

const LIST_LIMIT = 200

/** Reminders to oneself that survive restarts and fire exactly once per due time. */
export function scheduleTool(parts: ScheduleParts): Tool {
  const { store, clock } = parts
  return defineTool({
    name: SCHEDULE_TOOL,
    description:
      'Have a text sent to you later, once (`at` or `in_seconds`) or again and again ' +
      '(`every_seconds` or `cron`). `list` shows what is planned, `cancel` ends one by its `id`.',
    input,
    isRepeatable: true,
    run: async (call) => {
      const { sessionId, input } = call
      if (input.action === 'add') return await add(parts, call, input)
      const asked = { sessionId, state: 'waiting', limit: LIST_LIMIT } as const
      const planned = (await store.listSchedules(asked)).filter(isReminder)
      if (input.action === 'list') {
        const lines = planned.toSorted((a, b) => a.dueAt - b.dueAt).map(lineOf)
        const now = `It is ${moment(clock.now())}.`
        return ok([now, ...(lines.length === 0 ? ['Nothing is planned.'] : lines)].join('\n'))
      }
      const schedule = planned.find(({ id }) => id === input.id)
      if (schedule === undefined) {
        const ids = planned.map(({ id }) => id).join(', ') || 'none'
        return refuse(`Nothing planned has the id ${input.id ?? '(none given)'}. Ids: ${ids}.`)
      }
      await store.cancelSchedule({ id: schedule.id })
      const after = await findOwnSchedule(store, sessionId, schedule.id)
      if (after?.state === 'ended') return refuse(`Too late: ${schedule.id} has just come.`)
      return ok(`Cancelled: ${schedule.id}.`)
    },
  })
}

async function add(
  { store, clock, timezone, countTokens }: ScheduleParts,
  call: Omit<ToolCall, 'input'>,
  input: Input,
): Promise<ToolAnswer> {
  const { text } = input
  if (text === undefined) return refuse('Give the `text` that you want to be told.')
  const { sessionId } = call
  const id = scheduleId(call)
  // In a repeated call `in_seconds` means another time; the first one counts, even if it has
  // passed.
  const before = await findOwnSchedule(store, sessionId, id)
  if (before !== undefined) return ok(plannedText(before))
  const planned = planOf(input, { now: clock.now(), timezone })
  if (typeof planned === 'string') return refuse(planned)
  const { dueAt, repeat } = planned
  const body = noticeBody(`${HEADING}${text}`)
  const tokens = countTokens(sessionId, JSON.stringify(body))
  const outcome = await store.putSchedule({ id, sessionId, dueAt, repeat, body, tokens })
  switch (outcome.kind) {
    case 'scheduled':
      return ok(plannedText(outcome.schedule))
    // A former holder of the session made the same call at the same time.
    case 'passed':
    case 'taken':
      return ok(`Planned as ${id}.`)
    case 'full':
      return refuse(`There are ${outcome.limit} planned already. Cancel one first.`)
    case 'too-large':
      return refuse(`The text has ${outcome.bytes} bytes; ${outcome.limit} are the limit.`)
    case 'unknown':
    case 'gone':
      return refuse('There is no such session.')
    default:
      return outcome satisfies never
  }
}

/** Not a held message and not a program. */
export function isReminder(row: ScheduleRow): boolean {
  return !isHeld(row) && !isProgram(row)
}

function plannedText({ id, state, repeat, dueAt }: ScheduleRow): string {
  if (state !== 'waiting') return `Planned as ${id}.`
  return `Planned as ${id}: ${repeat ?? 'once'}, next ${moment(dueAt)}.`
}

interface Planned {
  readonly dueAt: number
  readonly repeat: string | null
}

// Requires a zone, because a time without one means another moment on every machine, and an
// existing day, because `Date.parse` reads 30 February as 2 March.
const MOMENT = z.union([
  z.iso.datetime({ offset: true }),
  z.iso.datetime({ offset: true, precision: -1 }),
])

function planOf(
  { at, in_seconds, every_seconds, cron, timezone }: Input,
  here: { readonly now: number; readonly timezone: string },
): Planned | string {
  const { now } = here
  const given = [at, in_seconds, every_seconds, cron].filter((each) => each !== undefined)
  if (given.length !== 1) {
    return 'Give exactly one of `at`, `in_seconds`, `every_seconds` and `cron`.'
  }
  if (in_seconds !== undefined) return { dueAt: now + in_seconds * 1_000, repeat: null }
  if (at !== undefined) {
    const dueAt = MOMENT.safeParse(at).success ? Date.parse(at) : Number.NaN
    if (Number.isNaN(dueAt))
      return '`at` is a time with its zone, such as 2026-05-01T09:00:00+02:00.'
    return dueAt > now ? { dueAt, repeat: null } : `That is past; it is ${moment(now)}.`
  }
  const repeat: Repeat =
    every_seconds === undefined
      ? { kind: 'cron', pattern: (cron ?? '').trim(), timezone: timezone ?? here.timezone }
      : { kind: 'every', everyMs: every_seconds * 1_000 }
  const problem = repeat.kind === 'cron' ? cronProblem(repeat) : null
  if (problem !== null) return `This cannot be kept to: ${problem}`
  const dueAt = nextDue(repeat, now, now)
  return dueAt === null ? 'That never comes.' : { dueAt, repeat: writeRepeat(repeat) }
}

const HEADING = 'A reminder that you scheduled:\n'

function noticeText({ body }: Pick<ScheduleRow, 'body'>): string {
  const { message } = JSON.parse(body) as { message?: { parts?: readonly { text?: string }[] } }
  return message?.parts?.[0]?.text ?? ''
}

/** The text of the reminder. */
export function reminderText(row: Pick<ScheduleRow, 'body'>): string {
  const text = noticeText(row)
  return text.startsWith(HEADING) ? text.slice(HEADING.length) : text
}

function lineOf(row: ScheduleRow): string {
  const { id, dueAt, repeat } = row
  const text = noticeText(row)
  return `- ${id}: ${moment(dueAt)}, ${repeat ?? 'once'}: ${clip(oneLine(text), 120)}`
}

function moment(at: number): string {
  return new Date(at).toISOString()
}
