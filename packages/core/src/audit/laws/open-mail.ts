import type { AuditLine, MailRange } from '../log/line.ts'
import type { Break, ReadLine } from './span.ts'

/**
 * Mail that one holder delivered and whose turn has not ended: every context that it logs must hold each
 * of them whole, or shortened and then alone (I34). Deliveries of earlier holders are not known here;
 * the store checks those.
 */
export class OpenMail {
  #runs: (MailRange & { readonly firstEntry: number })[] = []
  /** The newest entry that a context held. */
  #upto = 0

  deliver({ line }: ReadLine): void {
    const { mailbox, entry } = line
    if (mailbox === undefined || entry === undefined) return
    this.#runs.push({ ...mailbox, firstEntry: entry - (mailbox.to - mailbox.from) })
  }

  judge({ operationId, entry = 0, whole, clipped = [] }: AuditLine, broken: Break): void {
    this.#upto = Math.max(this.#upto, entry)
    if (whole === undefined) return
    const due = this.#runs.flatMap(({ from, to, firstEntry }) =>
      Array.from(
        { length: Math.min(to, from + entry - firstEntry) - from + 1 },
        (_, at) => from + at,
      ),
    )
    const missing = due.find((number) => !isIn(whole, number) && !isIn(clipped, number))
    if (missing !== undefined) {
      broken(
        'unanswered',
        `message ${missing} is unanswered, and a context of ${operationId} lacks it`,
      )
    }
    const short = due.find((number) => isIn(clipped, number))
    if (short !== undefined && due.length > 1) {
      broken('unanswered', `message ${short} is unanswered, and was shortened beside others`)
    }
  }

  /** Null: nothing is open any more. Only an answer tells how far the turn had come. */
  endTurn({ reason }: AuditLine): OpenMail | null {
    if (reason !== 'answered') return null
    const upto = this.#upto
    this.#runs = this.#runs.filter(({ from, to, firstEntry }) => firstEntry + to - from > upto)
    return this.#runs.length === 0 ? null : this
  }
}

function isIn(ranges: readonly MailRange[], number: number): boolean {
  return ranges.some(({ from, to }) => from <= number && number <= to)
}
