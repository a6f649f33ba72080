import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { SILENT } from '../../packages/core/src/base/logger.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { serveProxy } from '../../packages/server/src/gateway/proxy/serve.ts'
import { Recorder } from '../../packages/server/src/runtime/client-sessions/recorder.ts'
import type { Script } from '../../packages/server/src/stand-in/answer.ts'
import { Claude } from './claude.ts'
import type { DrillResult } from './drill.ts'
import { startProvider } from './provider.ts'

/** A summary that takes its time, and the real Claude Code that goes on meanwhile (law 12). */
export async function claudeSlowSummary(ms: number): Promise<DrillResult> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-summary-'))
  const script: Script = ({ tools, messages }) => {
    if (tools.length === 0) return { text: 'A title' }
    const last = messages.findLast(({ role }) => role !== 'system')
    if (last?.role === 'tool') return { text: 'Noted.' }
    const input = { command: 'seq 1 300', description: 'Count' }
    return { text: 'I count.', calls: [{ name: 'Bash', input: JSON.stringify(input) }] }
  }
  const provider = await startProvider({ script })
  const store = await openSqliteStore({ path: join(home, 'clients.db') })
  let isWriting = false
  let written = 0
  const recorder = new Recorder({
    ...{ store, clock: systemClock, logger: SILENT, windowTokens: 60_000 },
    summarize: async () => {
      isWriting = true
      await new Promise((resolve) => setTimeout(resolve, ms))
      isWriting = false
      written += 1
      return { text: '## What was done\n- Counted to 300 many times.', finish: 'stop' }
    },
  })
  const url = new URL(provider.url)
  const upstreams = { anthropic: url, openai: url }
  const proxy = await serveProxy({ recorder, upstreams, logger: SILENT })
  const claude = new Claude(home, proxy.url, ['--session-id', randomUUID()])
  const broken: string[] = []
  const beside: number[] = []
  const turns: number[] = []
  while (written === 0 && turns.length < 600) {
    const start = performance.now()
    const wasWriting = isWriting
    const { isError, text } = await claude.say('Go on.')
    const took = performance.now() - start
    turns.push(took)
    if (isError) broken.push(`a turn ended with an error: ${text.slice(0, 100)}`)
    if (wasWriting && isWriting) beside.push(took)
  }
  await claude.end()
  await proxy.close()
  await recorder.close()
  await store.close()
  await provider.close()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  beside.sort((a, b) => a - b)
  const slowest = beside.at(-1) ?? 0
  if (beside.length < 3) broken.push(`only ${beside.length} turns beside the summary`)
  if (slowest > ms / 2)
    broken.push(`law 12: a turn beside the summary took ${Math.round(slowest)} ms`)
  return {
    name: 'claude-summary',
    facts: {
      ...{ turns: turns.length, 'beside the summary': beside.length },
      'median ms beside': Math.round(beside[beside.length >> 1] ?? 0),
      'slowest ms beside': Math.round(slowest),
    },
    broken,
  }
}
