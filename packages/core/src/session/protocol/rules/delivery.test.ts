import { describe, expect, it } from 'vitest'
import { AT, Play, type Scene, scene } from '../../../../../../test/support/play.ts'
import { entryNumber } from '../../../base/ids.ts'
import { REWRITES_MAX } from '../../../store/bounds.ts'
import type { SessionRow } from '../../../store/tables/rows.ts'
import { SESSION_SETTINGS } from '../../settings.ts'

/** A session that has nothing to do; handoffs by a model may be tried again in so many milliseconds. */
function atRest(row: Partial<SessionRow>, retryInMs: number): Play {
  const play = new Play().tell({ kind: 'opened' })
  play.state = { ...play.state, handoffRetryAt: AT.mono + retryInMs }
  const pieces: Scene['pieces'] = [
    ['user', 10],
    ['assistant', 10],
  ]
  return play.look(scene({ pieces, row: { seen: entryNumber(2), ...row } }))
}

describe('an idle session', () => {
  const { lingerMs } = SESSION_SETTINGS
  const later = 10 * lingerMs

  it('keeps its lease until a model may replace its digest', () => {
    const play = atRest({ by: 'digest', rewrites: REWRITES_MAX - 1 }, later)
    expect(play.effects).toEqual([{ kind: 'setTimer', at: AT.mono + later }])
    expect(play.wait(2 * lingerMs).tell({ kind: 'woken' }).kinds).toEqual(['look'])
  })

  it.each<[string, Partial<SessionRow>]>([
    ['a digest that was replaced as often as it may be', { by: 'digest', rewrites: REWRITES_MAX }],
    ['a handoff that a model wrote', { by: 'model' }],
    ['no handoff', { by: null }],
  ])('releases its lease after a while with %s', (_, row) => {
    expect(atRest(row, later).effects).toEqual([{ kind: 'setTimer', at: AT.mono + lingerMs }])
    const wokenAfter = (ms: number) => atRest(row, later).wait(ms).tell({ kind: 'woken' }).kinds
    expect(wokenAfter(lingerMs - 1)).toEqual(['look'])
    expect(wokenAfter(lingerMs)).toEqual(['release'])
  })
})
