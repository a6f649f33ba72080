import { stripVTControlCharacters } from 'node:util'
import { type Breakdown, CONTEXT_KINDS, type ContextKind } from '../compaction/breakdown.ts'
import type { CompactResult } from '../compaction/outcome.ts'
import type { Handoff } from '../message/handoff.ts'
import { textOf } from '../message/text.ts'

/**
 * The picture for people: what the context was made of before and after, to one scale, and why each
 * part is there. Text in, text out; the caller says how wide the terminal is and how to paint.
 */
export interface Canvas {
  readonly columns: number
  /** Without colours every kind has its own letter, so that the bars can still be read. */
  readonly coloured: boolean
  readonly paint: (colour: Colour, text: string) => string
}

const KINDS = {
  system: { colour: 'blue', mark: 's', label: 'system' },
  protected: { colour: 'blueBright', mark: 'p', label: 'protected' },
  preserved: { colour: 'green', mark: 'u', label: 'user' },
  tasks: { colour: 'magenta', mark: 't', label: 'tasks' },
  files: { colour: 'magentaBright', mark: 'f', label: 'files' },
  ledger: { colour: 'yellow', mark: 'l', label: 'ledger' },
  summary: { colour: 'cyan', mark: 'h', label: 'summary' },
  head: { colour: 'gray', mark: '.', label: 'head' },
  tail: { colour: 'white', mark: '=', label: 'tail' },
  incoming: { colour: 'greenBright', mark: '>', label: 'incoming' },
} as const satisfies Record<ContextKind, { colour: string; mark: string; label: string }>

export type Colour = (typeof KINDS)[ContextKind]['colour'] | 'bold' | 'dim'

const LABEL_WIDTH = 10
const BAR_WIDTH_MIN = 10
const OPEN_LINES_MAX = 6

export function explainResult(result: CompactResult, canvas: Canvas): string {
  const { stats } = result
  if (result.outcome !== 'compacted') return `${result.explanation}\n`
  const handoff = result.messages.find((message) => message.role === 'handoff')?.handoff
  const share = Math.round((1 - stats.tokensAfter / Math.max(1, stats.tokensBefore)) * 100)
  const lines = [
    ...drawBars(result, canvas),
    '',
    `${canvas.paint('bold', `${share}% smaller.`)} ${result.explanation}`,
    '',
    ...drawLegend(result, handoff, canvas),
    ...listOpen(result, handoff, canvas),
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function drawBars({ stats }: CompactResult, canvas: Canvas): string[] {
  const rows = [
    {
      name: 'before',
      tokens: stats.tokensBefore,
      messages: stats.messagesBefore,
      kinds: stats.kindsBefore,
    },
    {
      name: 'after',
      tokens: stats.tokensAfter,
      messages: stats.messagesAfter,
      kinds: stats.kindsAfter,
    },
  ]
  const heads = rows.map(
    ({ name, tokens, messages }) =>
      `${name.padEnd(6)} ${count(tokens).padStart(9)} tokens ${count(messages).padStart(6)} messages  `,
  )
  const room = Math.max(BAR_WIDTH_MIN, canvas.columns - (heads[0]?.length ?? 0))
  const scale = Math.max(1, ...rows.map(({ kinds }) => sum(kinds)))
  return rows.map(({ kinds }, index) => {
    const width = Math.max(1, Math.round((sum(kinds) / scale) * room))
    return `${heads[index]}${drawBar(kinds, width, canvas)}`
  })
}

function drawBar(kinds: Breakdown, width: number, canvas: Canvas): string {
  const cells = shareCells(kinds, width)
  return CONTEXT_KINDS.map((kind) => drawMark(kind, cells[kind] ?? 0, canvas)).join('')
}

function drawMark(kind: ContextKind, cells: number, { coloured, paint }: Canvas): string {
  const { colour, mark } = KINDS[kind]
  return coloured ? paint(colour, '█'.repeat(cells)) : mark.repeat(cells)
}

/**
 * How many of `width` cells each kind gets: in proportion, with one at least for each that is there
 * (a bar too narrow for all of them shows the first ones).
 */
export function shareCells(kinds: Breakdown, width: number): Partial<Record<ContextKind, number>> {
  const present = CONTEXT_KINDS.filter((kind) => (kinds[kind] ?? 0) > 0).slice(0, width)
  const total = present.reduce((all, kind) => all + (kinds[kind] ?? 0), 0)
  const cells: Partial<Record<ContextKind, number>> = {}
  let tokensLeft = total
  let cellsLeft = width
  // Smallest first: what rounding gives to the small ones is taken from the large.
  const bySize = present.toSorted((a, b) => (kinds[a] ?? 0) - (kinds[b] ?? 0))
  for (const [index, kind] of bySize.entries()) {
    const tokens = kinds[kind] ?? 0
    const others = bySize.length - index - 1
    const fair = Math.round((cellsLeft * tokens) / tokensLeft)
    cells[kind] = others === 0 ? cellsLeft : Math.min(Math.max(1, fair), cellsLeft - others)
    cellsLeft -= cells[kind]
    tokensLeft -= tokens
  }
  return cells
}

function drawLegend(result: CompactResult, handoff: Handoff | undefined, canvas: Canvas): string[] {
  const { kindsBefore, kindsAfter } = result.stats
  return CONTEXT_KINDS.filter((kind) => kindsBefore[kind] ?? kindsAfter[kind]).map((kind) => {
    const after = kindsAfter[kind]
    const tokens = count(after ?? kindsBefore[kind] ?? 0).padStart(8)
    const text = `${KINDS[kind].label.padEnd(LABEL_WIDTH)}${tokens}  ${tellWhy(kind, result, handoff)}`
    const line = oneLine(text, canvas.columns - 3)
    return `${drawMark(kind, 2, canvas)} ${after === undefined ? canvas.paint('dim', line) : line}`
  })
}

function tellWhy(kind: ContextKind, result: CompactResult, handoff: Handoff | undefined): string {
  const { stats, plan } = result
  const { preserved, ledger } = stats
  const tailFrom = plan.kind === 'compact' ? plan.cut + 1 : 1
  switch (kind) {
    case 'system':
      return 'system text and pins, byte for byte'
    case 'protected':
      return 'first messages, protected by the preset'
    case 'preserved':
      return [
        `${several(preserved.kept, 'request')} in the user's own words`,
        ...(preserved.open > 0 ? [`${preserved.open} still open`] : []),
        ...(preserved.truncated > 0 ? [`${preserved.truncated} shortened`] : []),
        ...(preserved.dropped > 0 ? [`${preserved.dropped} older left out`] : []),
      ].join(', ')
    case 'tasks':
      return several(stats.tasks, 'open task')
    case 'files':
      return `${several(stats.files, 'file')} read or changed, so that none is read again for nothing`
    case 'ledger':
      return `${several(ledger.entries, 'fact')} word for word: ${ledgerKinds(handoff)}`
    case 'summary':
      return WRITERS[stats.by ?? 'digest']
    case 'head':
      return `${several(stats.covered, 'message')} replaced by the handoff`
    case 'tail': {
      const cleared =
        stats.cleared > 0 ? `, ${several(stats.cleared, 'large result')} shortened` : ''
      return `newest messages word for word, from message ${tailFrom} on${cleared}`
    }
    case 'incoming':
      return 'the request to come, in full and last'
    default:
      return kind satisfies never
  }
}

const WRITERS = {
  digest: 'handoff written without a model (digest)',
  model: 'handoff written by the command',
  given: 'handoff from the given file',
} as const

function ledgerKinds(handoff: Handoff | undefined): string {
  const counts = new Map<string, number>()
  for (const { kind } of handoff?.ledger ?? []) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const most = [...counts].toSorted(([, a], [, b]) => b - a)
  return most.map(([kind, n]) => several(n, kind)).join(', ')
}

/** What the next model has to go on with, so that a person sees at a glance that it is there. */
function listOpen(
  { messages }: CompactResult,
  handoff: Handoff | undefined,
  canvas: Canvas,
): string[] {
  const newest = messages.findLast((message) => message.role === 'user' && !message.synthetic)
  const requests = (handoff?.preserved ?? [])
    .filter(({ state }) => state === 'open')
    .map(({ message, number }) => `message ${number}: ${textOf(message)}`)
  const tasks = (handoff?.tasks ?? []).map(({ text, status }) => `task (${status}): ${text}`)
  const items = [
    ...(newest === undefined ? [] : [`newest request: ${textOf(newest)}`]),
    ...requests,
    ...tasks,
  ]
  if (items.length === 0) return []
  const rest = items.length - OPEN_LINES_MAX
  return [
    '',
    canvas.paint('bold', 'To go on with'),
    ...items.slice(0, OPEN_LINES_MAX).map((item) => `  ${oneLine(item, canvas.columns - 2)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ]
}

/** Conversations hold anything, terminals obey escape sequences: none of those is printed. */
function oneLine(text: string, length: number): string {
  const plain = stripVTControlCharacters(text.slice(0, length * 4))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return plain.length > length ? `${plain.slice(0, length - 1)}…` : plain
}

function sum(kinds: Breakdown): number {
  return Object.values(kinds).reduce((total, tokens) => total + tokens, 0)
}

function several(n: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${count(n)} ${n === 1 ? noun : plural}`
}

function count(n: number): string {
  return n.toLocaleString('en-US')
}
