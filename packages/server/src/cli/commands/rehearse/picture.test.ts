import { describe, expect, it } from 'vitest'
import type { Picture } from '../../../rehearsal/report.ts'
import { noPaint } from '../../terminal/colours.ts'
import { drawPicture, pictureLine } from './picture.ts'

const PICTURE: Picture = {
  phase: 'driving',
  elapsedMs: 12_400,
  agents: [
    {
      ...{ name: 'agent-1', contextTokens: 5_600, windowTokens: 8_000, state: 'turn' },
      ...{ isCompacting: true, compactions: 2, kills: 1, acknowledged: 1_234, waiting: 3 },
    },
    {
      ...{ name: 'agent-2', contextTokens: 0, windowTokens: 8_000, state: 'down' },
      ...{ isCompacting: false, compactions: 0, kills: 0, acknowledged: 7, waiting: 0 },
    },
  ],
}

describe('the picture of a rehearsal', () => {
  it('has one line per agent with its fill, state and figures', () => {
    expect(drawPicture(PICTURE, noPaint).split('\n')).toEqual([
      'The worst day 12 s',
      'AGENT    CONTEXT          COMPACTED  KILLED  MESSAGES  QUEUED  STATE',
      'agent-1  ███████░░░ 70 %          2       1     1,234       3  turn, compacting',
      'agent-2  ░░░░░░░░░░ 0 %           0       0         7       0  killed, restarting',
      '',
    ])
  })

  it('begins with what is being done', () => {
    const phases = ['starting', 'driving', 'settling', 'asking', 'judging'] as const
    const titles = phases.map((phase) => drawPicture({ ...PICTURE, phase, agents: [] }, noPaint))
    expect(titles).toEqual([
      'Starting the agents 12 s\n',
      'The worst day 12 s\n',
      'Coming to rest 12 s\n',
      'Asking every agent what it knows 12 s\n',
      'Judging 12 s\n',
    ])
  })

  it('is one plain line without a terminal', () => {
    expect(pictureLine(PICTURE)).toBe(
      'The worst day, 12 s: 1,241 messages, 2 compactions (1 of 2 agents), 1 kill, 3 queued',
    )
  })
})
