import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ATTEMPTS_MAX,
  agentName,
  CAST,
  FAULT_NAMES,
  FREEZE_MS,
  LEASE,
  LOSSES_MAX,
  policyOf,
  RehearsalError,
  readFaults,
  STAGE_LEASE,
} from './terms.ts'

describe('readFaults', () => {
  it('takes all, none, and names with commas between them', () => {
    expect(FAULT_NAMES).toEqual([
      ...['timeouts', 'poisoned', 'resets', 'stalls', 'outage', 'kills', 'freezes', 'duplicates'],
    ])
    expect([...readFaults('all')]).toEqual(FAULT_NAMES)
    expect([...readFaults('none')]).toEqual([])
    expect([...readFaults('kills, outage')]).toEqual(['kills', 'outage'])
  })

  it('refuses unknown names and lists the known ones', () => {
    expect(() => readFaults('kills, earthquake')).toThrow(
      'There is no fault "earthquake"; known are all, none, timeouts, poisoned, resets, stalls, ' +
        'outage, kills, freezes, duplicates.',
    )
    expect(() => readFaults('')).toThrow(RehearsalError)
    expect(new RehearsalError('x')).toMatchObject({
      ...{ name: 'RehearsalError', code: 'rehearsal', retryable: false },
    })
  })
})

describe('the agents of a rehearsal', () => {
  it('take turns in what a message does that arrives during a turn', () => {
    expect([1, 2, 3, 4, 12].map((number) => policyOf(agentName(number)))).toEqual([
      ...['steer', 'interrupt', 'queue', 'steer', 'queue'],
    ])
  })

  it('have on the stage the policy that their scene needs', () => {
    const scenes = globSync('scenes/*.ts', { cwd: import.meta.dirname })
    const texts = scenes.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    const opened = texts.flatMap((text) => text.match(/(?<=')scene-[a-z-]+(?=')/g) ?? [])
    expect(Object.keys(CAST)).toEqual([...new Set(opened)].sort())
    const withPolicy = (wanted: string) => opened.filter((name) => policyOf(name) === wanted)
    expect([...new Set(withPolicy('queue'))].sort()).toEqual([
      ...['scene-lanes', 'scene-poison', 'scene-replies', 'scene-stopped', 'scene-stops'],
      ...['scene-untorn', 'scene-withdrawn'],
    ])
    expect(withPolicy('interrupt')).toEqual(['scene-notified'])
  })

  it('renew a lease several times, and lose it while they are frozen', () => {
    for (const { leaseMs, renewMs, marginMs, pollMs } of [LEASE, STAGE_LEASE]) {
      const isKept = 3 * renewMs + marginMs < leaseMs && pollMs < renewMs
      expect({ isKept, isLost: FREEZE_MS >= leaseMs + renewMs }).toEqual({
        ...{ isKept: true, isLost: true },
      })
    }
    expect([ATTEMPTS_MAX, LOSSES_MAX]).toEqual([5, 3])
  })
})
