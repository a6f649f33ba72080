import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { longSession, manySessions, withHost } from './load.ts'

const HELD_MS_MAX = 50

describe('a server at work', () => {
  it('never holds its event loop long, in one long session and in many at once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-load-'))
    try {
      const terms = { store: join(folder, 'store.db'), windowTokens: 200_000 }
      const { long, many } = await withHost(terms, async (host) => ({
        long: await longSession(host, 200),
        many: await manySessions(host, { sessions: 20, messages: 1 }),
      }))
      expect(long.heldMs).toBeLessThan(HELD_MS_MAX)
      expect(many.figures.heldMs).toBeLessThan(HELD_MS_MAX)
      expect(many.answerMs).toHaveLength(20)
      expect(many.figures.sessions).toBeGreaterThanOrEqual(20)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)
})
