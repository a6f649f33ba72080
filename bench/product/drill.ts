/**
 * `npm run drill [-- --messages 2000 --kills 100 --folder PATH]`: kills `throughline serve` again and
 * again during a conversation over HTTP, then compares what was acknowledged with the store. With
 * `--folder`, a drill that was cut short goes on where it was. Exit code 1 on any violation.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runDrill } from '../../test/journeys/drill.ts'
import { judgeDrill } from '../../test/journeys/drill-verdict.ts'
import { loadLine, machineLine } from './machine.ts'

const VIOLATIONS_SHOWN = 20

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '100' },
    folder: { type: 'string' },
  },
})
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'throughline-drill-'))
mkdirSync(folder, { recursive: true })
console.log(`${machineLine()}\n${folder}`)
const startedAt = performance.now()
const drilled = await runDrill({
  folder,
  messages: Number(values.messages),
  kills: Number(values.kills),
  random: Math.random,
  tell: (line) => console.log(`${seconds()} s  ${line}, ${loadLine()}`),
})
const { violations, figures } = await judgeDrill(folder, drilled)
for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(32)} ${value}`)
for (const line of violations.slice(0, VIOLATIONS_SHOWN)) console.log(`violation: ${line}`)
console.log(`${violations.length} violations in ${seconds()} s`)
process.exitCode = violations.length === 0 ? 0 : 1
if (violations.length === 0 && values.folder === undefined) {
  rmSync(folder, { recursive: true, force: true })
}

function seconds(): string {
  return ((performance.now() - startedAt) / 1_000).toFixed(0)
}
