import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '../../packages/core/src/base/ids.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { loadParts } from '../../packages/core/src/session/blobs.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import {
  create,
  LIMITS,
  register,
  StoreFixture,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import type { RunnerRow } from '../../packages/core/src/store/tables/rows.ts'
import { exportHermes } from '../../packages/server/src/migration/hermes/export/export.ts'
import { importHermes } from '../../packages/server/src/migration/hermes/import/import.ts'
import {
  type ImportReport,
  unaccounted,
} from '../../packages/server/src/migration/import-report.ts'
import { findByOldId } from '../../packages/server/src/migration/old-ids.ts'
import { storedMessage } from '../../packages/server/src/migration/stored-message.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { columnsOf, nameOf } from './homes/hermes-columns.ts'
import { HermesModel, type NewRow, writeStore } from './homes/hermes-model.ts'
import { dumps } from './homes/python-json.ts'
import { unpackSample } from './homes/sample-stores.ts'
import { bring } from './judges/bring.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** On a busy machine a process takes seconds to begin. */
const PROCESSES_MS_MAX = 120_000

const SHAPE = {
  version: 30,
  sessionColumns: new Set(columnsOf(30).sessions.map(nameOf)),
  messageColumns: new Set(columnsOf(30).messages.map(nameOf)),
  hasRouting: true,
}

let homes = 0
function homeOf(model: HermesModel): string {
  homes += 1
  const path = join(folder, `home-${homes}`)
  mkdirSync(path)
  writeStore(model, SHAPE, join(path, 'state.db'))
  return path
}

function plain(...rows: readonly (Partial<NewRow> & { content: string | null })[]): HermesModel {
  const model = new HermesModel()
  model.open('root', 1_000)
  for (const [index, row] of rows.entries())
    model.append('root', { role: index % 2 ? 'assistant' : 'user', at: 1_001 + index, ...row })
  return model
}

async function entriesOf(store: Store, id = 'root') {
  const range = { from: entryNumber(1), to: entryNumber(999) }
  return await store.readEntries({ sessionId: sessionId(id), ...range })
}

describe('importing a Hermes home', () => {
  it('imports pictures, reasoning and calls whole', async () => {
    const parts = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000)}` } },
    ]
    const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }]
    const model = plain(
      { content: `\0json:${dumps(parts)}` },
      { content: null, toolCalls: dumps(calls) },
      { role: 'tool', content: 'found it', toolCallId: 'c1' },
      { content: 'there it is' },
    )
    const path = homeOf(model)
    const database = new DatabaseSync(join(path, 'state.db'))
    database.exec(`update messages set reasoning = 'first look' where id = 2`)
    database.close()
    const store = openMemoryStore()
    await bring(path, store)
    const stored = (await entriesOf(store)).flatMap((entry) => storedMessage(entry) ?? [])
    const messages = await loadParts(store, sessionId('root'), stored)
    expect(messages).toMatchObject([
      { role: 'user', parts: [{ type: 'text' }, { type: 'image' }] },
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'first look' }, { id: 'c1' }] },
      { role: 'tool', parts: [{ callId: 'c1' }] },
      { role: 'assistant' },
    ])
  })

  it('imports malformed content word for word', async () => {
    const deep = `\0json:${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const nested = `\0json:${'['.repeat(300)}${']'.repeat(300)}`
    const huge = '\0json:[1e999]'
    const model = plain({ content: deep }, { content: huge }, { content: '\ud800 half' })
    model.append('root', { role: 'oracle', content: 'who am I', at: 2_000 })
    model.append('root', { role: 'user', content: nested, at: 2_000.5 })
    model.append('no such session', { role: 'user', content: 'whose am I', at: 2_001 })
    const store = openMemoryStore()
    const report = await bring(homeOf(model), store)
    expect(sumOf(report)).toMatchObject({ in: 6, brought: 6, left: 0 })
    const [, first, second] = await entriesOf(store)
    expect(first && storedMessage(first)).toMatchObject({ parts: [{ type: 'text', text: deep }] })
    expect(second && storedMessage(second)).toMatchObject({ parts: [{ text: huge }] })
    const names = (await store.listSessions({ limit: 9 })).map(({ id }) => id)
    expect(names).toEqual([expect.stringMatching(/^hermes-[0-9a-f]{24}$/), 'root'])
  })

  it('writes nothing in a dry run, and reads without a trace', async () => {
    const path = homeOf(plain({ content: 'a' }, { content: 'b' }))
    const before = hashOf(join(path, 'state.db'))
    const store = openMemoryStore()
    const request = { path, agent: 'nova', limits: LIMITS, withMemories: true, host: HOST }
    const report = await importHermes({ ...request, target: { isDryRun: true, reads: store } })
    expect(sumOf(report)).toMatchObject({ in: 2, brought: 2, before: 0 })
    expect(await store.listSessions({ limit: 9 })).toEqual([])
    expect(hashOf(join(path, 'state.db'))).toBe(before)
  })

  it('predicts in a dry run the result for two profiles with the same ids', async () => {
    const path = homeOf(plain({ content: 'a' }))
    const later = new HermesModel()
    later.open('root', 2_000)
    later.append('root', { role: 'user', content: 'b', at: 2_001 })
    mkdirSync(join(path, 'profiles', 'nova'), { recursive: true })
    writeStore(later, SHAPE, join(path, 'profiles', 'nova', 'state.db'))
    const store = openMemoryStore()
    const request = { path, agent: null, limits: LIMITS, withMemories: false, host: HOST }
    const dry = await importHermes({ ...request, target: { isDryRun: true, reads: store } })
    const real = await bring(path, store)
    const outcomes = ({ profiles }: ImportReport) =>
      profiles.flatMap(({ conversations }) => conversations.map(({ outcome }) => outcome))
    expect(outcomes(real)).toEqual(['new', 'taken'])
    expect(outcomes(dry)).toEqual(outcomes(real))
  })

  it('leaves a session that a process holds, and a different one with the same id', async () => {
    const model = plain({ content: 'a' })
    const path = homeOf(model)
    const other = openMemoryStore()
    await create(other, { id: sessionId('root') })
    const taken = await bring(path, other)
    expect(taken.profiles[0]?.conversations[0]).toMatchObject({ outcome: 'taken' })
    expect(sumOf(taken)).toMatchObject({ in: 1, left: 1 })

    const store = openMemoryStore()
    await bring(path, store)
    model.append('root', { role: 'user', content: 'more', at: 1_500 })
    const later = join(folder, 'later.db')
    writeStore(model, SHAPE, later)
    const fixture = await StoreFixture.acquire(store, sessionId('root'), await register(store))
    const held = await bring(later, store)
    expect(held.profiles[0]?.conversations[0]).toMatchObject({ outcome: 'held' })
    await store.release({ lease: fixture.lease, reason: 'idle' })
    expect(sumOf(await bring(later, store))).toMatchObject({ brought: 1, before: 1, left: 0 })

    const stranger = new HermesModel()
    stranger.open('root', 9_000)
    stranger.append('root', { role: 'user', content: 'another home', at: 9_001 })
    expect(sumOf(await bring(homeOf(stranger), store))).toMatchObject({ brought: 0, left: 1 })
  })

  it('takes over what an import that was killed still holds', async () => {
    const model = plain({ content: 'a' })
    const store = openMemoryStore()
    await bring(homeOf(model), store)
    const killed = await register(store)
    await StoreFixture.acquire(store, sessionId('root'), killed)
    model.append('root', { role: 'user', content: 'more', at: 1_500 })
    const request = {
      ...{ path: homeOf(model), agent: null, limits: LIMITS, withMemories: false, host: HOST },
      target: { isDryRun: false, store } as const,
    }
    const isGone = ({ id }: RunnerRow) => id === killed
    expect(sumOf(await importHermes(request))).toMatchObject({ brought: 0, left: 2 })
    const again = await importHermes({ ...request, isGone })
    expect(sumOf(again)).toMatchObject({ brought: 1, before: 1, left: 0 })
    expect(await store.listRunners()).toEqual([])
  })

  it('continues a session that both Hermes and the agent here continued', async () => {
    const model = plain({ content: 'a' }, { content: 'b' })
    const store = openMemoryStore()
    await bring(homeOf(model), store)
    const fixture = await StoreFixture.acquire(store, sessionId('root'), await register(store))
    await fixture.exchange('asked here', 'answered here')
    await store.release({ lease: fixture.lease, reason: 'idle' })
    model.append('root', { role: 'user', content: 'asked there', at: 1_500 })
    const report = await bring(homeOf(model), store)
    expect(sumOf(report)).toMatchObject({ in: 3, brought: 1, before: 2, left: 0 })
    expect((await entriesOf(store)).map(({ kind }) => kind)).toEqual([
      ...['settings', 'input', 'assistant', 'input', 'assistant', 'turn', 'input'],
    ])
    expect(await store.verify({})).toEqual([])
  })

  it('does not import erased entries again', async () => {
    const path = homeOf(plain({ content: 'a secret' }, { content: 'b' }))
    const store = openMemoryStore()
    await bring(path, store)
    const fixture = await StoreFixture.acquire(store, sessionId('root'), await register(store))
    await fixture.erase([entryNumber(2)])
    await store.release({ lease: fixture.lease, reason: 'idle' })
    expect(sumOf(await bring(path, store))).toMatchObject({ brought: 0, before: 2 })
    expect(JSON.stringify(await entriesOf(store))).not.toContain('a secret')
  })

  it('keeps old ids for looking up, routes for the one session, and titles', async () => {
    const model = plain({ content: 'a' })
    model.close('root', 1_100, 'compression')
    model.open('child', 1_100.1, { parentId: 'root' })
    model.append('child', { role: 'user', content: '[CONTEXT SUMMARY]: so far', at: 1_100.2 })
    model.routes.set('agent:main:telegram:dm:7', 'child')
    const path = homeOf(model)
    const database = new DatabaseSync(join(path, 'state.db'))
    database.exec(`update sessions set title = 'Plans', system_prompt = 'Be brief.'`)
    database.close()
    const store = openMemoryStore()
    await bring(path, store)
    expect(await findByOldId(store, 'child')).toBe('root')
    expect(await store.findSession(sessionId('child'))).toBeUndefined()
    const route = { agent: 'default', channel: 'telegram', address: 'dm:7' }
    expect(await store.findRoute(route)).toMatchObject({ sessionId: 'root' })
    expect(await store.findSession(sessionId('root'))).toMatchObject({ title: 'Plans' })
    const [birth] = await entriesOf(store)
    expect(birth?.body).toContain('Be brief.')
  })

  it('merges a fork into one conversation by time, and continues from the side that Hermes follows', async () => {
    const model = plain({ content: 'first' })
    model.close('root', 1_100, 'compression')
    model.open('left', 1_100.1, { parentId: 'root' })
    model.append('left', { role: 'user', content: '[CONTEXT SUMMARY]: one', at: 1_100.2 })
    model.open('tip', 1_101, { parentId: 'root' })
    model.append('tip', { role: 'user', content: '[CONTEXT SUMMARY]: other', at: 1_101.1 })
    model.append('tip', { role: 'user', content: 'second', at: 1_200 })
    model.append('left', { role: 'user', content: 'third', at: 1_300 })
    model.append('tip', { role: 'user', content: 'fourth', at: 1_400 })
    const store = openMemoryStore()
    expect(sumOf(await bring(homeOf(model), store))).toMatchObject({ in: 6, brought: 6, left: 0 })
    const entries = await entriesOf(store)
    const said = entries.flatMap((entry) => {
      const message = storedMessage(entry)
      return message === null ? [] : [`${entry.kind} ${textOf(message)}`]
    })
    expect(said).toEqual([
      ...['input first', 'turn [CONTEXT SUMMARY]: one', 'input second', 'input third'],
      'input fourth',
    ])
    const context = await store.readContext({ sessionId: sessionId('root') })
    expect(entries.find(({ number }) => number === context?.effective)?.body).toContain('other')
  })

  describe('after Hermes went over to the other side of a fork', () => {
    let model: HermesModel
    let store: Store
    beforeEach(async () => {
      model = plain({ content: 'early' }, { content: 'late' })
      model.close('root', 1_100, 'compression')
      for (const [index, side] of ['left', 'right'].entries()) {
        const at = 1_101 + index
        model.open(side, at, { parentId: 'root' })
        model.append(side, { role: 'user', content: `[CONTEXT SUMMARY]: ${side}`, at: at + 0.1 })
        model.append(side, { role: 'assistant', content: 'late', at: 1_002, copyOf: 2 })
      }
      say('left', 1_200)
      say('right', 1_300)
      store = openMemoryStore()
      await bring(homeOf(model), store)
      expect(await shown()).toEqual(['right', 'late', 'left 1200', 'right 1300'])
    })

    function say(side: string, at: number): void {
      model.append(side, { role: 'user', content: `${side} ${at}`, at })
    }

    async function again() {
      const [one] = (await bring(homeOf(model), store)).profiles[0]?.conversations ?? []
      return one
    }

    async function goOn(act: (fixture: StoreFixture) => Promise<unknown>) {
      const fixture = await StoreFixture.acquire(store, sessionId('root'), await register(store))
      await act(fixture)
      await store.release({ lease: fixture.lease, reason: 'idle' })
    }

    /** The summary in effect, and the messages. */
    async function shown(from = store): Promise<readonly string[]> {
      const context = await from.readContext({ sessionId: sessionId('root') })
      const { effective = 0, entries = [] } = context ?? {}
      const handoff = entries.find(({ number }) => number === effective)
      const messages = entries.flatMap((entry) => {
        const message = entry.kind === 'turn' ? null : storedMessage(entry)
        return message === null ? [] : [textOf(message)]
      })
      return [/: (\w+)/.exec(handoff?.body ?? '')?.[1] ?? 'none', ...messages]
    }

    it('shows what that side shows, and what the first one shows after a return', async () => {
      say('left', 1_400)
      expect(await again()).toMatchObject({ outcome: 'continued', messages: 1, made: 1 })
      const said = ['late', 'left 1200', 'right 1300', 'left 1400']
      expect(await shown()).toEqual(['left', ...said])
      expect(await again()).toMatchObject({ outcome: 'unchanged', made: 0 })
      say('right', 1_500)
      await again()
      const whole = ['right', ...said, 'right 1500']
      expect(await shown()).toEqual(whole)
      expect(await store.verify({})).toEqual([])

      const to = join(folder, 'sides.db')
      await exportHermes({
        ...{ reads: store, sessionId: sessionId('root'), to },
        unshelve: async (message) => message,
      })
      const other = openMemoryStore()
      await bring(to, other)
      expect(await shown(other)).toEqual(whole)
    })

    it('shows everything that is left if a summary could repeat what was erased', async () => {
      await goOn((fixture) => fixture.erase([entryNumber(3)]))
      say('left', 1_400)
      await again()
      expect(await shown()).toEqual(['none', 'early', 'left 1200', 'right 1300', 'left 1400'])
    })

    it('leaves a compaction that was made here, and says how to follow Hermes', async () => {
      let own = entryNumber(0)
      await goOn(async (fixture) => {
        own = await fixture.compact(fixture.tail.number)
      })
      say('left', 1_400)
      expect((await again())?.differences).toContainEqual(
        expect.stringContaining('`throughline compact --session root --undo`'),
      )
      expect(await shown()).toEqual(['none', 'left 1400'])
      await goOn(async (fixture) => await fixture.revert(own))
      await again()
      expect(await shown()).toEqual(['left', 'late', 'left 1200', 'right 1300', 'left 1400'])
    })
  })

  it('translates the settings, names those it leaves out, and never shows a key', async () => {
    const path = homeOf(plain({ content: 'a' }))
    const config = `compression: {threshold: 0.5, in_place: true, prompt: Be short}
auxiliary: {compression: {provider: auto, model: small, api_key: sk-secret, timeout: 90}}`
    writeFileSync(join(path, 'config.yaml'), config)
    writeFileSync(join(path, '.env'), 'KEY=sk-other\nCONTEXT_COMPRESSION_PROMPT="In one line"\n')
    mkdirSync(join(path, 'skills'))
    const report = await bring(path, openMemoryStore())
    const [profile] = report.profiles
    expect(profile?.settings.map(({ key, becomes }) => [key, becomes])).toEqual([
      ['compression.threshold', 'compaction.softShare'],
      ['compression.in_place', null],
      ['compression.prompt', 'compaction.prompt'],
      ['auxiliary.compression.provider', 'auxiliary.compaction.provider'],
      ['auxiliary.compression.model', 'auxiliary.compaction.model'],
      ['auxiliary.compression.api_key', null],
      ['auxiliary.compression.timeout', 'auxiliary.compaction.deadlines.totalSeconds'],
      ['CONTEXT_COMPRESSION_PROMPT', 'compaction.prompt'],
    ])
    expect(profile?.proposal).toContain('prompt: In one line')
    expect(profile?.leftBehind.map(({ what }) => what)).toEqual(['skills', 'keys and variables'])
    expect(JSON.stringify(report)).not.toMatch(/sk-/)
  })

  it('makes one note of each memory, and none twice', async () => {
    const path = homeOf(plain({ content: 'a' }))
    mkdirSync(join(path, 'memories'))
    writeFileSync(join(path, 'memories', 'MEMORY.md'), 'the port is 7420\n§\nthe cat is grey\n')
    writeFileSync(join(path, 'memories', 'USER.md'), 'likes short answers')
    const store = openMemoryStore()
    const request = { path, agent: 'nova', limits: LIMITS, withMemories: true, host: HOST }
    const target = { isDryRun: false, store } as const
    await importHermes({ ...request, target })
    const again = await importHermes({ ...request, target })
    expect(again.profiles[0]?.memories.map(({ outcome }) => outcome)).toEqual([
      ...['unchanged', 'unchanged', 'unchanged'],
    ])
    const notes = await store.listNotes({ agent: 'nova', limit: 9 })
    expect(notes.map(({ text }) => text).sort()).toEqual([
      ...['likes short answers', 'the cat is grey', 'the port is 7420'],
    ])
  })
})

describe('throughline import hermes', () => {
  function run(...words: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], {
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  it(
    'imports the two samples whole, and says so',
    () => {
      const store = join(folder, 'samples.db')
      const path = unpackSample(26, folder)
      expect(run('import', 'hermes', path, '--store', store)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining(
          'Rows there: 197. Brought now: 184. Here before: 0. Copies: 13. Left: 0.',
        ),
      })
      const shown = run('show', '20260528_184410_0c1d2e', '--store', store)
      expect(shown.stderr).toContain('is a part of session 20260528_093510_66bfaec7')
    },
    PROCESSES_MS_MAX,
  )

  it(
    'makes no store in a dry run',
    () => {
      const path = homeOf(plain({ content: 'a' }))
      const store = join(folder, 'none.db')
      const dry = run('import', 'hermes', path, '--store', store, '--dry-run', '--json')
      expect(dry.status).toBe(0)
      expect(JSON.parse(dry.stdout)).toMatchObject({ isDryRun: true })
      expect(() => readFileSync(store)).toThrow()
    },
    PROCESSES_MS_MAX,
  )
})

const HOST = { boot: 'boot', process: 1 }

function sumOf({ profiles }: ImportReport) {
  const [rows] = profiles.map((profile) => profile.rows)
  if (rows === undefined) throw new Error('no profile')
  expect(unaccounted(rows)).toBe(0)
  return rows
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
