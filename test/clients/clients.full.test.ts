import { describe, expect, it } from 'vitest'
import { asInstalled, claudeKilled, claudeLong, codexLong, codexRemote } from './drill.ts'
import { claudeEvents } from './event-drill.ts'
import { claudeOpensExport, codexOpensExport } from './export-drill.ts'
import { claudeLeaves, codexLeaves } from './leave-drill.ts'
import { withoutKey } from './stand-in-drill.ts'
import { claudeSlowSummary } from './summary-drill.ts'
import { claudeUndoes } from './undo-drill.ts'

/** The small form of `npm run drill:clients`. Needs npm's registry on the first run. */
describe('the proxy with real clients', () => {
  it.each([
    ['Claude Code over several turns', () => claudeLong(6, 8_000)],
    ['Claude Code while the proxy is killed', () => claudeKilled(3)],
    ['Claude Code that is switched, interrupted, delegated and forked', claudeEvents],
    ['Claude Code beside a slow summary', () => claudeSlowSummary(15_000)],
    ['Claude Code that leaves', () => claudeLeaves(16, 25_000)],
    ['Claude Code whose handoff is undone', claudeUndoes],
    ['Codex in one long turn', () => codexLong(12, 10_000)],
    ['Codex with compactions of its provider', () => codexRemote(2)],
    ['Codex that leaves', () => codexLeaves(30, 10_000)],
    ['Claude Code that opens an exported session', claudeOpensExport],
    ['Codex that opens an exported session', codexOpensExport],
    ['Codex as it is installed', () => asInstalled('codex', 2)],
    ['opencode', () => asInstalled('opencode', 2)],
    ['pi', () => asInstalled('pi', 2)],
    ['each of them without a key', withoutKey],
  ])(
    'keeps every law with %s',
    async (_, drill) => {
      const { broken } = await drill()
      expect(broken).toEqual([])
    },
    400_000,
  )
})
