import type { InputLane } from '../../store/tables/rows.ts'
import type { Mark } from './laws.ts'
import { RangeSet } from './ranges.ts'
import type { Span } from './span.ts'

/** What the logs say about one session. */
export class SessionRecord {
  readonly first: Mark
  readonly births: Mark[] = []
  readonly spans = new Map<number, Span>()
  /** The newest fence per log, to detect a log whose fences go back. */
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

  /** Ordered by fence, which does not depend on the holders' clocks. */
  inOrder(): readonly Span[] {
    return [...this.spans.values()].sort((left, right) => left.fence - right.fence)
  }
}
