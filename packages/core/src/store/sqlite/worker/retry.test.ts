import { describe, expect, it } from 'vitest'
import { isOldSqlite, networkDrive } from '../store-file.ts'
import { Contention, retryDelayMs } from './retry.ts'

describe('retry by age', () => {
  it('waits longer at first, and retries more often with age [I29]', () => {
    expect([0, 1, 2, 3, 4, 9].map((tries) => retryDelayMs(0, tries, 1))).toEqual([
      2, 4, 8, 16, 20, 20,
    ])
    expect(retryDelayMs(29, 9, 1)).toBe(20)
    expect(retryDelayMs(30, 9, 1)).toBe(2)
    expect(retryDelayMs(500, 30, 0.5)).toBe(1)
  })

  it('pauses for other writers for twenty commits after it met one', () => {
    const contention = new Contention()
    expect(contention.seen).toBe(false)
    contention.refused()
    for (let commits = 0; commits < 19; commits++) contention.committed()
    expect(contention.seen).toBe(true)
    contention.committed()
    expect(contention.seen).toBe(false)
  })
})

describe('place', () => {
  it.each([
    ['3.51.2', true],
    ['3.40.1', true],
    ['2.99.99', true],
    ['3.51.3', false],
    ['3.53.4', false],
    ['4.0.0', false],
    ['3.52', false],
  ])('SQLite %s is too old: %s', (version, old) => {
    expect(isOldSqlite(version)).toBe(old)
  })

  it('distinguishes network drives from local ones [fault 73]', () => {
    expect(networkDrive(0x6969)).toBe('NFS')
    expect(networkDrive(0xfe534d42)).toBe('SMB2')
    for (const local of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]) {
      expect(networkDrive(local)).toBeUndefined()
    }
  })
})
