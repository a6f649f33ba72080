import { expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { textOf } from '#core/message/text'
import type { LogFormat } from './files.ts'
import { LOG_READERS, type Reading } from './reading.ts'

/** A line of the log, and what becomes of it. */
type Case = readonly [
  format: LogFormat,
  title: string,
  ...(readonly [line: string, becomes: string])[],
]

const CASES: readonly Case[] = [
  [
    'claude-code',
    'a branch that was left, and a sub-agent beside',
    ['{"type":"summary","summary":"About."}', '-'],
    [
      '{"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"message":{"role":"user","content":"a"}}',
      'messages: user: a',
    ],
    [
      '{"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":false,"message":{"role":"assistant","content":"b"}}',
      'aside: assistant: b',
    ],
    [
      '{"type":"user","uuid":"3","parentUuid":"1","isSidechain":true,"message":{"role":"user","content":"c"}}',
      'aside: user: c',
    ],
    [
      '{"type":"assistant","uuid":"4","parentUuid":"1","isSidechain":false,"message":{"role":"assistant","content":"d"}}',
      'messages: assistant: d',
    ],
    ['{"type":"system","uuid":"5","parentUuid":"4","isSidechain":false,"content":"note"}', '-'],
  ],
  [
    'claude-code',
    'the log of a sub-agent',
    [
      '{"type":"user","uuid":"1","parentUuid":null,"isSidechain":true,"message":{"role":"user","content":"a"}}',
      'messages: user: a',
    ],
    [
      '{"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":true,"message":{"role":"assistant","content":"b"}}',
      'messages: assistant: b',
    ],
  ],
  [
    'claude-code',
    'compactions, the second of which keeps a part',
    [
      '{"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"message":{"role":"user","content":"a"}}',
      'messages: user: a',
    ],
    [
      '{"type":"system","subtype":"compact_boundary","uuid":"2","parentUuid":null,"isSidechain":false,"compactMetadata":{"preservedMessages":{"uuids":["lost"]}}}',
      '-',
    ],
    [
      '{"type":"user","uuid":"3","parentUuid":"2","isSidechain":false,"isCompactSummary":true,"message":{"role":"user","content":"Sum."}}',
      'compaction from null: Sum.',
    ],
    [
      '{"type":"user","uuid":"4","parentUuid":"3","isSidechain":false,"message":{"role":"user","content":"b"}}',
      'messages: user: b',
    ],
    [
      '{"type":"assistant","uuid":"5","parentUuid":"4","isSidechain":false,"message":{"role":"assistant","content":"c"}}',
      'messages: assistant: c',
    ],
    [
      '{"type":"system","subtype":"compact_boundary","uuid":"6","parentUuid":null,"isSidechain":false,"compactMetadata":{"preservedMessages":{"uuids":["5","4","9"]}}}',
      '-',
    ],
    [
      '{"type":"user","uuid":"7","parentUuid":"6","isSidechain":false,"isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"More."},{"type":"text","text":"Still."}]}}',
      'compaction from 3: More.\nStill.',
    ],
    [
      '{"type":"user","uuid":"8","parentUuid":"7","isSidechain":false,"message":{"role":"user","content":"d"}}',
      'messages: user: d',
    ],
  ],
  [
    'claude-code',
    'a prompt that waited',
    [
      '{"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"message":{"role":"user","content":"a"}}',
      'messages: user: a',
    ],
    [
      '{"type":"attachment","uuid":"2","parentUuid":"1","isSidechain":false,"attachment":{"type":"queued_command","prompt":"b"}}',
      'messages: user: b',
    ],
    [
      '{"type":"attachment","uuid":"3","parentUuid":"2","isSidechain":false,"attachment":{"type":"other"}}',
      '-',
    ],
  ],
  [
    'codex',
    'a header, instructions, turns rolled back',
    ['{"type":"session_meta","payload":{"id":"s","instructions":"Be brief."}}', '-'],
    [
      '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}}',
      'aside: user (program): <environment_context>x',
    ],
    [
      '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}',
      'aside: user: a',
    ],
    [
      '{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}}',
      'aside: assistant: b',
    ],
    ['{"type":"event_msg","payload":{"type":"thread_rolled_back"}}', '-'],
    [
      '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"c"}]}}',
      'aside: user: c',
    ],
    ['{"type":"event_msg","payload":{"type":"other"}}', '-'],
    [
      '{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"d"}]}}',
      'aside: assistant: d',
    ],
    ['{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}', '-'],
    [
      '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"e"}]}}',
      'aside: user: e',
    ],
    ['{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":9}}', '-'],
    [
      '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"f"}]}}',
      'messages: user: f',
    ],
  ],
  [
    'codex',
    'compactions, behind which nothing is rolled back',
    [
      '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}',
      'messages: user: a',
    ],
    [
      '{"type":"compacted","payload":{"message":"Sum.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},7]}}',
      'compaction from null: a\n\nSum.',
    ],
    ['{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}', '-'],
    [
      '{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}]}}',
      'compaction from null: a\n\nb',
    ],
    ['{"type":"compacted","payload":{}}', 'compaction from null: '],
    ['{"type":"compacted"}', 'compaction from null: '],
  ],
  [
    'codex',
    'a header of an earlier version',
    ['{"id":"s","timestamp":"t","instructions":"Be brief."}', '-'],
    ['{"id":"s","timestamp":"t"}', '-'],
    [
      '{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}',
      'messages: user: a',
    ],
  ],
  [
    'codex',
    'an earlier version without its header',
    [
      '{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"hm"}]}',
      'messages: assistant: hm',
    ],
    [
      '{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}',
      'messages: user: a',
    ],
  ],
  [
    'pi',
    'a tree with a branch that was left',
    ['{"type":"session","version":3,"id":"s","modelId":"m"}', '-'],
    [
      '{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"a"}}',
      'messages: user: a',
    ],
    [
      '{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"text","text":"b"}]}}',
      'messages: assistant: b',
    ],
    [
      '{"type":"compaction","id":"3","parentId":"2","summary":"Left.","firstKeptEntryId":"1"}',
      'aside: user (program): Left.',
    ],
    [
      '{"type":"message","id":"4","parentId":"2","message":{"role":"user","content":"c"}}',
      'messages: user: c',
    ],
    [
      '{"type":"compaction","id":"5","parentId":"4","summary":"Sum.","firstKeptEntryId":"4"}',
      'compaction from 4: Sum.',
    ],
    [
      '{"type":"compaction","id":"6","parentId":"5","summary":"More.","firstKeptEntryId":"none"}',
      'compaction from null: More.',
    ],
    ['{"type":"label","id":"7","parentId":"6"}', '-'],
    ['{"type":"session","id":"8"}', '-'],
  ],
  [
    'pi',
    'lines without a tree',
    ['{"type":"session","id":"s"}', '-'],
    ['{"type":"message","message":{"role":"user","content":"a"}}', 'messages: user: a'],
    ['{"type":"compaction","summary":"Sum.","firstKeptEntryIndex":1}', 'compaction from 1: Sum.'],
    ['{"type":"compaction","summary":"More."}', 'compaction from null: More.'],
    ['{"type":"compaction"}', '-'],
    ['{"type":"message","id":"x","message":{"role":"user","content":"b"}}', 'messages: user: b'],
  ],
  [
    'pi',
    'parents in a circle',
    [
      '{"type":"message","id":"1","parentId":"2","message":{"role":"user","content":"a"}}',
      'messages: user: a',
    ],
    [
      '{"type":"message","id":"2","parentId":"1","message":{"role":"user","content":"b"}}',
      'messages: user: b',
    ],
    [
      '{"type":"message","id":"3","parentId":"lost","message":{"role":"user","content":"c"}}',
      'aside: user: c',
    ],
    [
      '{"type":"message","id":"4","parentId":"2","message":{"role":"user","content":"d"}}',
      'messages: user: d',
    ],
  ],
]

it.each(CASES.map(([format, title, ...lines]) => [format, title, lines] as const))(
  '%s: %s',
  (format, _, lines) => {
    const documents = lines.map(([line]) => JSON.parse(line) as JsonObject)
    const shown = LOG_READERS[format].read(documents).map(inShort)
    expect(shown).toEqual(lines.map(([, becomes]) => becomes))
  },
)

function inShort(reading: Reading): string {
  if (reading.kind === 'silent') return '-'
  if (reading.kind === 'compaction') return `compaction from ${reading.keptFrom}: ${reading.text}`
  const said = reading.messages.map(
    (message) =>
      `${message.role}${message.role === 'user' && message.synthetic ? ' (program)' : ''}: ${textOf(message)}`,
  )
  return `${reading.kind}: ${said.join('; ')}`
}

it('a log tells its id, its system text and its model', () => {
  const { pi, codex, 'claude-code': claude } = LOG_READERS
  const nothing = { id: null, system: null, model: null }
  expect(claude.facts([{ id: 'a', model: 'b' }])).toEqual(nothing)
  expect(codex.facts([])).toEqual(nothing)
  expect(codex.facts([{ id: 7 }])).toEqual(nothing)
  expect(codex.facts([{ id: 'c' }, { id: 'd' }])).toEqual({ ...nothing, id: 'c' })
  const meta = { type: 'session_meta', payload: { id: 'c', base_instructions: { text: 'Brief.' } } }
  expect(codex.facts([meta])).toEqual({ id: 'c', system: 'Brief.', model: null })
  expect(pi.facts([{ type: 'other' }])).toEqual(nothing)
  const header = { type: 'session', id: 'p', modelId: 'm' }
  expect(pi.facts([{ type: 'other' }, header, { ...header, id: 'q' }])).toEqual({
    ...{ id: 'p', system: null, model: 'm' },
  })
  expect(pi.facts([{ type: 'session', id: 7, modelId: 7 }])).toEqual(nothing)
})
