import { costText } from '../../../gateway/chat/commands.ts'
import type { SessionSummary } from '../../../runtime/runtime.ts'
import type { Paint } from '../../terminal/colours.ts'
import { ago, grouped } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'
import { type Cell, type Column, drawTable } from '../../terminal/table.ts'
import { drawFill } from '../../terminal/usage-bar.ts'

/** Columns yield their place in this order when the terminal is too narrow. */
const COLUMNS: readonly Column[] = [
  { title: 'SESSION', yields: 6 },
  { title: 'AGENT', yields: 7 },
  { title: 'STATE' },
  { title: 'CONTEXT', yields: 9 },
  { title: 'ENTRIES', align: 'right', yields: 2 },
  { title: 'COMPACTED', yields: 5 },
  { title: 'QUEUED', align: 'right', yields: 8 },
  { title: 'TOKENS', align: 'right', yields: 3 },
  { title: 'COST', align: 'right', yields: 4 },
  { title: 'TITLE', yields: 1, least: 8 },
]

const TITLE_CHARACTERS_MAX = 48

export function drawSessions(
  sessions: readonly SessionSummary[],
  options: { readonly now: number; readonly paint: Paint; readonly columns?: number },
): string {
  const { now, paint, columns: width } = options
  const rows = sessions.map((session) => [
    session.id,
    printable(session.agent),
    stateCell(session),
    session.state === 'gone'
      ? ''
      : drawFill({ tokens: session.contextTokens, windowTokens: session.windowTokens }),
    grouped(session.entries),
    compactedText(session, now),
    session.waiting > 0 ? { text: grouped(session.waiting), colour: 'yellow' as const } : '0',
    ...usedCells(session),
    titleText(session),
  ])
  if (width === undefined) return drawTable(COLUMNS, rows, paint)
  const least = uniquePrefix(sessions.map(({ id }) => id))
  const columns = COLUMNS.map((column) =>
    column.title === 'SESSION' ? { ...column, least, cut: 'bare' as const } : column,
  )
  return drawTable(columns, rows, paint, width)
}

/** No calls are recorded of an imported conversation: what it used elsewhere is not known. */
function usedCells({ usage, entries }: SessionSummary): readonly [string, string] {
  if (usage.calls === 0 && entries > 0) return ['–', '–']
  return [grouped(usage.inputTokens + usage.outputTokens), costText(usage)]
}

/** So many characters tell these ids apart: commands take the beginning of an id. */
function uniquePrefix(ids: readonly string[]): number {
  const sorted = ids.toSorted()
  const shared = sorted.slice(1).map((id, at) => {
    const before = sorted[at] ?? ''
    return [...id].findIndex((character, index) => character !== before[index])
  })
  return Math.max(PREFIX_CHARACTERS_MIN, ...shared.map((index) => index + 1))
}

/** Sessions further down the list may begin alike. */
const PREFIX_CHARACTERS_MIN = 12

const STATES: Record<SessionSummary['state'], Cell> = {
  idle: 'idle',
  turn: { text: 'answering', colour: 'cyan' },
  'waiting-for-compaction': { text: 'waits for compaction', colour: 'yellow' },
  'waiting-for-model': { text: 'waits for the model', colour: 'red' },
  'waiting-for-approval': { text: 'paused at a limit', colour: 'yellow' },
  gone: { text: 'gone', colour: 'dim' },
}

function stateCell({ state, isCompacting, lastTurn, left }: SessionSummary): Cell {
  if (left !== null) return { text: 'left', colour: 'dim' }
  if (state === 'idle' && lastTurn === 'failed') return { text: 'failed', colour: 'red' }
  const isBeside = isCompacting && (state === 'idle' || state === 'turn')
  if (!isBeside) return STATES[state]
  const text = state === 'idle' ? 'compacting' : 'answering, compacting'
  return { text, colour: 'cyan' }
}

function compactedText({ compaction, compactedAt }: SessionSummary, now: number): string {
  if (compactedAt !== null) return ago(compactedAt, now)
  return compaction === null ? 'no' : 'yes'
}

function titleText({ title, forkedFrom }: SessionSummary): string {
  const characters = [...printable(title ?? '').replaceAll('\n', ' ')]
  const whole =
    characters.length <= TITLE_CHARACTERS_MAX
      ? characters.join('')
      : `${characters.slice(0, TITLE_CHARACTERS_MAX - 1).join('')}…`
  if (forkedFrom === null) return whole
  return `${whole} (fork of ${forkedFrom.sessionId} at ${forkedFrom.entry})`.trimStart()
}
