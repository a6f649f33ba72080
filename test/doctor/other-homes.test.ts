import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { entryNumber } from '../../packages/core/src/base/ids.ts'
import { isObject, type JsonObject } from '../../packages/core/src/base/json.ts'
import { claudeCodeFormat } from '../../packages/core/src/message/formats/claude-code/claude-code.ts'
import { codexFormat } from '../../packages/core/src/message/formats/codex/codex.ts'
import { piFormat } from '../../packages/core/src/message/formats/pi/pi.ts'
import type { Message, Part } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { LIMITS } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import {
  type ImportReport,
  unaccounted,
} from '../../packages/server/src/migration/import-report.ts'
import {
  findLogs,
  type LogFormat,
  readLog,
} from '../../packages/server/src/migration/logs/files.ts'
import { importLogs } from '../../packages/server/src/migration/logs/import.ts'
import { storedMessage } from '../../packages/server/src/migration/stored-message.ts'
import { TURNS } from '../samples/conversation.ts'
import { corpusDir } from '../support/corpus.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-other-homes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const HOST = { boot: 'boot', process: 1 }

async function bring(format: LogFormat, path: string, store: Store, isDryRun = false) {
  const target = isDryRun
    ? ({ isDryRun: true, reads: store } as const)
    : ({ isDryRun: false, store } as const)
  return await importLogs({
    format,
    path,
    agent: 'nova',
    limits: LIMITS,
    host: HOST,
    target,
    mask: String,
  })
}

function sumOf({ profiles }: ImportReport) {
  const [rows] = profiles.map((profile) => profile.rows)
  if (rows === undefined) throw new Error('no profile')
  expect(unaccounted(rows)).toBe(0)
  return rows
}

function fileOf(name: string, lines: readonly JsonObject[]): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

/** What the model is shown next, and what stands beside it. */
async function textsOf(store: Store) {
  const [session] = await store.listSessions({ limit: 9 })
  if (session === undefined) throw new Error('no session')
  const range = { from: entryNumber(1), to: entryNumber(9_999) }
  const entries = await store.readEntries({ sessionId: session.id, ...range })
  const context = await store.readContext({ sessionId: session.id })
  const words = (list: readonly (typeof entries)[number][]) =>
    list.flatMap((entry) => {
      const message = storedMessage(entry)
      return message === null ? [] : [textOf(message)]
    })
  const shown = (context?.entries ?? []).filter(({ number }) => number > (context?.covers ?? 0))
  const handoff = entries.find(({ number }) => number === context?.effective)
  const body = handoff?.body ? (JSON.parse(handoff.body) as unknown) : null
  return {
    id: session.id,
    all: words(entries),
    shown: words(shown.filter(({ kind }) => kind !== 'turn')),
    beside: words(entries.filter(({ kind }) => kind === 'turn')),
    summary: isObject(body) ? body['summary'] : null,
  }
}

const at = (second: number) => new Date(1_790_000_000_000 + second * 1_000).toISOString()

function claude(uuid: string, parentUuid: string | null, role: string, text: string): JsonObject {
  const content = role === 'assistant' ? [{ type: 'text', text }] : text
  const message = { role, content, ...(role === 'assistant' && { id: `m-${uuid}` }) }
  const about = { isSidechain: false, sessionId: 's', timestamp: at(uuid.charCodeAt(0)) }
  return { type: role, uuid, parentUuid, ...about, message }
}

describe('importing Claude Code', () => {
  it('imports the whole log, its compaction in effect, and the side branches', async () => {
    const path = fileOf('projects/there/0c1d2e.jsonl', [
      { type: 'summary', leafUuid: 'f', summary: 'Plans' },
      claude('a', null, 'user', 'first'),
      claude('b', 'a', 'assistant', 'one way'),
      claude('c', 'a', 'assistant', 'another way'),
      { type: 'system', subtype: 'compact_boundary', uuid: 'd', parentUuid: null },
      { ...claude('e', 'd', 'user', 'It was about plans.'), isCompactSummary: true },
      claude('f', 'e', 'user', 'go on'),
      { ...claude('g', 'f', 'user', 'find it'), isSidechain: true },
      {
        ...{
          type: 'attachment',
          uuid: 'h',
          parentUuid: 'f',
          isSidechain: false,
          timestamp: at(104),
        },
        attachment: { type: 'queued_command', prompt: 'this too', commandMode: 'prompt' },
      },
    ])
    const store = openMemoryStore()
    const report = await bring('claude-code', folder, store)
    expect(sumOf(report)).toMatchObject({ in: 9, brought: 7, silent: 2, left: 0 })
    expect(await textsOf(store)).toEqual({
      id: '0c1d2e',
      all: ['first', 'one way', 'another way', 'go on', 'find it', 'this too'],
      ...{ shown: ['go on', 'this too'], beside: ['one way', 'find it'] },
      summary: 'It was about plans.',
    })
    expect(await store.verify({})).toEqual([])
    rmSync(path)
  })

  it('skips a line that is nested too deep, and continues', async () => {
    const store = openMemoryStore()
    const said = (text: string) => ({ type: 'user', message: { role: 'user', content: text } })
    const path = fileOf('deep/a.jsonl', [said('Before.')])
    const [open, close] = ['['.repeat(200_000), ']'.repeat(200_000)]
    appendFileSync(path, `{"type":"user","message":{"role":"user","content":${open}${close}}}\n`)
    appendFileSync(path, `${JSON.stringify(said('After.'))}\n`)
    expect(sumOf(await bring('claude-code', path, store))).toMatchObject({ brought: 2, left: 1 })
  })

  it('loses no message after a line with too many results', async () => {
    const store = openMemoryStore()
    const content = Array.from({ length: 5_000 }, (_, index) => ({
      ...{ type: 'tool_result', tool_use_id: `c${index}`, content: 'ok' },
    }))
    const said = { type: 'user', message: { role: 'user', content: 'The next line.' } }
    const path = fileOf('wide/a.jsonl', [
      { type: 'user', message: { role: 'user', content } },
      said,
    ])
    const report = await bring('claude-code', path, store)
    expect(sumOf(report)).toMatchObject({ brought: 2, before: 0 })
    const differences = report.profiles[0]?.conversations[0]?.differences
    expect(differences).toEqual(['905 messages were left: one line can hold at most 4095.'])
  })

  it('imports only new lines of a grown log, and a torn line once it is whole', async () => {
    const path = fileOf('grown.jsonl', [claude('a', null, 'user', 'first')])
    const next = JSON.stringify(claude('b', 'a', 'assistant', 'second'))
    appendFileSync(path, next.slice(0, 40))
    const store = openMemoryStore()
    expect(sumOf(await bring('claude-code', path, store))).toMatchObject({ brought: 1, left: 1 })
    appendFileSync(path, `${next.slice(40)}\n`)
    const again = await bring('claude-code', path, store)
    expect(sumOf(again)).toMatchObject({ in: 2, brought: 1, before: 1, left: 0 })
    expect((await textsOf(store)).shown).toEqual(['first', 'second'])
    expect(sumOf(await bring('claude-code', path, store))).toMatchObject({ brought: 0, before: 2 })
  })

  it('writes nothing in a dry run', async () => {
    const path = fileOf('dry.jsonl', [claude('a', null, 'user', 'first')])
    const store = openMemoryStore()
    expect(sumOf(await bring('claude-code', path, store, true))).toMatchObject({ brought: 1 })
    expect(await store.listSessions({ limit: 9 })).toEqual([])
  })

  it('leaves a file that is something else, says why, and brings the others', async () => {
    fileOf('mixed/one.jsonl', [claude('a', null, 'user', 'first')])
    fileOf('mixed/two.jsonl', [{ hello: 'world' }])
    writeFileSync(join(folder, 'mixed', 'three.jsonl'), '\0\xff not json\n{"a":\n')
    writeFileSync(join(folder, 'mixed', 'four.jsonl.gz'), 'not gzip')
    const store = openMemoryStore()
    const report = await bring('claude-code', join(folder, 'mixed'), store)
    expect(sumOf(report)).toMatchObject({ brought: 1, left: 3 })
    const told = report.profiles[0]?.conversations.map(({ outcome, sessionId }) => [
      outcome,
      sessionId,
    ])
    expect(told?.sort()).toEqual([['new', 'one'], ...[1, 2, 3].map(() => ['unreadable', ''])])
  })
})

describe('importing Codex', () => {
  const item = (second: number, payload: JsonObject): JsonObject => ({
    ...{ timestamp: at(second), type: 'response_item' },
    payload,
  })
  const said = (role: string, text: string): JsonObject => ({
    ...{ type: 'message', role },
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  })

  it('imports turns, instructions and compactions, with rolled-back messages aside', async () => {
    const path = fileOf('rollout-1.jsonl', [
      { timestamp: at(0), type: 'session_meta', payload: { id: 'r-1', instructions: 'Be brief.' } },
      item(1, said('user', 'first')),
      { timestamp: at(1), type: 'event_msg', payload: { type: 'user_message', message: 'first' } },
      { timestamp: at(2), type: 'compacted', payload: { message: 'It began.' } },
      item(3, said('user', 'a mistake')),
      item(4, said('assistant', 'done so')),
      {
        timestamp: at(5),
        type: 'event_msg',
        payload: { type: 'thread_rolled_back', num_turns: 1 },
      },
      item(6, said('user', 'better')),
    ])
    const store = openMemoryStore()
    expect(sumOf(await bring('codex', path, store))).toMatchObject({ in: 8, brought: 5, silent: 3 })
    expect(await textsOf(store)).toEqual({
      id: 'r-1',
      all: ['first', 'a mistake', 'done so', 'better'],
      ...{ shown: ['better'], beside: ['a mistake', 'done so'], summary: 'It began.' },
    })
  })
})

describe('importing pi', () => {
  const entry = (id: string, parentId: string | null, role: string, text: string): JsonObject => ({
    ...{ type: 'message', id, parentId, timestamp: at(1) },
    message: { role, content: [{ type: 'text', text }] },
  })

  it('imports the active branch, with the entries that a compaction kept', async () => {
    const path = fileOf('session.jsonl', [
      { type: 'session', version: 3, id: 'p-1', timestamp: at(0), cwd: '' },
      entry('a', null, 'user', 'first'),
      entry('b', 'a', 'assistant', 'left behind'),
      entry('c', 'a', 'assistant', 'second'),
      entry('d', 'c', 'user', 'kept'),
      {
        ...{ type: 'compaction', id: 'e', parentId: 'd', timestamp: at(2) },
        ...{ summary: 'It began.', firstKeptEntryId: 'd' },
      },
      entry('f', 'e', 'assistant', 'third'),
    ])
    const store = openMemoryStore()
    expect(sumOf(await bring('pi', path, store))).toMatchObject({ in: 7, brought: 6, silent: 1 })
    expect(await textsOf(store)).toEqual({
      id: 'p-1',
      all: ['first', 'left behind', 'second', 'kept', 'third'],
      ...{ shown: ['kept', 'third'], beside: ['left behind'], summary: 'It began.' },
    })
  })
})

/** Calls, results and texts, in no order: the codecs gather what a reply's lines hold. */
function partsOf(messages: readonly Message[]): readonly string[] {
  return messages
    .filter(({ role }) => role !== 'system' && role !== 'handoff')
    .flatMap((message) => ('parts' in message ? (message.parts as readonly Part[]) : []))
    .map((part) => {
      if (part.type === 'tool-call') return `call ${part.id}`
      if (part.type === 'tool-result') return `result ${part.callId}`
      return 'text' in part ? `${part.type} ${part.text}` : part.type
    })
    .sort()
}

describe('importing real logs', () => {
  const corpus = [
    ['claude-code', 'claude-code', claudeCodeFormat],
    ['pi', 'pi-mono', piFormat],
    ['codex', 'codex', codexFormat],
  ] as const

  it.for(corpus)(
    'of %s shows next what the program would, with every line accounted for',
    { timeout: 120_000 },
    async ([format, name, codec]) => {
      const place = corpusDir()
      const logs = place === undefined ? [] : await findLogs(join(place, name), format)
      const chosen = logs.filter((_, index) => index % Math.ceil(logs.length / 12) === 0)
      const sample = join(import.meta.dirname, '../fixtures/sessions', `${format}.jsonl`)
      for (const path of [sample, ...chosen]) {
        const documents = (await readLog(path)).flatMap((line) => line.documents ?? [])
        if (codec.reject(documents) !== undefined) continue
        const store = openMemoryStore()
        expect(sumOf(await bring(format, path, store)).left).toBe(0)
        const [session] = await store.listSessions({ limit: 1 })
        if (session === undefined) throw new Error('no session')
        const view = await store.readContext({ sessionId: session.id })
        const shown = (view?.entries ?? [])
          .filter(({ number, kind }) => number > (view?.covers ?? 0) && kind !== 'turn')
          .flatMap((entry) => storedMessage(entry) ?? [])
        const wanted = codec.parse(documents).messages.filter(isNoSummary)
        expect({ path, parts: partsOf(shown) }).toEqual({ path, parts: partsOf(wanted) })
        const handoff = view?.entries.find(({ kind }) => kind === 'compaction')
        if (path === sample) {
          expect(JSON.stringify(handoff)).toContain('Still to do: invite the guests.')
          expect(TURNS[0]?.ask).toContain(session.title ?? 'no title')
          if (format === 'codex') expect(JSON.stringify(handoff)).toContain(TURNS[0]?.ask)
        }
        await store.close()
      }
    },
  )

  it('that are compressed are read as well', async () => {
    const path = join(folder, 'packed.jsonl.gz')
    writeFileSync(path, gzipSync(`${JSON.stringify(claude('a', null, 'user', 'first'))}\n`))
    const store = openMemoryStore()
    await bring('claude-code', path, store)
    expect(await textsOf(store)).toMatchObject({ id: 'packed', shown: ['first'] })
  })
})

/** A compaction is a handoff here and a message there; Codex' tells a whole history. */
function isNoSummary({ origin }: Message): boolean {
  const isInside = origin?.format === 'codex' && origin.fields?.['line'] === null
  const isSummary = origin?.fields?.['isCompactSummary'] === true || origin?.shape === 'compaction'
  return !isInside && !isSummary
}
