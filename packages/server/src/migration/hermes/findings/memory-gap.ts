import type { LogEvent } from '../read/log-event.ts'
import { counted, type Finding, finding, lineEvidence, rowEvidence } from './finding.ts'
import type { StoreView } from './identity.ts'

/**
 * Links a fault to its visible effect: an agent says that it has no record of something, in a
 * conversation that had lost rows before. That the two are the same thing is an inference; the rows
 * on both sides are shown.
 */
export function findDenials({
  view,
  faults,
  events,
}: {
  readonly view: StoreView
  readonly faults: readonly Finding[]
  readonly events: readonly LogEvent[]
}): Finding[] {
  const losses = faults.filter(
    ({ kind }) =>
      kind === 'rows-after-closing' || kind === 'destructive-rewrite' || kind === 'fork',
  )
  const told = new Set<number>()
  const quotes = new Quotes(events)
  return losses.flatMap((loss) => {
    const [sessionId = ''] = loss.sessionIds
    const survey = view.survey.sessions.get(sessionId)
    if (survey === undefined) return []
    const since = loss.from ?? Number.NEGATIVE_INFINITY
    const rooms = [survey, ...view.lineage.descendantsOf(sessionId)]
    const denials = rooms
      .flatMap((room) => room.denials)
      .flatMap(({ id, askedId }) => {
        const row = view.read(id)
        const isLater = row !== null && (row.at ?? 0) > since && !told.has(id)
        return isLater ? [{ row, asked: askedId === null ? null : view.read(askedId) }] : []
      })
    return denials.map(({ row, asked }) => {
      told.add(row.id)
      const turn = asked === null ? undefined : quotes.turn(row.sessionId, asked.text)
      const unseen = loss.kind === 'rows-after-closing' ? loss.rows : []
      return finding({
        kind: 'said-no-record',
        severity: 'harm',
        certainty: 'suspected',
        sessionIds: [...new Set([row.sessionId, sessionId])],
        title: 'The agent said that it has no record, after messages had been lost to it',
        explanation:
          `In ${row.sessionId} the agent denies knowing something. Before that, ` +
          (unseen.length > 0
            ? `${counted(unseen.length, 'row')} went to ${sessionId}, which its context does not include.`
            : `the conversation had suffered this: ${loss.title}.`) +
          ' That it speaks of just these messages is likely and not proven.',
        advice: 'Do not let the agent write such a finding into its memory; it is false.',
        from: row.at,
        to: row.at,
        facts: { saidIn: row.id, askedIn: asked?.id ?? null, unseen: unseen.map(({ id }) => id) },
        rows: [...unseen, ...(asked === null ? [] : [rowEvidence(asked)]), rowEvidence(row)],
        lines: [...unseen.map(({ text }) => quotes.inbound(text)), turn]
          .filter((event) => event !== undefined)
          .map(lineEvidence),
      })
    })
  })
}

const PREVIEW_LENGTH = 40

/** Log lines by the text they quote, so that a lookup does not depend on the log's length. */
class Quotes {
  readonly #byText = new Map<string, LogEvent>()

  constructor(events: readonly LogEvent[]) {
    for (const event of events) {
      const { fact } = event
      if (fact.kind === 'turn') this.#byText.set(`${fact.sessionId} ${begin(fact.said)}`, event)
      if (fact.kind === 'inbound') this.#byText.set(` ${begin(fact.said)}`, event)
    }
  }

  turn(sessionId: string, said: string): LogEvent | undefined {
    return said === '' ? undefined : this.#byText.get(`${sessionId} ${begin(said)}`)
  }

  inbound(said: string): LogEvent | undefined {
    return said === '' ? undefined : this.#byText.get(` ${begin(said)}`)
  }
}

function begin(said: string): string {
  return said.replaceAll('\n', ' ').slice(0, PREVIEW_LENGTH)
}
