import { describe, expect, it } from 'vitest'
import { FAULT_NAMES, RehearsalError, readFaults } from './terms.ts'

describe('readFaults', () => {
  it('takes all, none, and names with commas between them', () => {
    expect([...readFaults('all')]).toEqual(FAULT_NAMES)
    expect([...readFaults('none')]).toEqual([])
    expect([...readFaults('kills, outage')]).toEqual(['kills', 'outage'])
  })

  it('refuses unknown names and lists the known ones', () => {
    expect(() => readFaults('kills,earthquake')).toThrow(RehearsalError)
    expect(() => readFaults('')).toThrow(/known are all, none, timeouts/)
  })
})
