import { describe, expect, it } from 'vitest'
import type { CompactResult } from '#core/compaction/report/outcome'
import { type Canvas, explainResult } from './explain.ts'

const painted: Canvas = {
  columns: 100,
  coloured: false,
  paint: (colour, text) => `<${colour} ${text}>`,
}
const plain: Canvas = { columns: 100, coloured: false, paint: (_, text) => text }

const words = (text: string) => [{ type: 'text', text }]
const user = (text: string, more: object = {}) => ({ role: 'user', parts: words(text), ...more })

const STATS = {
  ...{ tokensBefore: 10_000, tokensAfter: 2_500, messagesBefore: 1_234, messagesAfter: 7 },
  kindsBefore: { system: 500, head: 8_000, tail: 1_000 },
  kindsAfter: { system: 500, preserved: 300, ledger: 200, summary: 400, tail: 600 },
  ...{ preserved: { kept: 3, truncated: 0, dropped: 0, open: 0 }, tasks: 0, files: 0 },
  ...{ ledger: { entries: 9 }, covered: 1_200, cleared: 0, by: 'digest' },
}
const LEDGER = ['url', 'url', 'path', 'path', 'path', 'date', 'id'].map((kind) => ({ kind }))
const HANDOFF = { preserved: [], tasks: [], ledger: LEDGER }

/** The lines of an explanation, with these figures and parts of the handoff. */
function linesOf(
  stats: object,
  {
    handoff = {},
    messages = [] as readonly object[],
    plan = { kind: 'compact', cut: 40 } as object,
  } = {},
  canvas = plain,
): string[] {
  const result = {
    ...{ outcome: 'compacted', explanation: 'It was full.', plan, stats: { ...STATS, ...stats } },
    messages: [{ role: 'handoff', handoff: { ...HANDOFF, ...handoff } }, ...messages],
  }
  return explainResult(result as unknown as CompactResult, canvas).split('\n')
}

describe('an explanation of a compaction', () => {
  it('has a bar for each context, the reason and a line for each kind', () => {
    expect(linesOf({})).toEqual([
      `before  10,000 tokens  1,234 messages  ###sss${'.'.repeat(49)}${'='.repeat(6)}`,
      'after    2,500 tokens      7 messages  ###sssuulhh====',
      '',
      '75% smaller. It was full.',
      '',
      '## beside         500  sent with every request: tool schemas',
      'ss system         500  system text and pins, byte for byte',
      'uu user           300  3 requests word for word',
      'll ledger         200  9 facts: 3 paths, 2 urls, 1 date and more',
      'hh summary        400  handoff written without a model (digest)',
      '.. head         8,000  1,200 messages replaced by the handoff',
      '== tail           600  newest messages word for word, from number 41 on',
      '',
    ])
  })

  it('is dim where a kind is gone, and bold where it counts', () => {
    const lines = linesOf({}, { messages: [user('Look.')] }, painted)
    expect(lines[3]).toBe('<bold 75% smaller.> It was full.')
    expect(lines[10]).toBe('.. <dim head         8,000  1,200 messages replaced by the handoff>')
    expect(lines.slice(12)).toEqual([
      ...['', '<bold To continue with>', '  newest request: Look.', ''],
    ])
  })

  it('is drawn in the colours of its kinds, which are all different', () => {
    const kinds = [
      ...['beside', 'system', 'protected', 'preserved', 'tasks', 'files', 'ledger', 'summary'],
      ...['head', 'tail', 'incoming'],
    ]
    const all = Object.fromEntries(kinds.slice(1).map((kind) => [kind, 100]))
    const stats = { tokensBefore: 1_100, tokensAfter: 1_100, kindsBefore: all, kindsAfter: all }
    const drawn = linesOf(stats, {}, { ...painted, coloured: true })
    const marks = drawn.slice(5, 16).map((line) => line.split(' ')[0]?.slice(1))
    expect(marks).toEqual([
      ...['gray', 'blue', 'blueBright', 'green', 'magenta', 'magentaBright', 'yellow', 'cyan'],
      ...['gray', 'white', 'greenBright'],
    ])
    const letters = linesOf(stats)
      .slice(5, 16)
      .map((line) => line.slice(0, 12).trim())
    expect(letters).toEqual([
      ...['## beside', 'ss system', 'pp protected', 'uu user', 'tt tasks', 'ff files'],
      ...['ll ledger', 'hh summary', '.. head', '== tail', '>> incoming'],
    ])
  })

  it.each<[string, object, string]>([
    [
      'preserved',
      { preserved: { kept: 1, truncated: 0, dropped: 0, open: 0 } },
      '1 request word for word',
    ],
    [
      'preserved',
      { preserved: { kept: 5, truncated: 1, dropped: 2, open: 3 } },
      '4 requests word for word, 3 still open, 1 shortened, 2 older left out',
    ],
    ['tasks', { tasks: 1 }, '1 open task'],
    ['tasks', { tasks: 2 }, '2 open tasks'],
    ['files', { files: 1 }, '1 file read or changed'],
    ['files', { files: 2_000 }, '2,000 files read or changed'],
    ['ledger', { ledger: { entries: 1 } }, '1 fact: 3 paths, 2 urls, 1 date and more'],
    ['summary', { by: 'model' }, 'handoff written by the command'],
    ['summary', { by: 'given' }, 'handoff from the given file'],
    ['summary', { by: undefined }, 'handoff written without a model (digest)'],
    ['head', { covered: 1 }, '1 message replaced by the handoff'],
    [
      'tail',
      { cleared: 1 },
      'newest messages word for word, from number 41 on, 1 large result shortened',
    ],
    [
      'tail',
      { cleared: 2 },
      'newest messages word for word, from number 41 on, 2 large results shortened',
    ],
    ['protected', {}, 'first messages, protected by the preset'],
    ['incoming', {}, 'the request to come, in full and last'],
  ])('says of %s with %j why it is there', (kind, stats, why) => {
    const kinds = { [kind]: 100 }
    const only = { tokensBefore: 100, tokensAfter: 100, kindsBefore: kinds, kindsAfter: kinds }
    const [, , , , , line = '', ...more] = linesOf({ ...only, ...stats })
    expect([line.split('  100  ')[1], more]).toEqual([why, ['']])
  })

  it('counts its messages from the first where nothing is replaced', () => {
    const [, , , , , , , , , , , tail] = linesOf({}, { plan: { kind: 'keep' } })
    expect(tail).toBe('== tail           600  newest messages word for word, from number 1 on')
  })

  it('ends with six things to continue with at most, the newest request first', () => {
    const open = (number: number, state = 'open') => ({
      state,
      number,
      message: user(`Do ${number}.`),
    })
    const handoff = {
      preserved: [open(4), open(5, 'answered'), open(6)],
      tasks: [
        { text: 'Paint.', status: 'running' },
        { text: 'Sweep.', status: 'pending' },
        { text: 'Rest.', status: 'pending' },
      ],
    }
    const messages = [user('First.'), user('Newest.'), user('Made up.', { synthetic: true })]
    const six = [
      ...['', 'To continue with', '  newest request: Newest.'],
      ...['  message 4: Do 4.', '  message 6: Do 6.'],
      ...['  task (running): Paint.', '  task (pending): Sweep.', '  task (pending): Rest.'],
    ]
    expect(linesOf({}, { handoff, messages }).slice(12)).toEqual([...six, ''])
    const more = { ...handoff, tasks: [...handoff.tasks, { text: 'Go.', status: 'pending' }] }
    expect(linesOf({}, { handoff: more, messages }).slice(12)).toEqual([
      ...[...six, '  and 1 more', ''],
    ])
  })

  it('clips a line at the width of the terminal', () => {
    const lines = linesOf({}, { messages: [user('x'.repeat(500))] })
    expect(lines.find((line) => line.startsWith('  newest'))).toHaveLength(100)
  })

  it('is one sentence where nothing was compacted', () => {
    const result = { outcome: 'unchanged', explanation: 'It fits.', stats: STATS, messages: [] }
    expect(explainResult(result as unknown as CompactResult, plain)).toBe('It fits.\n')
  })
})
