import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '../../packages/core/src/base/ids.ts'
import { DIALECTS } from '../../packages/core/src/message/dialect.ts'
import { render } from '../../packages/core/src/message/dialects/render.ts'
import { buildContext } from '../../packages/core/src/session/context/build.ts'
import { LIMITS } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { renderImport } from '../../packages/server/src/migration/import-text.ts'
import { dumps, type Py, PyFloat } from './homes/python-json.ts'
import { SAMPLE_SCHEMAS, unpackSample } from './homes/sample-stores.ts'
import { bring } from './judges/bring.ts'
import { judgeWayBack } from './judges/round-trip.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-exact-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a store that Hermes wrote', () => {
  it.each(SAMPLE_SCHEMAS)(
    'of schema %i is imported and exported in every column',
    async (schema) => {
      const path = unpackSample(schema, folder)
      const store = openMemoryStore()
      const report = await bring(path, store)
      expect(await judgeWayBack(store, path, join(folder, `back-${schema}.db`))).toEqual([])
      if (schema === 26) {
        expect(report.profiles[0]?.kinds?.given).toEqual({ calls: 41, results: 41, pictures: 0 })
        expect(renderImport(report)).toContain('Arrived: 41 of 41 calls, 41 of 41 results')
      }
    },
  )

  it('of schema 26 continues in the format of every provider, calls with their results', async () => {
    const store = openMemoryStore()
    await bring(unpackSample(26, folder), store)
    const source = await store.readContext({ sessionId: sessionId('20260602_090000_abc123') })
    if (source === null) throw new Error('no session')
    const { pieces } = buildContext(source, LIMITS, entryNumber(source.entries.length))
    const messages = pieces.map(({ message }) => message)
    const question = { role: 'user', parts: [{ type: 'text', text: 'and now?' }] } as const
    const words: { readonly [dialect: string]: readonly [calls: RegExp, results: RegExp] } = {
      'openai-chat': [/"type":"function"/g, /"role":"tool"/g],
      'openai-responses': [/"type":"function_call"/g, /"type":"function_call_output"/g],
      anthropic: [/"type":"tool_use"/g, /"type":"tool_result"/g],
      gemini: [/"functionCall":/g, /"functionResponse":/g],
      strict: [/\[call read_file\]/g, /\[result of read_file\]/g],
    }
    for (const dialect of DIALECTS) {
      const wire = JSON.stringify(render([...messages, question], dialect))
      const found = words[dialect]?.map((word) => wire.match(word)?.length ?? 0)
      expect([dialect, ...(found ?? [])]).toEqual([dialect, 3, 3])
    }
  })

  it('of schema 26 keeps calls, results and pictures in spellings of every kind', async () => {
    const path = unpackSample(26, folder)
    const url = `data:image/png;base64,${Buffer.alloc(6_000, 7).toString('base64')}`
    const call = (id: string, more: { readonly [key: string]: Py } = {}): Py => ({
      ...{ id, type: 'function', function: { name: 'read', arguments: '{"path": "ä.txt"}' } },
      ...more,
    })
    const contents: Py[] = [
      [
        { type: 'text', text: 'häh? 日本 😀' },
        { type: 'image_url', image_url: { url } },
      ],
      [{ type: 'image_url', image_url: { url, detail: 'high' } }, 'bare'],
      [{ image_url: { url }, type: 'image_url' }],
      [
        { type: 'input_text', text: 'hello' },
        { type: 'input_image', image_url: url },
      ],
      [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: url.slice(22) } }],
      [{ type: 'text', text: '\ud800 half', score: new PyFloat(1), big: new PyFloat(1e16) }],
      [{ type: 'text', text: 'x', cache: Number.NaN }],
      [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_001)}` } }],
      { text: 'a dict', inner: [1, 2] },
    ]
    const calls: Py[] = [
      [call('c1'), call('c2')],
      [call('fc_3', { call_id: 'c3' })],
      [{ function: { arguments: '{}', name: 'swapped' }, id: 'c4', type: 'function' }],
      [call('c5', { index: 0, score: new PyFloat(0.5), extra: new PyFloat(Number.NaN) })],
    ]
    const answers = [['c1', 'c2'], ['fc_3'], ['c4'], ['c5']]
    const database = new DatabaseSync(path)
    const add = database.prepare(
      `insert into messages (session_id, role, content, tool_calls, tool_call_id, timestamp, token_count)
       values ('20260602_090000_abc123', ?, ?, ?, ?, ?, ?)`,
    )
    let at = 1_794_720_000.123_456_7
    const next = () => (at += 1.000_000_3)
    for (const content of contents) {
      add.run('user', `\0json:${dumps(content)}`, null, null, next(), null)
      add.run(
        'user',
        `\0json:${dumps(content, { ensureAscii: false })}`.toWellFormed(),
        null,
        null,
        next(),
        7,
      )
    }
    for (const [index, list] of calls.entries()) {
      add.run('assistant', index % 2 ? null : '', dumps(list), null, next(), null)
      for (const id of answers[index] ?? []) {
        add.run('tool', `\0json:${dumps(contents[0] ?? null)}`, null, id, next(), 2 ** 53 - 1)
      }
    }
    add.run('assistant', null, '{"broken', null, next(), null)
    add.run('oracle', 'who?', null, null, next(), null)
    add.run('assistant', '[CONTEXT COMPACTION — REFERENCE ONLY] so far', null, null, next(), null)
    database.exec(`update messages set content = x'0001ff' where role = 'oracle'`)
    database.close()
    const store = openMemoryStore()
    const report = await bring(path, store)
    expect(await judgeWayBack(store, path, join(folder, 'spellings.db'))).toEqual([])
    const { given, made } = report.profiles[0]?.kinds ?? {}
    expect(made).toEqual(given)
    expect(given).toMatchObject({ calls: 41 + 5, pictures: 6 * 2 + 5 })
  })
})
