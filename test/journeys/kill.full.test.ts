import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runDrill } from './drill.ts'
import { judgeDrill } from './drill-verdict.ts'

describe('a server that is killed in the middle of a conversation', () => {
  it('answers every acknowledged message exactly once, in order, with separate deltas for dead attempts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-drill-'))
    try {
      const terms = { folder, messages: 45, kills: 3, random: Math.random }
      const drilled = await runDrill(terms)
      const { violations, figures } = await judgeDrill(folder, drilled)
      expect(violations).toEqual([])
      expect(figures).toMatchObject({ messages: 45, kills: 3 })
      expect(figures['answers seen whole']).toBeGreaterThan(0)
      expect(figures['attempts that died speaking']).toBeGreaterThan(0)
      expect(figures['answers wrong without voiding']).toBeGreaterThan(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 120_000)
})
