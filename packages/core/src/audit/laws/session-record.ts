import type { InputLane } from '../../store/rows.ts'
import type { Mark } from './laws.ts'
import { RangeSet } from './ranges.ts'
import type { Span } from './span.ts'

/** The record of one session in the logs. */
export class SessionRecord {
  readonly first: Mark
  readonly births: Mark[] = []
  readonly spans = new Map<number, Span>()
  /** The newest fence per log, so that a log that goes back is seen. */
  readonly newest = new Map<string, number>()
  readonly admitted: Record<InputLane | 'control', RangeSet> = {
    user: new RangeSet(),
    notification: new RangeSet(),
    control: new RangeSet(),
  }
  readonly withdrawn = new RangeSet()
  readonly delivered: Record<InputLane, RangeSet> = {
    user: new RangeSet(),
    notification: new RangeSet(),
  }

  constructor(first: Mark) {
    this.first = first
  }

  /** By fence: the order of the holders, whatever their clocks. */
  inOrder(): readonly Span[] {
    return [...this.spans.values()].sort((left, right) => left.fence - right.fence)
  }
}
