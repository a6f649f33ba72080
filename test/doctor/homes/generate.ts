import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Expected, idAt, type Setting, type Step } from './conversations.ts'
import { HARMED } from './harmed.ts'
import { HEALTHY } from './healthy.ts'
import { columnsOf, nameOf } from './hermes-columns.ts'
import { HermesModel, type StoreShape, writeStore } from './hermes-model.ts'
import { LOG_LIVES, type LogExpected, printLine, type ScriptedLine } from './logs.ts'
import { dumps } from './python-json.ts'
import { Chance } from './random.ts'

/** A Hermes home that a seed decides, and what must be found in it: everything, and nothing else. */
export interface GeneratedHome {
  readonly path: string
  readonly model: HermesModel
  readonly shape: StoreShape
  readonly now: number
  readonly expected: readonly (Expected | LogExpected)[]
  /** Only one thing deleted rows, so that the number of missing ones is exact. */
  readonly isGoneExact: boolean
}

const VERSIONS = [4, 5, 6, 7, 8, 9, 10, 11, 11, 13, 14, 16, 18, 20, 22, 24, 26, 26, 26, 30, null]
const NEEDED = new Set([
  ...['id', 'source', 'parent_session_id', 'started_at', 'ended_at', 'end_reason'],
  ...['model_config', 'session_key', 'session_id', 'role', 'content', 'timestamp'],
  ...['tool_call_id', 'tool_calls', 'tool_name'],
])
const WINDOW_SECONDS = 20 * 86_400
const BEGIN = 1_780_000_000

export function generateHome(seed: number, folder: string): GeneratedHome {
  const chance = new Chance(seed)
  const shape = chooseShape(chance)
  const now = BEGIN + WINDOW_SECONDS + 86_400
  const steps: Step[] = []
  const chosen = chooseLives(chance)
  for (const [index, [, life]] of chosen.entries()) {
    const setting: Setting = {
      chance,
      start: BEGIN + chance.next() * WINDOW_SECONDS,
      key: `agent:main:telegram:dm:${index}`,
      hasActive: shape.messageColumns.has('active'),
      hasCooldown: shape.sessionColumns.has('compression_ineffective_count'),
      keepsTimes: (shape.version ?? 11) >= 14,
      now,
    }
    steps.push(...life(setting))
  }
  const model = new HermesModel()
  const expected: (Expected | LogExpected)[] = []
  steps.sort((one, other) => one.at - other.at)
  for (const step of steps) step.run(model, (one) => expected.push(one))

  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'logs'), { recursive: true })
  writeStore(model, shape, join(folder, 'state.db'))
  if (!shape.hasRouting) writeRoutes(model, join(folder, 'sessions', 'sessions.json'))
  expected.push(...writeLogs(chance, folder))
  const deleting = chosen.filter(([name]) => DELETING.has(name)).length
  return { path: folder, model, shape, now: now * 1_000, expected, isGoneExact: deleting <= 1 }
}

const DELETING = new Set(['rewritten', 'undone', 'compressedByHand'])

function chooseLives(chance: Chance) {
  const healthy = Object.entries(HEALTHY)
  const harmed = Object.entries(HARMED)
  const isControl = chance.holds(0.3)
  return [
    ...Array.from({ length: chance.between(1, 5) }, () => chance.pick(healthy)),
    ...Array.from({ length: isControl ? 0 : chance.between(1, 4) }, () => chance.pick(harmed)),
  ]
}

function chooseShape(chance: Chance): StoreShape {
  const version = chance.pick(VERSIONS)
  const all = columnsOf(version ?? chance.pick([11, 26, 30]))
  const isSubset = chance.holds(0.4)
  const keep = (name: string) => NEEDED.has(name) || !isSubset || chance.holds(0.6)
  const sessionColumns = new Set(all.sessions.map(nameOf).filter(keep))
  const messageColumns = new Set(all.messages.map(nameOf).filter(keep))
  // One without the other never was.
  if (!messageColumns.has('compacted')) messageColumns.delete('active')
  const pauses = [...all.sessions.map(nameOf)].filter((name) => name.startsWith('compression_'))
  if (!pauses.every((name) => sessionColumns.has(name))) {
    for (const name of pauses) sessionColumns.delete(name)
  }
  const hasIndex = chance.holds(0.4)
  return { version, sessionColumns, messageColumns, hasRouting: (version ?? 11) >= 26, hasIndex }
}

function writeRoutes(model: HermesModel, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const entries = [...model.routes].map(([key, id]) => [key, { session_key: key, session_id: id }])
  writeFileSync(path, dumps(Object.fromEntries(entries)))
}

/** The lines of all lives in order of time, cut into rotated parts, warnings also in errors.log. */
function writeLogs(chance: Chance, folder: string): LogExpected[] {
  const lines: ScriptedLine[] = []
  const expected: LogExpected[] = []
  const lives = Object.values(LOG_LIVES)
  const count = chance.holds(0.3) ? 0 : chance.between(1, 5)
  for (let index = 0; index < count; index++) {
    const start = BEGIN + index * 40_000 + chance.between(0, 9_000)
    const life = chance.pick(lives)({
      chance,
      start,
      root: idAt(start - 5_000, chance, 8),
      child: idAt(start + 30, chance, 6),
      other: idAt(start - 4_000, chance, 8),
    })
    lines.push(...life.lines)
    expected.push(...life.expected)
  }
  lines.sort((one, other) => one.at - other.at)
  const isConsole = chance.holds(0.2)
  const printed = lines.map((line) => printLine(line, isConsole))
  const cut = chance.between(0, printed.length)
  const write = (name: string, part: readonly string[]) => {
    const text = part.map((one) => `${one}\n`).join('')
    const bytes = name.endsWith('.gz') ? gzipSync(text) : text
    writeFileSync(join(folder, 'logs', name), bytes)
  }
  write(chance.holds(0.5) ? 'agent.log.1.gz' : 'agent.log.1', printed.slice(0, cut))
  write('agent.log', printed.slice(cut))
  write(
    'errors.log',
    printed.filter((_, index) => lines[index]?.logger === 'root'),
  )
  return expected
}
