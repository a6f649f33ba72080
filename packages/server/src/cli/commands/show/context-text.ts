import type { ContextPart, ContextView } from '../../../runtime/runtime.ts'
import type { Paint } from '../../terminal/colours.ts'
import { grouped } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'
import { fitLines, shorten } from '../../terminal/transcript-text.ts'
import { drawFill } from '../../terminal/usage-bar.ts'

/** The requested context; without either field, the current one. */
interface Moment {
  readonly at?: number | undefined
  readonly snapshot?: number | undefined
}

/**
 * Lists the context part by part, in the order in which it is sent: what each part is, how much of
 * the window it takes, and which entries it comes from.
 */
export function drawContext(
  view: ContextView,
  style: { readonly paint: Paint; readonly partLinesMax: number; readonly columns?: number },
  moment: Moment = {},
): string {
  const { paint, partLinesMax } = style
  const fill = drawFill(view)
  const title =
    `Context of ${view.sessionId} ${momentText(view, moment)}: ${grouped(view.tokens)} of ` +
    `${grouped(view.windowTokens)} tokens  ${paint(fill.colour, fill.text)}`
  const limits = limitsText(view)
  const parts = view.parts.map((part) =>
    [
      partTitle(part, paint),
      ...fitLines(shorten(printable(part.text).split('\n'), partLinesMax), style.columns).map(
        (line) => `    ${line}`,
      ),
    ].join('\n'),
  )
  return `${[title, paint('dim', limits), '', ...parts].map((line) => line.trimEnd()).join('\n')}\n`
}

function momentText({ upto }: ContextView, { at, snapshot }: Moment): string {
  if (at !== undefined) return `at step ${at}, built from entries up to ${upto}`
  return snapshot === undefined ? `up to entry ${upto}` : `just before compaction ${snapshot}`
}

const TITLES: Record<ContextPart['kind'], string> = {
  system: 'system text',
  tool: 'tool description',
  pin: 'pin',
  preserved: "handoff: the user's own words",
  tasks: 'handoff: tasks',
  files: 'handoff: files',
  ledger: 'handoff: ledger',
  summary: 'handoff: summary',
  tail: 'word for word',
  incoming: 'not yet answered',
}

const SPEAKERS = {
  user: 'user',
  assistant: 'agent',
  tool: 'tool result',
  'client-summary': "client's summary",
} as const

function partTitle({ kind, tokens, role, origin }: ContextPart, paint: Paint): string {
  const { from, to } = origin
  const entries = from === to ? `#${from}` : `#${from} to #${to}`
  const speaker = role === null ? '' : `, ${SPEAKERS[role]}`
  return `${paint('bold', entries)} ${TITLES[kind]}${speaker}${paint('dim', `  ${grouped(tokens)} tokens`)}`
}

function limitsText({ softTokens, hardTokens, countedTokens }: ContextView): string {
  if (softTokens === null) return `The limit was ${grouped(hardTokens)} tokens.`
  if (countedTokens === null) {
    const soft = `A compaction is prepared from ${grouped(softTokens)} tokens on`
    return `${soft}; the limit is ${grouped(hardTokens)}.`
  }
  return (
    `The proxy makes a handoff after a request in which the provider counts more than ${grouped(softTokens)} ` +
    `tokens; in the last one it counted ${grouped(countedTokens)}. The sizes here are estimates.`
  )
}
