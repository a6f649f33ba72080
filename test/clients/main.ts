import {
  asInstalled,
  claudeKilled,
  claudeLong,
  codexLong,
  codexRemote,
  type DrillResult,
} from './drill.ts'
import { claudeEvents } from './event-drill.ts'
import { claudeOpensExport, codexOpensExport } from './export-drill.ts'
import { claudeLeaves, codexLeaves } from './leave-drill.ts'
import { withoutKey } from './stand-in-drill.ts'
import { claudeSlowSummary } from './summary-drill.ts'
import { claudeUndoes } from './undo-drill.ts'

/**
 * `npm run drill:clients [-- NAME …]`: the laws of the proxy with the real clients, in pinned
 * versions that are installed outside the repository on the first run. Each has a home of its own and
 * reaches nothing but the loopback; the stand-in is the provider.
 */
const DRILLS: { readonly [name: string]: () => Promise<DrillResult> } = {
  'claude-long': () => claudeLong(200, 8_600),
  'claude-killed': () => claudeKilled(50),
  'claude-events': claudeEvents,
  'claude-summary': () => claudeSlowSummary(60_000),
  'claude-leave': () => claudeLeaves(30, 25_000),
  'claude-undo': claudeUndoes,
  'claude-export': claudeOpensExport,
  'codex-long': () => codexLong(400, 10_000),
  'codex-remote': () => codexRemote(10),
  'codex-leave': () => codexLeaves(60, 10_000),
  'codex-export': codexOpensExport,
  codex: () => asInstalled('codex', 5),
  opencode: () => asInstalled('opencode', 5),
  pi: () => asInstalled('pi', 5),
  'stand-in': withoutKey,
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => DRILLS[name] === undefined)
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(DRILLS).join(', ')}.`)
  process.exit(2)
}
let failures = 0
for (const [name, drill] of Object.entries(DRILLS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const start = performance.now()
  const { facts, broken } = await drill()
  const seconds = Math.round((performance.now() - start) / 1_000)
  const told = Object.entries(facts).map(([key, value]) => `${key} ${value}`)
  console.log(
    `${broken.length === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s): ${told.join(', ')}`,
  )
  for (const sentence of broken) console.log(`       ${sentence}`)
  failures += broken.length
}
process.exit(failures === 0 ? 0 : 1)
