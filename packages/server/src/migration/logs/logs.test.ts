import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import type { Store } from '#core/store/contract'
import { LIMITS } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { inShort } from '../../../../../test/doctor/homes/damaged-sample.ts'
import { sample } from '../../../../../test/terminal/screens.ts'
import type { LogFormat } from './files.ts'
import { importLogs } from './import.ts'
import { LOG_READERS } from './reading.ts'

/** Logs that Claude Code, Codex and pi wrote, as they are and harmed: the whole report, and what came. */

const folder = mkdtempSync(join(tmpdir(), 'throughline-logs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const textOf = (name: string) => readFileSync(sample(`sessions/${name}.jsonl`), 'utf8')

const HARMS: Readonly<Record<string, (lines: readonly string[]) => readonly string[]>> = {
  'as it is': (lines) => lines,
  'cut within its last line': (lines) => [...lines.slice(0, -1), lines.at(-1)?.slice(0, 40) ?? ''],
  'with rubbish in it': (lines) => lines.toSpliced(8, 0, 'rubbish', '[]', '3', ''),
  'with lines joined': (lines) => lines.toSpliced(6, 2, `${lines[6]}${lines[7]}`),
  'without a line': (lines) => lines.toSpliced(9, 1),
  'with a line twice': (lines) => lines.toSpliced(9, 0, lines[9] ?? ''),
  'without its first line': (lines) => lines.slice(1),
  'without its first half': (lines) => lines.slice(Math.floor(lines.length / 2)),
}

const FORMATS: readonly (readonly [LogFormat, string])[] = [
  ['claude-code', 'claude-code'],
  ['codex', 'codex'],
  ['pi', 'pi'],
]

it.each(
  FORMATS.flatMap(([format, name]) =>
    Object.keys(HARMS).map((harm) => [format, name, harm] as const),
  ),
)('brings a log of %s (%s) %s', async (format, name, harm) => {
  const harmed = (HARMS[harm] ?? ((lines) => lines))(textOf(name).split('\n').slice(0, -1))
  const lines = await bring(format, `${harmed.join('\n')}\n`)
  const unharmed = harm === 'as it is' ? [] : await linesOfUnharmed(format, name)
  expect(lines.filter((line) => !unharmed.includes(line)).join('\n')).toMatchSnapshot()
})

const known = new Map<string, Promise<readonly string[]>>()

function linesOfUnharmed(format: LogFormat, name: string): Promise<readonly string[]> {
  const lines = known.get(name) ?? bring(format, textOf(name))
  known.set(name, lines)
  return lines
}

async function bring(format: LogFormat, text: string): Promise<readonly string[]> {
  const home = mkdtempSync(join(folder, 'home-'))
  const path = join(home, 'log.jsonl')
  const store = openMemoryStore()
  const run = (isDryRun: boolean) => importAll(format, path, store, isDryRun)
  // A log grows: the second run brings what is new.
  const half = text.lastIndexOf('\n', text.length / 2) + 1
  writeFileSync(path, text.slice(0, half))
  const reports = [await run(true), await run(false)]
  writeFileSync(path, text)
  reports.push(await run(true), await run(false), await run(false))
  const conversations = reports.flatMap(({ profiles }) =>
    profiles.flatMap((one) => one.conversations),
  )
  const told = conversations.map((conversation) => JSON.stringify(conversation))
  return [...told, ...(await readAll(store))].map((line) => line.replaceAll(home, 'HOME'))
}

async function importAll(format: LogFormat, path: string, store: Store, isDryRun: boolean) {
  return await importLogs({
    ...{
      format,
      path,
      agent: 'nova',
      limits: LIMITS,
      host: { boot: 'boot', process: 1 },
      mask: String,
    },
    target: isDryRun ? { isDryRun, reads: store } : { isDryRun, store },
  })
}

async function readAll(store: Store): Promise<readonly string[]> {
  const lines: unknown[] = []
  for (const session of await store.listSessions({ limit: 100 })) {
    const { id, agent, title, state, tail } = session
    lines.push({ id, agent, title, state, tail })
    for (const entry of await store.readEntries({ sessionId: id, from: 1 as never, to: tail })) {
      const { number, kind, at, meta, body } = entry
      // A setting bears the time of the import.
      lines.push([id, number, kind, kind === 'settings' ? 'NOW' : at, meta, body])
    }
  }
  return lines.map((line) => JSON.stringify(line, inShort))
}

it('finds the logs of a home, packed or not, and says what is no log', async () => {
  const home = mkdtempSync(join(folder, 'home-'))
  for (const name of ['sessions/2026/11', 'archived_sessions', 'other'])
    mkdirSync(join(home, name), { recursive: true })
  writeFileSync(join(home, 'sessions/2026/11/b.jsonl'), textOf('codex'))
  writeFileSync(join(home, 'sessions/a.jsonl.gz'), gzipSync(textOf('codex-remote')))
  writeFileSync(join(home, 'archived_sessions/pi.jsonl'), textOf('pi'))
  writeFileSync(join(home, 'archived_sessions/empty.jsonl'), '')
  writeFileSync(join(home, 'archived_sessions/half.jsonl'), Buffer.from([0x7b, 0xff]))
  writeFileSync(
    join(home, 'archived_sessions/torn.jsonl.gz'),
    gzipSync(textOf('pi')).subarray(0, 50),
  )
  writeFileSync(join(home, 'sessions/notes.txt'), 'notes')
  writeFileSync(join(home, 'other/c.jsonl'), textOf('codex'))
  const found: string[] = []
  for (const path of [home, join(home, 'other'), join(home, 'sessions/notes.txt')])
    found.push(JSON.stringify(await importAll('codex', path, openMemoryStore(), false)))
  for (const path of [join(home, 'none'), mkdtempSync(join(folder, 'empty-'))]) {
    const problem = await importAll('codex', path, openMemoryStore(), false).catch(String)
    found.push(String(problem).replaceAll(path, 'PATH'))
  }
  expect(found.join('\n').replaceAll(home, 'HOME')).toMatchSnapshot()
})

it('reads the facts of a log from its first lines', () => {
  const { pi, codex, 'claude-code': claude } = LOG_READERS
  const header = { type: 'session', id: 'p-1', modelId: 'm-1' }
  expect([pi.facts([{ type: 'other' }, header]), pi.facts([]), claude.facts([header])]).toEqual([
    { id: 'p-1', system: null, model: 'm-1' },
    { id: null, system: null, model: null },
    { id: null, system: null, model: null },
  ])
  const meta = { type: 'session_meta', payload: { id: 'c-1', instructions: 'Be brief.' } }
  expect(codex.facts([meta])).toEqual({ id: 'c-1', system: 'Be brief.', model: null })
})
