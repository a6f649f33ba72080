import { oneLine } from '#core/base/line'
import {
  type CompactionReport,
  FATES,
  type Fate,
  type ReportedMessage,
} from '#core/session/view/compaction-report'
import { amountText } from '../../../runtime/usage.ts'
import type { Paint } from '../../terminal/colours.ts'
import { countText, grouped } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'

/** A clearing writes no handoff: results that it does not keep whole keep their two ends. */
const CLEARED_TITLE = 'cleared: its two ends are in the context, recall opens the whole'

const TITLES: Record<Fate, string> = {
  kept: 'kept word for word',
  summarized: 'summarized: the handoff repeats some of it',
  recallable: 'recallable: not in the context, but recall finds it',
  gone: 'gone',
}

const MAKERS: Record<CompactionReport['by'], string> = {
  model: 'written by a model',
  rewrite: 'written by a model',
  digest: 'written by the digest',
  clearing: 'old tool results cleared, no summary',
}

/** Per class; `--full` shows all. */
const MESSAGES_MAX = 8

/** What a compaction did with every message that the model had seen verbatim. */
export function drawReport(
  report: CompactionReport,
  { paint, isFull }: { readonly paint: Paint; readonly isFull: boolean },
): string {
  const { sessionId, entry, by, trigger, tokensBefore, tokensAfter, messages, erased } = report
  const lines = [
    `${paint('bold', `Compaction ${entry} of ${sessionId}`)}: ` +
      `${grouped(tokensBefore)} → ${grouped(tokensAfter)} tokens, ` +
      `${MAKERS[by]}` +
      `${trigger === null ? '' : ` (${trigger})`}`,
    paint('dim', cacheText(report)),
    paint('dim', spendText(report)),
  ]
  for (const fate of FATES) {
    const those = messages.filter((message) => message.fate === fate)
    const { tokens } = report.counts[fate]
    const size = `${countText(those.length, 'message')}, ${grouped(tokens)} tokens`
    const title = by === 'clearing' && fate === 'summarized' ? CLEARED_TITLE : TITLES[fate]
    lines.push('', `${paint('bold', title)}${paint('dim', `  ${size}`)}`)
    const shown = isFull ? those : those.slice(-MESSAGES_MAX)
    if (shown.length < those.length) {
      lines.push(paint('dim', `    … ${grouped(those.length - shown.length)} older; --full`))
    }
    lines.push(...shown.map((message) => messageLine(message, paint)))
  }
  if (erased > 0) lines.push('', `${countText(erased, 'message')} erased since`)
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function messageLine({ number, role, excerpt, recalledBy }: ReportedMessage, paint: Paint): string {
  const how = recalledBy === 'number' ? paint('dim', ' (by its number)') : ''
  return `    ${paint('bold', `#${number}`)} ${role}: ${oneLine(printable(excerpt))}${how}`
}

function cacheText({ cache }: CompactionReport): string {
  const { lostTokens, rewrittenTokens, breakEvenCalls, breakEvenTurns } = cache
  const lost =
    `Cache: ${grouped(lostTokens)} tokens lost, ` +
    `${grouped(rewrittenTokens)} sent uncached by the next call`
  if (breakEvenCalls === null || breakEvenTurns === null) return `${lost}; it does not pay back.`
  const turns = countText(breakEvenTurns, 'turn')
  return `${lost}; paid back after ${countText(breakEvenCalls, 'model call')} (${turns}).`
}

function spendText({ spend }: CompactionReport): string {
  if (spend === null) return 'Cost: no longer on record.'
  if (spend.calls === 0) return 'Cost: no model calls.'
  const { calls, inputTokens, outputTokens, cost } = spend
  const used = `${countText(calls, 'call')}, ${grouped(inputTokens)} tokens in, ${grouped(outputTokens)} out`
  return `Cost: ${used}; ${cost === null ? 'no price known' : amountText(cost)}.`
}
