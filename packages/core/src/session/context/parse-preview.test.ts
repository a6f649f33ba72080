import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { LEDGER_KINDS } from '../../message/handoff/handoff.ts'
import { parsePreview } from './parse-preview.ts'

const origin = { format: 'openai-chat', at: 0, fields: {}, shape: 'text', others: [] }
const preserved = {
  number: 3,
  state: 'open',
  message: { role: 'user', origin, parts: [{ type: 'text', text: 'Measure the pier.', origin }] },
}
const task = { text: 'Measure the pier.', status: 'pending' }
const file = { path: 'harbour/map.ts', access: 'read', hash: 'c0ffee', number: 2 }
const named = { kind: 'path', text: 'harbour/map.ts', count: 2, number: 1 }
const handoff = {
  ...{ version: 1, by: 'model', covers: 9, kept: 4, compactions: 1, summary: 'The map was read.' },
  ...{ preserved: [preserved], tasks: [task], files: [file], ledger: [named] },
  omitted: { from: 1, to: 2, count: 2 },
  rules: [{ text: 'Never push.', number: 1, at: '2026-01-01', supersededBy: 5 }],
  host: [{ name: 'env', text: 'Linux', number: 1 }],
}
const preview = { base: 0, covers: 9, tokens: 120, carries: [4], handoff }

/** The preview with another value at a path; undefined takes the field away. */
function withAt(path: string, value: JsonValue | undefined): JsonObject {
  const changed = structuredClone(preview) as JsonObject
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let inner = changed as Record<string, JsonValue>
  for (const key of keys) inner = inner[key] as Record<string, JsonValue>
  if (value === undefined) delete inner[last]
  else inner[last] = value
  return changed
}

/** None of these counts anything. */
const COUNTLESS: JsonValue[] = [-1, 1.5, 2 ** 31, '3', null]

const PART = 'handoff.preserved.0.message.parts.0'
const ORIGIN = 'handoff.preserved.0.message.origin'
const SOURCE = { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0K' }

describe('parsePreview', () => {
  it('gives back a whole preview as it came', () => {
    expect(parsePreview(preview)).toEqual(preview)
  })

  it.each<[string, JsonValue | undefined]>([
    ['base', 7],
    ['tokens', 2 ** 31 - 1],
    ['carries', []],
    ['handoff.by', 'digest'],
    ['handoff.by', 'given'],
    ['handoff.summary', ''],
    ['handoff.preserved', []],
    ['handoff.preserved.0.state', 'answered'],
    ['handoff.preserved.0.truncated', true],
    ['handoff.tasks', []],
    ['handoff.tasks.0.status', 'running'],
    ['handoff.files', []],
    ['handoff.files.0.access', 'changed'],
    ['handoff.files.0.hash', undefined],
    ['handoff.ledger', []],
    ...LEDGER_KINDS.map((kind) => ['handoff.ledger.0.kind', kind] as [string, string]),
    ['handoff.omitted', undefined],
    ['handoff.rules', undefined],
    ['handoff.rules', []],
    ['handoff.rules.0.at', undefined],
    ['handoff.rules.0.supersededBy', undefined],
    ['handoff.host', undefined],
    ['handoff.host', []],
    [ORIGIN, undefined],
    [`${ORIGIN}.fields`, undefined],
    [`${ORIGIN}.shape`, undefined],
    [`${ORIGIN}.others`, undefined],
    [`${ORIGIN}.others`, [{ format: 'pi', at: 1 }]],
    [`${PART}.origin`, undefined],
    [PART, { type: 'image', source: SOURCE }],
    [PART, { type: 'file', source: SOURCE, name: 'map.png' }],
    [PART, { type: 'image', source: { kind: 'url', url: 'https://pier.example/map.png' } }],
    [PART, { type: 'file', source: { kind: 'id', id: 'file-1' } }],
    [PART, { type: 'opaque', provider: 'openai', value: null }],
  ])('takes %s = %j', (path, value) => {
    const changed = withAt(path, value)
    expect(parsePreview(changed)).toEqual(changed)
  })

  it('takes a preview that names no carried input as one without any', () => {
    expect(parsePreview(withAt('carries', undefined))).toEqual({ ...preview, carries: [] })
  })

  const required: [string, JsonValue[]][] = [
    ...['base', 'covers', 'tokens', 'handoff.covers', 'handoff.kept', 'handoff.compactions'].map(
      (path): [string, JsonValue[]] => [path, COUNTLESS],
    ),
    ['carries', [4, { 0: 4 }, [-1], [4, 'five']]],
    ['handoff', [null, 'a handoff', []]],
    ['handoff.version', [0, 2, '1']],
    ['handoff.by', ['user', '', 1]],
    ['handoff.summary', [1, null]],
    ...['preserved', 'tasks', 'files', 'ledger', 'rules', 'host'].map(
      (list): [string, JsonValue[]] => [`handoff.${list}`, [null, {}, 'none', [null], ['one']]],
    ),
    ['handoff.preserved.0.number', COUNTLESS],
    ['handoff.preserved.0.state', ['closed', '', 1]],
    ['handoff.preserved.0.truncated', [false, 'yes']],
    ['handoff.preserved.0.message', [null, 'words', []]],
    ['handoff.preserved.0.message.role', ['assistant', 'system', '']],
    ['handoff.preserved.0.message.parts', [null, {}, ['text']]],
    ...[ORIGIN, `${PART}.origin`].flatMap((path): [string, JsonValue[]][] => [
      [path, [null, 'pi', []]],
      [`${path}.format`, [1, null]],
      [`${path}.at`, COUNTLESS],
      [`${path}.fields`, [null, 'fields', []]],
      [`${path}.shape`, [1, null]],
      [`${path}.others`, [{}, null, ['pi'], [{ format: 'pi' }], [{ format: 'pi', at: 1 }, {}]]],
    ]),
    [`${PART}.type`, ['call', 'reasoning', '', 1]],
    [`${PART}.text`, [1, null]],
    [
      PART,
      [
        { type: 'image' },
        { type: 'image', source: 'iVBORw0K' },
        { type: 'image', source: { ...SOURCE, kind: 'base32' } },
        { type: 'file', source: { kind: 'base64', data: 'iVBORw0K' } },
        { type: 'file', source: { kind: 'base64', mediaType: 'image/png' } },
        { type: 'file', source: SOURCE, name: 1 },
        { type: 'image', source: { kind: 'url', id: 'file-1' } },
        { type: 'image', source: { kind: 'id', url: 'https://pier.example/map.png' } },
        { type: 'image', source: { id: 'file-1' } },
        { type: 'opaque', provider: 'openai' },
        { type: 'opaque', value: 'sealed' },
      ],
    ],
    ['handoff.tasks.0.text', [1, null]],
    ['handoff.tasks.0.status', ['done', '', 1]],
    ['handoff.files.0.path', [1, null]],
    ['handoff.files.0.access', ['written', '', 1]],
    ['handoff.files.0.hash', [1, null]],
    ['handoff.files.0.number', COUNTLESS],
    ['handoff.ledger.0.kind', ['toString', '', 1]],
    ['handoff.ledger.0.text', [1, null]],
    ['handoff.ledger.0.count', COUNTLESS],
    ['handoff.ledger.0.number', COUNTLESS],
    ['handoff.omitted', [null, [], 'none']],
    ...['from', 'to', 'count'].map((key): [string, JsonValue[]] => [
      `handoff.omitted.${key}`,
      COUNTLESS,
    ]),
    ['handoff.rules.0.text', [1, null]],
    ['handoff.rules.0.number', COUNTLESS],
    ['handoff.rules.0.at', [1, null]],
    ['handoff.rules.0.supersededBy', COUNTLESS],
    ['handoff.host.0.name', [1, null]],
    ['handoff.host.0.text', [1, null]],
    ['handoff.host.0.number', COUNTLESS],
  ]

  it.each(required.flatMap(([path, values]) => values.map((value) => [path, value] as const)))(
    'refuses %s = %j',
    (path, value) => {
      expect(parsePreview(withAt(path, value))).toBeNull()
    },
  )

  it.each([
    ...['base', 'covers', 'tokens', 'handoff', 'handoff.version', 'handoff.by', 'handoff.covers'],
    ...['handoff.kept', 'handoff.compactions', 'handoff.summary', 'handoff.preserved'],
    ...['handoff.tasks', 'handoff.files', 'handoff.ledger', 'handoff.preserved.0.number'],
    ...['handoff.preserved.0.state', 'handoff.preserved.0.message'],
    ...['handoff.preserved.0.message.role', 'handoff.preserved.0.message.parts'],
    ...[`${ORIGIN}.format`, `${ORIGIN}.at`, `${PART}.type`, `${PART}.text`],
    ...['handoff.tasks.0.text', 'handoff.tasks.0.status', 'handoff.files.0.path'],
    ...['handoff.files.0.access', 'handoff.files.0.number', 'handoff.ledger.0.kind'],
    ...['handoff.ledger.0.text', 'handoff.ledger.0.count', 'handoff.ledger.0.number'],
    ...['handoff.omitted.from', 'handoff.omitted.to', 'handoff.omitted.count'],
    ...['handoff.rules.0.text', 'handoff.rules.0.number'],
    ...['handoff.host.0.name', 'handoff.host.0.text', 'handoff.host.0.number'],
  ])('refuses a preview without %s', (path) => {
    expect(parsePreview(withAt(path, undefined))).toBeNull()
  })
})
