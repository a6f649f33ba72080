import type { SessionId } from '#core/base/ids'
import { isObject, type JsonObject } from '#core/base/json'
import { findTasks } from '#core/compaction/plan/tasks'
import type { Handoff } from '#core/message/handoff/handoff'
import { writeLedger } from '#core/message/handoff/ledger-text'
import { NOTES_PIN } from '#core/message/handoff/pinned'
import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import { budgetOf } from '#core/session/context/budget'
import { buildContext, type Context, messagesOf } from '#core/session/context/build'
import type { ContextPiece } from '#core/session/context/piece'
import type { WaitNotice } from '#core/session/events/runtime-event'
import type { SessionSettings } from '#core/session/settings'
import { parseBody } from '#core/store/integrity/damaged-row'
import type { ContextEntries, MailItem } from '#core/store/queries'
import type { Entry, Limits, RouteRow, SessionRow } from '#core/store/tables/rows'
import { HARD_SHARE, SOFT_SHARE } from '../client-sessions/frame.ts'
import { isOfHistory } from '../compaction-view.ts'
import type {
  ContextPart,
  ContextView,
  Mail,
  PinView,
  SessionSummary,
  TaskList,
} from '../runtime.ts'
import type { ModelUsage } from '../usage.ts'

/** Turns the store's rows into the views of the API. Pure. */

export function mailView(item: MailItem): Mail {
  const { number, source, key, lane, control, state, at } = item
  const body = parseBody('mail', item)
  const message = isObject(body) ? body['message'] : undefined
  const text = isObject(message) ? textOf(message as unknown as Message) : ''
  return { number, source, key, lane, control, state, at, text }
}

export function summaryOf(
  session: SessionRow,
  seen: {
    /** Null: the session is gone. */
    readonly source: ContextEntries | null
    readonly routes: readonly RouteRow[]
    readonly usage: ModelUsage
    /** What its turn waits for. */
    readonly wait: WaitNotice | undefined
    /** As `leave` noted it. */
    readonly left: { readonly at: number; readonly tokens: number } | null
  },
): SessionSummary {
  const { routes, usage, wait } = seen
  const isRunning = session.state === 'open' && session.turnState === 'running'
  const isGone = session.state !== 'open'
  const source = isGone ? null : seen.source
  const entries = source?.entries ?? []
  const { id, agent, title, createdAt, tail, turn, pending, effective, policy, pins } = session
  const { origin, forkedAt } = session
  const activeAt = entries.at(-1)?.at ?? createdAt
  const context = source === null ? 0 : buildContext(source, source.limits, tail).tokens
  const left = source !== null && (seen.left?.at ?? 0) >= activeAt ? seen.left : null
  return {
    id,
    agent,
    title: title === '' ? null : title,
    forkedFrom: origin === null ? null : { sessionId: origin, entry: forkedAt },
    state: isGone ? 'gone' : isRunning ? stateOf(wait) : 'idle',
    wait:
      isRunning && wait !== undefined
        ? { text: wait.text, nextTryAt: wait.nextTryAt ?? null }
        : null,
    isCompacting: session.operation !== null,
    channels: [...new Set(routes.map(({ channel }) => channel))],
    createdAt,
    activeAt,
    entries: tail,
    turn,
    lastTurn: entries.findLast((entry) => entry.kind === 'turn')?.meta.ended ?? null,
    waiting: isGone ? 0 : pending.user + pending.notification,
    contextTokens: left?.tokens ?? context,
    windowTokens: session.limits.hardTokens,
    compaction: isGone || effective === 0 ? null : effective,
    compactedAt:
      left?.at ??
      (entries.find(({ number }) => number === effective) ?? ownCompaction(entries))?.at ??
      null,
    left: left === null ? null : { at: left.at },
    policy,
    pins: Object.keys(pins).filter((name) => name !== NOTES_PIN),
    runner: session.runner,
    usage,
  }
}

/** The newest one that is in the client's own history: the client made it, or `leave`. */
function ownCompaction(entries: readonly Entry[]): Entry | undefined {
  // After a rewind to before it, nothing follows it in the context.
  const isInEffect = ({ number }: Entry) => entries.some((entry) => entry.number === number + 1)
  return entries.findLast(
    (entry) => entry.kind === 'revert' && isOfHistory(entry) && isInEffect(entry),
  )
}

function stateOf(wait: WaitNotice | undefined): SessionSummary['state'] {
  switch (wait?.code) {
    case 'waiting-for-compaction':
    case 'waiting-for-model':
    case 'waiting-for-approval':
      return wait.code
    default:
      return 'turn'
  }
}

/** Uses the limits of that time; the current ones say nothing about a past context. */
export function viewContext(
  sessionId: SessionId,
  context: Context,
  held: {
    readonly limits: Limits
    /** Null: the limits of that time are unknown. */
    readonly settings: SessionSettings | null
    /** For a client's session: what the provider counted in its last request. */
    readonly countedTokens?: number
  },
): ContextView {
  const { limits, settings, countedTokens } = held
  const windowTokens = limits.hardTokens
  const borders =
    countedTokens === undefined
      ? {
          hardTokens: windowTokens - limits.outputTokens,
          softTokens: settings === null ? null : budgetOf(limits, settings).softTokens,
        }
      : {
          hardTokens: Math.floor(windowTokens * HARD_SHARE),
          softTokens: Math.floor(windowTokens * SOFT_SHARE),
        }
  return {
    sessionId,
    upto: context.upto,
    tokens: context.tokens,
    windowTokens,
    ...borders,
    countedTokens: countedTokens ?? null,
    parts: partsOf(context),
    messages: messagesOf(context),
  }
}

function partsOf({ system, handoff, pieces, covers, settings }: Context): readonly ContextPart[] {
  const parts: ContextPart[] = []
  for (const [index, piece] of system.entries()) {
    const isSystemText = index === 0 && settings.length > 0
    parts.push(
      ...(isSystemText ? settingsParts(piece, settings[0]?.body ?? {}) : [part('pin', piece)]),
    )
  }
  if (handoff?.message.role === 'handoff') {
    parts.push(...handoffParts(handoff.message.handoff, handoff.tokens, covers))
  }
  const lastAnswer = pieces.findLastIndex(({ message }) => message.role === 'assistant')
  for (const [index, piece] of pieces.entries()) {
    const isIncoming = index > lastAnswer && piece.message.role === 'user' && !isSummary(piece)
    parts.push(part(isIncoming ? 'incoming' : 'tail', piece))
  }
  // Settings without a system text and without tools are not shown.
  return parts.filter(({ tokens, text }) => tokens > 0 || text !== '')
}

/**
 * The system text, and each tool by its name. Earlier versions did not record the tokens of each
 * tool.
 */
function settingsParts(piece: ContextPiece, body: JsonObject): readonly ContextPart[] {
  const whole = part('system', piece)
  const { tools, toolTokens } = body
  if (!Array.isArray(tools) || !Array.isArray(toolTokens)) return [whole]
  let rest = whole.tokens
  const described = tools.map((name, index): ContextPart => {
    // Estimates of single tools may exceed that of all together by rounding.
    const tokens = Math.min(rest, Number(toolTokens[index] ?? 0))
    rest -= tokens
    return { ...whole, kind: 'tool', text: String(name), tokens }
  })
  return [{ ...whole, tokens: rest }, ...described]
}

function part(kind: ContextPart['kind'], { message, tokens, number }: ContextPiece): ContextPart {
  const isSaid = kind === 'tail' || kind === 'incoming'
  const { role } = message
  const isSpeaker = role === 'user' || role === 'assistant' || role === 'tool'
  return {
    ...{ kind, tokens, text: textOf(message), origin: { from: number, to: number } },
    role: !isSaid || !isSpeaker ? null : isSummary({ message }) ? 'client-summary' : role,
  }
}

/** With which a client replaced the messages before it. */
function isSummary({ message }: Pick<ContextPiece, 'message'>): boolean {
  return message.role === 'user' && message.isSummary === true
}

/** Divides the total among the sections by the length of their texts, so that they add up to it. */
function handoffParts(handoff: Handoff, tokens: number, covers: number): readonly ContextPart[] {
  const { preserved, tasks, files, ledger, summary } = handoff
  const texts: readonly (readonly [ContextPart['kind'], string])[] = [
    ['preserved', preserved.map(({ message }) => textOf(message)).join('\n\n')],
    ['tasks', tasks.map(({ status, text }) => `${status}: ${text}`).join('\n')],
    ['files', files.map(({ access, path }) => `${access} ${path}`).join('\n')],
    ['ledger', writeLedger(ledger)],
    ['summary', summary],
  ]
  const present = texts.filter(([, text]) => text !== '')
  const length = present.reduce((sum, [, text]) => sum + text.length, 0)
  const origin = { from: 1, to: covers }
  let rest = tokens
  return present.map(([kind, text], index) => {
    const isLast = index === present.length - 1
    const share = isLast ? rest : Math.round((tokens * text.length) / Math.max(1, length))
    rest -= share
    return { kind, tokens: share, text, role: null, origin }
  })
}

const STATUSES: Readonly<Record<string, TaskList['tasks'][number]['status']>> = {
  in_progress: 'running',
  completed: 'done',
  cancelled: 'cancelled',
}

/**
 * The task list that the agent last wrote, or the one that a compaction finds in the conversation.
 */
export function tasksIn(newest: Entry | undefined, context: Context): TaskList['tasks'] {
  const body = newest === undefined ? null : parseBody('entry', newest)
  const kept = isObject(body) ? body['tasks'] : undefined
  if (Array.isArray(kept)) {
    return kept.filter(isObject).map(({ content, status }) => ({
      text: String(content ?? ''),
      status: STATUSES[String(status)] ?? 'pending',
    }))
  }
  const earlier = context.handoff?.message
  const carried = earlier?.role === 'handoff' ? earlier.handoff.tasks : []
  return findTasks(messagesOf(context)) ?? carried
}

/** In the order in which the model reads them. The notes have their own view. */
export function pinsIn(source: ContextEntries): readonly PinView[] {
  const own = Object.entries(source.session.pins).filter(([name]) => name !== NOTES_PIN)
  const pins = own.map(([name, { entry, tokens }]) => {
    const set = source.entries.find(({ number }) => number === entry)
    const text = set === undefined ? null : parseBody('entry', set)
    return { name, entry, tokens, text: typeof text === 'string' ? text : '[erased]' }
  })
  return pins.sort((a, b) => a.entry - b.entry)
}
