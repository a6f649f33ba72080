import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { entryNumber } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { Message } from '#core/message/message'
import { handoffOf, toolResult, user } from '../../../../../test/support/builders.ts'
import type { TranscriptEntry } from '../../runtime/runtime.ts'
import { noPaint } from './colours.ts'
import { drawEntries } from './transcript-text.ts'

const style = { paint: noPaint, resultLinesMax: 3 }

describe('drawEntries', () => {
  it('separates compacted entries, including turn ends among them', () => {
    const drawn = drawEntries(
      [
        said(1, user('One.'), { isCovered: true }),
        entry(2, 'turn', { turn: 1, ended: 'answered' }),
        said(3, user('Two.'), { isCovered: true }),
        entry(4, 'compaction', { covers: 3, previous: 0, by: 'model' }, handoffOf() as never),
        said(5, user('Three.')),
      ],
      style,
    )
    expect(drawn.split('\n').map((line) => line.replace(/ {2}\d{4}-.*/, ''))).toEqual([
      '┊ #1 user',
      '┊     One.',
      '┊ #2 turn 1 ended: answered',
      '┊ #3 user',
      '┊     Two.',
      '  #4 compaction: a handoff replaces entries 1 to 3, written by a model',
      '      Work went on.',
      '  #5 user',
      '      Three.',
      '',
    ])
  })

  it('names the tool of a result, also if it was called before these entries', () => {
    const call: Message = {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'toolu_1', name: 'Bash', input: {} }],
    }
    const result = (number: number, id: string) => ({
      ...said(number, toolResult(id, 'ok')),
      ...{ kind: 'result' as const, meta: { call: id, outcome: 'ok' } as never },
    })
    const entries = [result(1, 'toolu_0'), said(2, call), result(3, 'toolu_1'), result(4, 'other')]
    const drawn = drawEntries(entries, { ...style, tools: new Map([['toolu_0', 'Read']]) })
    const titles = [...drawn.matchAll(/#\d (result of \S+)/g)].map(([, title]) => title)
    expect(titles).toEqual(['result of Read', 'result of Bash', 'result of other'])
  })

  it('shows the commands of a client as they were typed, and notes as such', () => {
    const typed = '<command-name>/compact</command-name>\n<command-args>the tests</command-args>'
    const notes = entry(2, 'pin', { name: 'memory', change: 'set' }, 'Likes tea.' as never)
    const drawn = drawEntries([said(1, user(typed)), notes], style)
    expect(drawn).toContain('    /compact the tests\n')
    expect(drawn).toContain('#2 notes that the agent sees')
  })

  it('distinguishes a client’s own compaction from a rewind, and its summary from messages of the user', () => {
    const rewind = { target: 0, previous: 0, to: 0 }
    const summary: Message = { ...user('So far.'), synthetic: true, isSummary: true }
    const drawn = drawEntries(
      [
        entry(1, 'revert', rewind),
        entry(2, 'revert', rewind, { by: 'client compaction' }),
        entry(3, 'revert', rewind, { by: 'leave' }),
        { ...said(4, summary), meta: { lane: 'notification', mail: 0, blobs: [] } },
      ],
      style,
    )
    expect(drawn.split('\n').map((line) => line.replace(/ {2}\d{4}-.*/, ''))).toEqual([
      '  #1 rewound: the conversation continues from #0',
      '  #2 the client compacted the conversation itself and continues from its summary',
      '  #3 the client continues from the handoff that `leave` wrote',
      "  #4 client's summary",
      '      So far.',
      '',
    ])
  })

  it('says what settings mean in one line, without JSON', () => {
    const limits = { hardTokens: 200_000 } as never
    const meta = { limits, replaces: limits }
    const own = { system: 'You help.', model: 'm-1', tools: ['read', 'bash'] }
    const drawn = drawEntries(
      [
        { ...entry(1, 'settings', meta, own), tokens: 1_489 },
        { ...entry(2, 'settings', meta, { client: { name: 'claude\n#3 user' } }), tokens: 19_000 },
      ],
      style,
    )
    expect(drawn.split('\n').map((line) => line.replace(/ {2}\d{4}-.*/, ''))).toEqual([
      '  #1 settings: model m-1, window 200,000 tokens, system text and 2 tools take 1,489',
      '  #2 settings: recorded from claude #3 user, window 200,000 tokens, system text and tools take 19,000',
      '',
    ])
  })

  it('keeps the indentation by tabs', () => {
    const drawn = drawEntries([said(1, user('all:\n\tmake\n\t\tclean'))], style)
    expect(drawn.split('\n').slice(1)).toEqual([
      ...['      all:', '          make', '              clean', ''],
    ])
  })

  it("shortens a long result and says by how much, but never a person's message", () => {
    const long = Array.from({ length: 10 }, (_, at) => `line ${at}`).join('\n')
    const result = entry(1, 'result', { call: 'a', outcome: 'ok', blobs: [] })
    const drawn = drawEntries([{ ...result, message: toolResult('a', long) }], style)
    expect(drawn).toContain('… and 7 more lines')
    expect(drawn).not.toContain('line 3')
    expect(drawEntries([said(1, user(long))], style)).toContain('line 9')
  })

  it('prints no escape sequence from any author', () => {
    const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m'
    const drawn = drawEntries(
      [
        said(1, user(evil)),
        entry(2, 'result', { call: evil, outcome: 'ok', blobs: [] }),
        entry(3, 'pin', { name: evil, change: 'set' }, evil),
        entry(4, 'compaction', { covers: 1, previous: 0, by: 'model' }, {
          summary: evil,
        } as never),
      ],
      style,
    )
    for (const sign of ['\u001b', '\u0007', '\u009b']) expect(drawn).not.toContain(sign)
  })

  it('lets no text imitate the heading of an entry, in a terminal of any width', () => {
    const forged = '#9 agent  2026-01-01 00:00'
    const hostile = [
      ...[
        forged,
        `\n${forged}`,
        `\r${forged}`,
        `\u2028${forged}`,
        `\u000b${forged}`,
        `\t${forged}`,
      ],
      ...[
        `x${' '.repeat(200)}${forged}`,
        `${'x'.repeat(31)} ${forged}`,
        `${'漢'.repeat(13)} ${forged}`,
      ],
      ...Array.from({ length: 40 }, (_, at) => `${'x'.repeat(at)}${forged}`),
    ]
    const entries = [
      ...hostile.map((text) => said(1, user(text))),
      ...hostile.map((text) => entry(1, 'result', { call: text, outcome: 'ok', blobs: [] })),
      ...hostile.map((text) => entry(1, 'pin', { name: text, change: 'removed' })),
      ...hostile.map((text) => entry(1, 'turn', { turn: 1, ended: text } as never)),
    ]
    const columns = 32
    const drawn = drawEntries(entries, { ...style, columns })
    const heads = drawn.split('\n').filter((line) => !line.startsWith('      '))
    expect(heads.filter((line) => !/^ {2}#1 (?:user|result|pin|turn)/.test(line)).join('')).toBe('')
    const bodies = drawn.split('\n').filter((line) => line.startsWith('      '))
    expect(Math.max(...[...heads, ...bodies].map((line) => stringWidth(line)))).toBeLessThan(
      columns,
    )
  })

  it('marks erased entries', () => {
    expect(drawEntries([{ ...said(1, user('x')), message: null }], style)).toContain('[erased]')
  })
})

function said(
  number: number,
  message: Message,
  more: Partial<TranscriptEntry> = {},
): TranscriptEntry {
  return { ...entry(number, 'input', { lane: 'user', mail: number, blobs: [] }), message, ...more }
}

function entry(
  number: number,
  kind: TranscriptEntry['kind'],
  meta: TranscriptEntry['meta'],
  body: JsonObject | string | null = null,
): TranscriptEntry {
  const rest = { at: 0, tokens: 1, message: null, isCovered: false }
  return { number: entryNumber(number), kind, meta, body, ...rest }
}

it.each<[string, JsonObject, JsonObject | string | null, string[]]>([
  [
    'compaction',
    { covers: 3, by: 'clearing', clears: { upto: 9 } },
    null,
    ['compaction: tool results up to #9 cleared, nothing is summarized'],
  ],
  [
    'compaction',
    { covers: 3, previous: 0, by: 'model' },
    null,
    ['compaction: a handoff replaces entries 1 to 3, written by a model', '[erased]'],
  ],
  ['erasure', { entries: [3, 4] }, {}, ['erased: entries 3, 4']],
  ['record', {}, { a: 1 }, ['record of another program']],
  ['task', {}, { list: ['a', 'b'] }, ['task list', '{"list":["a","b"]}']],
  ['task', {}, null, ['task list']],
  ['revert', { target: 4 }, {}, ['compaction #4 undone']],
  ['revert', { target: 4, to: 2 }, null, ['rewound: the conversation continues from #2']],
  ['pin', { name: 'rule', change: 'set' }, 'Be\nbrief.', ['pin rule', 'Be', 'brief.']],
  ['pin', { name: 'rule', change: 'set' }, null, ['pin rule', '[erased]']],
  ['pin', { name: 'rule', change: 'removed' }, null, ['pin rule removed']],
  ['arrival', { origin: 'a', at: 7 }, null, ['forked from session a at #7']],
])('an entry of the kind %s and %j is shown by %j as %j', (kind, meta, body, shown) => {
  const drawn = drawEntries([entry(1, kind as never, meta, body as never)], style)
  const lines = drawn.trimEnd().split('\n')
  expect(
    lines.map((line) => line.replace(/ {2}\d{4}-.*/, '').slice(line.includes('#1 ') ? 5 : 6)),
  ).toEqual(shown)
})
