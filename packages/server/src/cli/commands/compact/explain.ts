import { clip, oneLine } from '#core/base/line'
import { type Breakdown, CONTEXT_KINDS, type ContextKind } from '#core/compaction/report/breakdown'
import type { CompactResult } from '#core/compaction/report/outcome'
import type { Handoff } from '#core/message/handoff/handoff'
import { textOf } from '#core/message/text'
import { printable } from '../../terminal/printable.ts'

/**
 * Draws the context before and after to one scale, and says why each part is there. Pure: the
 * caller passes the terminal's width and the colours.
 */
export interface Canvas {
  readonly columns: number
  /** Each kind has its own letter, so that the bars can be read without colours. */
  readonly coloured: boolean
  readonly paint: (colour: Colour, text: string) => string
}

const KINDS = {
  beside: { colour: 'gray', mark: '#', label: 'beside' },
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
} as const satisfies Record<Kind, { colour: string; mark: string; label: string }>

/** The kinds of messages in a context, and the tokens sent beside them. */
type Kind = ContextKind | 'beside'
type Tokens = Readonly<Partial<Record<Kind, number>>>

const ORDER: readonly Kind[] = ['beside', ...CONTEXT_KINDS]

type Colour = (typeof KINDS)[Kind]['colour'] | 'bold' | 'dim'

const LABEL_WIDTH = 10
const BAR_WIDTH_MIN = 10
const OPEN_LINES_MAX = 6
const LEDGER_KINDS_LISTED_MAX = 3

export function explainResult(result: CompactResult, canvas: Canvas): string {
  const { stats } = result
  if (result.outcome !== 'compacted') return `${result.explanation}\n`
  const handoff = result.messages.find((message) => message.role === 'handoff')?.handoff
  const share = Math.round((1 - stats.tokensAfter / Math.max(1, stats.tokensBefore)) * 100)
  const before = withBeside(stats.kindsBefore, stats.tokensBefore)
  const after = withBeside(stats.kindsAfter, stats.tokensAfter)
  const lines = [
    ...drawBars(stats, { before, after }, canvas),
    '',
    `${canvas.paint('bold', `${share}% smaller.`)} ${result.explanation}`,
    '',
    ...drawLegend(result, handoff, { before, after }, canvas),
    ...listOpen(result, handoff, canvas),
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function withBeside(kinds: Breakdown, tokens: number): Tokens {
  const beside = tokens - sum(kinds)
  return beside > 0 ? { beside, ...kinds } : kinds
}

interface Pair {
  readonly before: Tokens
  readonly after: Tokens
}

function drawBars(
  stats: CompactResult['stats'],
  { before, after }: Pair,
  canvas: Canvas,
): string[] {
  const tokens = padded([stats.tokensBefore, stats.tokensAfter])
  const messages = padded([stats.messagesBefore, stats.messagesAfter])
  const heads = ['before', 'after '].map(
    (name, index) => `${name}  ${tokens[index]} tokens  ${messages[index]} messages  `,
  )
  const barWidthMax = Math.max(BAR_WIDTH_MIN, canvas.columns - (heads[0]?.length ?? 0))
  const scale = Math.max(1, sum(before), sum(after))
  return [before, after].map((kinds, index) => {
    const width = Math.max(1, Math.round((sum(kinds) / scale) * barWidthMax))
    return `${heads[index]}${drawBar(kinds, width, canvas)}`
  })
}

function padded(numbers: readonly number[]): string[] {
  const texts = numbers.map(count)
  const width = Math.max(...texts.map((text) => text.length))
  return texts.map((text) => text.padStart(width))
}

function drawBar(kinds: Tokens, width: number, canvas: Canvas): string {
  const cells = shareCells(kinds, width)
  return ORDER.map((kind) => drawMark(kind, cells[kind] ?? 0, canvas)).join('')
}

function drawMark(kind: Kind, cells: number, { coloured, paint }: Canvas): string {
  if (cells === 0) return ''
  const { colour, mark } = KINDS[kind]
  return coloured ? paint(colour, '█'.repeat(cells)) : mark.repeat(cells)
}

/**
 * Shares `width` cells among the kinds in proportion, at least one for each that occurs. A bar that
 * is too narrow for all kinds shows the first ones.
 */
export function shareCells(kinds: Tokens, width: number): Tokens {
  const present = ORDER.filter((kind) => (kinds[kind] ?? 0) > 0).slice(0, width)
  const total = present.reduce((all, kind) => all + (kinds[kind] ?? 0), 0)
  const cells: Partial<Record<Kind, number>> = {}
  let tokensLeft = total
  let cellsLeft = width
  // Smallest first, so that the cells that rounding adds to small kinds come from large ones.
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

function drawLegend(
  result: CompactResult,
  handoff: Handoff | undefined,
  { before, after }: Pair,
  canvas: Canvas,
): string[] {
  return ORDER.filter((kind) => before[kind] ?? after[kind]).map((kind) => {
    const tokens = count(after[kind] ?? before[kind] ?? 0).padStart(8)
    const why = explainKind(kind, result, handoff)
    const figure = `${KINDS[kind].label.padEnd(LABEL_WIDTH)}${tokens}  `
    const line = figure + lineWithin(why, canvas.columns - 3 - figure.length)
    const isGone = after[kind] === undefined
    return `${drawMark(kind, 2, canvas)} ${isGone ? canvas.paint('dim', line) : line}`
  })
}

function explainKind(kind: Kind, result: CompactResult, handoff: Handoff | undefined): string {
  const { stats, plan } = result
  const { preserved, ledger } = stats
  const tailFrom = plan.kind === 'compact' ? plan.cut + 1 : 1
  switch (kind) {
    case 'beside':
      return 'sent with every request: tool schemas'
    case 'system':
      return 'system text and pins, byte for byte'
    case 'protected':
      return 'first messages, protected by the preset'
    case 'preserved':
      return [
        `${several(preserved.kept - preserved.truncated, 'request')} word for word`,
        ...(preserved.open > 0 ? [`${preserved.open} still open`] : []),
        ...(preserved.truncated > 0 ? [`${preserved.truncated} shortened`] : []),
        ...(preserved.dropped > 0 ? [`${preserved.dropped} older left out`] : []),
      ].join(', ')
    case 'tasks':
      return several(stats.tasks, 'open task')
    case 'files':
      return `${several(stats.files, 'file')} read or changed`
    case 'ledger':
      return `${several(ledger.entries, 'fact')}: ${ledgerKinds(handoff)}`
    case 'summary':
      return WRITERS[stats.by ?? 'digest']
    case 'head':
      return `${several(stats.covered, 'message')} replaced by the handoff`
    case 'tail': {
      const cleared =
        stats.cleared > 0 ? `, ${several(stats.cleared, 'large result')} shortened` : ''
      return `newest messages word for word, from number ${tailFrom} on${cleared}`
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
  const listed = most.slice(0, LEDGER_KINDS_LISTED_MAX).map(([kind, n]) => several(n, kind))
  return `${listed.join(', ')}${most.length > listed.length ? ' and more' : ''}`
}

/** The material from which the next model continues, shown at a glance. */
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
    canvas.paint('bold', 'To continue with'),
    ...items.slice(0, OPEN_LINES_MAX).map((item) => `  ${lineWithin(item, canvas.columns - 2)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ]
}

function lineWithin(text: string, length: number): string {
  return clip(oneLine(printable(text.slice(0, length * 4))), length)
}

function sum(kinds: Tokens): number {
  return Object.values(kinds).reduce((total, tokens) => total + tokens, 0)
}

function several(n: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${count(n)} ${n === 1 ? noun : plural}`
}

function count(n: number): string {
  return n.toLocaleString('en-US')
}
