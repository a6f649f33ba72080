import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { SessionId } from '#core/base/ids'
import { loadParts } from '#core/session/blobs'
import type { Store } from '#core/store/contract'
import { openMemoryStore } from '#core/store/memory/open'
import {
  type Damages,
  damagedSample,
  FILE_DAMAGES,
  inShort,
  LATER_DAMAGES,
  LINEAGE_DAMAGES,
  plainRows,
  ROW_DAMAGES,
} from '../../../../../../test/doctor/homes/damaged-sample.ts'
import { bring } from '../../../../../../test/doctor/judges/bring.ts'
import { exportHermes } from '../export/export.ts'

/** Stores that Hermes wrote, as they are and harmed: the whole report of an import, and what it brought. */

const folder = mkdtempSync(join(tmpdir(), 'throughline-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const all: Damages = { ...LINEAGE_DAMAGES, ...ROW_DAMAGES, ...FILE_DAMAGES, ...LATER_DAMAGES }

it.each([
  ['nothing', 11],
  ['nothing', 26],
  ['a fork of a fork', 26],
  ['a branch', 26],
  ['calls without results', 26],
  ['results without calls', 26],
  ['torn calls', 26],
  ['doubled rows', 26],
  ['a torn summary', 26],
  ['rows after the closing', 11],
  ['rows after the closing', 26],
  ['homeless rows', 26],
  ['rows without a name', 26],
  ['a circle', 26],
  ['a missing parent', 26],
  ['a missing middle', 26],
  ['a continuation with another end', 26],
  ['an open parent', 26],
  ['impossible times', 26],
  ['half letters', 26],
  ['everything deleted', 26],
  ['everything archived', 26],
  ['rows taken back', 26],
  ['a torn route', 26],
  ['a route to nowhere', 26],
  ['a route to the first', 26],
  ['a delegate', 26],
] as const)('brings all of a store with %s, schema %i', async (what, schema) => {
  const lines = await bringLines(damagedSample(schema, folder, all[what]))
  const unharmed = what === 'nothing' ? [] : await linesOfUnharmed(schema)
  expect(lines.filter((line) => !unharmed.includes(line)).join('\n')).toMatchSnapshot()
})

const known = new Map<number, Promise<readonly string[]>>()

function linesOfUnharmed(schema: 11 | 26): Promise<readonly string[]> {
  const lines = known.get(schema) ?? bringLines(damagedSample(schema, folder))
  known.set(schema, lines)
  return lines
}

/** The report, the sessions and their entries, and what a second run says. */
async function bringLines(path: string): Promise<readonly string[]> {
  const store = openMemoryStore()
  const { profiles, ...report } = await bring(path, store)
  const told = profiles.flatMap(({ conversations, ...profile }) => [profile, ...conversations])
  const again = await bring(path, store)
  const said = [report, ...told, again.profiles.map(({ rows }) => rows)]
  const brought = (await readAll(store)).map((line) => JSON.stringify(line, inShort))
  const lines = [...said.map((line) => JSON.stringify(line)), ...brought]
  return lines.map((line) => line.replaceAll(dirname(path), 'HOME'))
}

async function readAll(store: Store): Promise<readonly object[]> {
  const sessions = await store.listSessions({ limit: 100 })
  const pages = await Promise.all(
    sessions.map(async ({ id, agent, title, state, tail }) => {
      const entries = await store.readEntries({ sessionId: id, from: 1 as never, to: tail })
      const bodies = entries.map(({ number, kind, at, meta, body }) => [
        id,
        number,
        kind,
        at,
        meta,
        body,
      ])
      return [{ id, agent, title, state, tail }, ...bodies]
    }),
  )
  return pages.flat()
}

it.each(['20260528_093510_66bfaec7', '20260601_101010_1a2b3c4d', '20260528_100000_aaaaaaaa'])(
  'writes each row of %s back as Hermes had it',
  async (id) => {
    const path = damagedSample(26, folder)
    const store = openMemoryStore()
    await bring(path, store)
    const sessionId = id as SessionId
    const to = join(dirname(path), 'back.db')
    const { to: _, ...told } = await exportHermes({
      ...{ reads: store, sessionId, to, now: 1_794_800_000_000 },
      unshelve: async (message) => (await loadParts(store, sessionId, [message]))[0] ?? message,
    })
    const rows = [...plainRows(to)].map(([name, row]) => `${name} ${row}`)
    expect([JSON.stringify(told), ...rows].join('\n')).toMatchSnapshot()
  },
)

const CONFIG = `
compression: {enabled: true, progress_notices: false, threshold: 0.6, threshold_tokens: 9000, target_ratio: 0.3,
  protect_first_n: 1, protect_last_n: 2, prompt: "", idle_compact_after_seconds: 60, context_timeout_seconds: 5,
  context_total_ceiling_seconds: 50, in_place: true, abort_on_summary_failure: true, max_attempts: 3,
  min_tail_user_messages: 2, tail_mode: x, model_thresholds: {a: 1}, hygiene_x: 1, micro_y: 2, other: 3}
auxiliary:
  compression: {provider: auto, model: m, base_url: "http://x", timeout: 7, context_length: 9000, api_key: hidden,
    fallback_chain: [], reasoning_effort: low, extra_body: {}, else: 1}
  title_generation: {provider: openai, model: m, base_url: "http://x", context_length: 9000, reasoning_effort: low}
  vision: {provider: main, model: v}
  flush_memories: {model: f}
  web: {provider: x}
  flat: 3
display: {busy_input_mode: queue}
`

it('tells what becomes of the settings, memories and other files of a home', async () => {
  const home = dirname(damagedSample(26, folder))
  mkdirSync(join(home, 'memories'))
  for (const name of ['skills', 'cron', 'plugins', 'hooks', 'logs']) mkdirSync(join(home, name))
  for (const name of ['SOUL.md', 'auth.json', 'mcp.json']) writeFileSync(join(home, name), 'x')
  writeFileSync(join(home, 'config.yaml'), CONFIG)
  writeFileSync(join(home, '.env'), `KEY=hidden\nexport CONTEXT_COMPRESSION_PROMPT="Be short."\n`)
  writeFileSync(join(home, 'memories', 'MEMORY.md'), 'the port is 7420\n§\nthe cat is grey\n')
  writeFileSync(join(home, 'USER.md'), 'Ada keeps the lighthouse.\n§\n\n')
  const store = openMemoryStore()
  const found = []
  for (const withMemories of [false, true, true]) {
    const { profiles } = await bring(home, store, { withMemories })
    found.push(...profiles.map(({ conversations: _, ...profile }) => profile))
  }
  const notes = (await store.listNotes({ agent: 'default', limit: 9 })).map(({ id, text }) => [
    id,
    text,
  ])
  const text = [...found, ...notes].map((each) => JSON.stringify(each)).join('\n')
  expect(text.replaceAll(home, 'HOME')).toMatchSnapshot()
})
