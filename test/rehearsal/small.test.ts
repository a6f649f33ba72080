import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readLines } from '../../packages/server/src/rehearsal/kept.ts'
import { VAGUE_LAWS } from '../../packages/server/src/rehearsal/laws/laws.ts'
import { rehearse } from '../../packages/server/src/rehearsal/rehearse.ts'
import type { Picture } from '../../packages/server/src/rehearsal/report.ts'
import { stops, twins, withdrawn } from '../../packages/server/src/rehearsal/scenes/mailbox.ts'
import { temporary } from './temporary.ts'

// Real processes on whatever machine this is; a rehearsal ends by itself long before.
const PATIENT = { timeout: 220_000 }

it(
  'finds no law broken by one agent and three scenes, and tells what they did',
  PATIENT,
  async () => {
    const place = temporary()
    const store = join(place.folder, 'mine.db')
    const pictures: Picture[] = []
    const { audit, figures, folder, verdicts } = await rehearse(
      {
        ...{ agents: 1, seconds: 1, windowTokens: 8_000, faults: new Set(['duplicates']) },
        ...{ sabotage: null, isKept: true, acts: [[withdrawn, stops, twins]] },
        ...{ location: { kind: 'sqlite', path: store }, env: { PATH: process.env['PATH'] } },
        onPicture: (picture) => pictures.push(picture),
      },
      new AbortController().signal,
    )
    const broken = verdicts.filter(({ holds }) => !holds)
    expect(broken.filter(({ law }) => !VAGUE_LAWS.includes(law))).toEqual([])
    expect(audit).toMatchObject({ holds: true, figures: { sessions: 5, waiting: 0 } })
    // The second process of the stage rests.
    expect(audit.logs).toHaveLength(2)

    expect(figures).toMatchObject({
      ...{ agents: 1, windowTokens: 8_000, scenes: 3, takeOvers: 0 },
      ...{ kills: 0, freezes: 0, outages: 0, faults: 0 },
      ...{ sent: figures.acknowledged, acknowledged: figures.answered + figures.stopped },
    })
    const { meanwhile, acknowledged, compactions, turns, asked, requests, seconds } = figures
    for (const figure of [meanwhile, compactions, requests, seconds])
      expect(figure).toBeGreaterThan(0)
    expect(meanwhile).toBeLessThan(acknowledged)
    // The questions, the first order and the eight messages of the stage have turns as well.
    expect(turns).toBeGreaterThan(asked + 8)
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThan(8)
    expect(figures.requestTokensMax).toBeGreaterThan(1_000)
    expect(figures.calibrationMsMax).toBeGreaterThanOrEqual(0)
    expect(figures.load).toBeGreaterThan(0)

    const phases = pictures.map(({ phase }) => phase)
    expect([...new Set(phases)]).toEqual(['starting', 'driving', 'settling', 'asking', 'judging'])
    const times = pictures.map(({ elapsedMs }) => elapsedMs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    const [line, ...others] = pictures.findLast(({ phase }) => phase === 'judging')?.agents ?? []
    expect(others).toEqual([])
    expect(line).toMatchObject({ name: 'agent-1', windowTokens: 8_000, kills: 0, acknowledged })
    expect(line?.compactions).toBeGreaterThan(0)

    const parcels = readLines(join(folder ?? '', 'handed-over'))
    expect(parcels.length).toBeGreaterThan(0)
    expect(parcels.filter((parcel) => !/^p1x\d+$/.test(parcel))).toEqual([])
    expect(existsSync(store)).toBe(true)
    rmSync(folder ?? '', { recursive: true })
    place.remove()
  },
)
