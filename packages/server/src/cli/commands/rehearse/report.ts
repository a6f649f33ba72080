import { AUDIT_LAWS } from '#core/audit/laws/laws'
import { OVERLOAD_MS, type VerdictKind } from '../../../rehearsal/laws/laws.ts'
import type { RehearsalFigures, RehearsalReport } from '../../../rehearsal/report.ts'
import type { Paint } from '../../terminal/colours.ts'
import { countText, grouped } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'

/** The verdict of a rehearsal for people: the figures, one row per law, and what breaks it. */
const OFFENCES_LISTED_MAX = 5

export function renderRehearsal(report: RehearsalReport, paint: Paint): string {
  const { verdicts, audit, figures, folder } = report
  const all = [
    ...verdicts,
    ...audit.laws.map(({ law, holds, offences, offencesCount, unproven }) => ({
      title: AUDIT_LAWS[law].title,
      verdict: holds ? ('holds' as const) : ('broken' as const),
      offencesCount,
      unproven: unproven === null ? null : `not in the logs: ${unproven.first}`,
      offences: offences.map(({ problem, sessionId }) => `${sessionId ?? ''} ${problem}`.trim()),
    })),
  ]
  const broken = all.filter(({ verdict }) => verdict === 'broken').length
  const notPlayed = all.filter(({ verdict }) => verdict === 'not-played').length
  const lines = [
    ...figureLines(figures),
    '',
    ...all.flatMap((law) => lawLines(law, paint)),
    '',
    ...(broken > 0 ? [paint('red', `${broken} of ${all.length} laws broken.`)] : []),
    ...(notPlayed > 0
      ? [
          paint('yellow', `${notPlayed} of ${all.length} laws not fully tested.`),
          'This machine was too busy. Run the rehearsal again when it is less busy.',
        ]
      : []),
    ...(broken + notPlayed === 0 ? [paint('green', `All ${all.length} laws hold.`)] : []),
    ...(folder === null ? [] : [`Store and logs: ${folder}`]),
  ]
  return `${lines.join('\n')}\n`
}

interface Row {
  readonly title: string
  readonly verdict: VerdictKind
  readonly unproven: string | null
  readonly offencesCount: number
  readonly offences: readonly string[]
}

function lawLines(law: Row, paint: Paint): readonly string[] {
  const { title, offences, offencesCount, unproven } = law
  if (law.verdict === 'holds') {
    const doubt = unproven === null ? [] : [`    ${paint('yellow', printable(unproven))}`]
    return [`${paint('green', '✓')} ${title}`, ...doubt]
  }
  const listed = offences.slice(0, OFFENCES_LISTED_MAX)
  const rest = offencesCount - listed.length
  return [
    `${law.verdict === 'broken' ? paint('red', '✗') : paint('yellow', '?')} ${paint('bold', title)}`,
    ...listed.map((offence) => `    ${printable(offence).replaceAll('\n', ' ').slice(0, 300)}`),
    ...(rest > 0 ? [`    and ${grouped(rest)} more`] : []),
  ]
}

function figureLines(figures: RehearsalFigures): readonly string[] {
  const { agents, seconds, windowTokens, calibrationMsMax, load } = figures
  const isOverloaded = calibrationMsMax > OVERLOAD_MS
  return [
    `${countText(agents, 'agent')}, ${countText(seconds, 'second')}, window ${grouped(windowTokens)}`,
    `messages    ${grouped(figures.sent)} sent, ${grouped(figures.acknowledged)} acknowledged, ` +
      `${grouped(figures.answered)} answered, ${grouped(figures.stopped)} stopped by a person, ` +
      `${grouped(figures.meanwhile)} during a compaction`,
    `compactions ${grouped(figures.compactions)} committed, ${grouped(figures.compactionsFailed)} failed or abandoned; ` +
      `${countText(figures.waitsForCompaction, 'turn')} waited for one, ${grouped(figures.waitsForModel)} for the model`,
    `faults      ${countText(figures.kills, 'kill')}, ${countText(figures.freezes, 'freeze')}, ` +
      `${countText(figures.outages, 'outage')}, ${countText(figures.faults, 'bad answer')}; ` +
      `${countText(figures.takeOvers, 'take-over')}`,
    `stage       ${countText(figures.scenes, 'scene')} played`,
    `questions   ${grouped(figures.asked)} asked, ${grouped(figures.lookedUp)} answered by looking it up`,
    `event loop  held by our own work for ${figures.loopOwnMsMax} ms at most; late by ` +
      `${figures.loopDelayMsMax} ms at most, a thread without work by ${calibrationMsMax} ms ` +
      `(load ${load.toFixed(1)})`,
    ...(isOverloaded
      ? ['            This machine is overloaded: it delayed even an idle thread that long.']
      : []),
  ]
}
