import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findProfiles } from './home.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-home-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('findProfiles', () => {
  it('finds logs that were rotated by number or by date, packed or not, and nothing else', async () => {
    mkdirSync(join(folder, 'logs'))
    writeFileSync(join(folder, 'state.db'), '')
    const logs = [
      ...['agent.log', 'agent.log-20260528.gz', 'agent.log.1', 'agent.log.2.gz'],
      ...['agent.log.2026-05-28', 'errors.log.3.zst'],
    ]
    for (const name of [...logs, 'agent.log.bak', 'catalog', 'notes.txt', 'agent.log.xz']) {
      writeFileSync(join(folder, 'logs', name), '')
    }
    const [profile] = await findProfiles(folder)
    expect(profile?.logs.map((path) => basename(path))).toEqual(logs)
  })
})
