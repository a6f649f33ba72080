import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assistant, toolCall, toolResult, user } from '../../../../../test/support/builders.ts'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import type { JsonValue } from '../../base/json.ts'
import type { LedgerEntry } from '../../message/handoff/handoff.ts'
import { writeLedger } from '../../message/handoff/ledger-text.ts'
import type { Message } from '../../message/message.ts'
import { positionsFrom } from '../layout.ts'
import { buildLedger } from './build.ts'

/** Denser than the first guess, so that fitting takes a second attempt. */
const countTokens = (text: string) => Math.ceil(text.length / 2.5)

describe('buildLedger', () => {
  it('prefers names from the assistant’s tool arguments to names that it only read', () => {
    const head = [
      ...call('Read', { file_path: '/srv/app/typed.ts' }, 'import /srv/app/only_read.ts'),
      ...call('Grep', { pattern: 'planCompaction\\(', path: '/srv/app' }, '/srv/lib/found.ts:12:x'),
    ]
    expect(textsOf(build(head, { tokensMax: 10 }))).toContain('/srv/app/typed.ts')
    expect(textsOf(build(head, { tokensMax: 10 }))).not.toContain('/srv/lib/found.ts')
    expect(textsOf(build(head, { tokensMax: 200 }))).toContain('/srv/lib/found.ts')
  })

  it('does not repeat a line of the summary, and keeps times whole', () => {
    const head = [
      ...call('Bash', { command: 'git commit -m "Fix"' }, '[main 1a2b3c4] Fix'),
      assistant('Arrival: 09:30 PM, retries: 4'),
    ]
    const line = '#2 git commit -m "Fix" → [main 1a2b3c4] Fix'
    expect(ofKind(build(head), 'action')).toEqual([line])
    expect(ofKind(build(head, { summary: `- ${line}` }), 'action')).toEqual([])
    expect(ofKind(build(head, { summary: 'retries: 4' }), 'value')).toEqual(['Arrival: 09:30 PM'])
  })

  it('names actions with the number of the message that reports them', () => {
    const head = [
      assistant('I commit now.'),
      ...call('Bash', { command: 'git commit -m "Fix the gate"' }, '[main 1a2b3c4] Fix the gate'),
      ...call('send_message', { to: 'ops', text: 'deployed' }, 'sent'),
    ]
    expect(ofKind(build(head, { numberOf: positionsFrom(41) }), 'action')).toEqual([
      '#43 git commit -m "Fix the gate" → [main 1a2b3c4] Fix the gate',
      '#45 send_message to=ops text=deployed',
    ])
  })

  it('gives a failed command its exit code and its error text', () => {
    const output = 'Exit code 2\nsrc/gate.ts(3,1): error TS2304: Cannot find name Gate.'
    const entries = build(call('Bash', { command: 'npm run check 2>&1 | tail -20' }, output))
    expect(ofKind(entries, 'command')).toEqual(['npm run check (exit 2)'])
    expect(ofKind(entries, 'error')).toEqual([
      'src/gate.ts(3,1): error TS2304: Cannot find name Gate.',
    ])
  })

  it('keeps hashes, addresses, flags, dates and named numbers', () => {
    const head = [
      user('Use timeout: 30s and write to ops@example.org about https://example.org/a/1'),
      ...call('Bash', { command: 'git show 9fceb02d --name-only --since 2026-03-01' }, 'ok'),
    ]
    const text = writeLedger(build(head))
    for (const word of [
      'timeout: 30s',
      'ops@example.org',
      'https://example.org/a/1',
      '9fceb02d',
      '--name-only',
      '2026-03-01',
    ]) {
      expect(text).toContain(word)
    }
  })

  it('leaves out names that the context still shows', () => {
    const head = call('Read', { file_path: '/srv/app/main.ts' }, 'ok')
    expect(textsOf(build(head))).toContain('/srv/app/main.ts')
    const visible = ['The entry is /srv/app/main.ts, as before.']
    expect(textsOf(build(head, { visible }))).not.toContain('/srv/app/main.ts')
  })

  it('keeps a name that only the replaced summary contains', () => {
    const earlierSummary = 'The key file is /srv/app/gate.ts.'
    expect(textsOf(build([assistant('Go on.')], { earlierSummary }))).toContain('/srv/app/gate.ts')
  })

  it('does not keep a folder beside a file in it', () => {
    const head = [
      ...call('Read', { file_path: '/srv/app/src/main.ts' }, 'ok'),
      ...call('Grep', { path: '/srv/app/src' }, 'ok'),
    ]
    expect(ofKind(build(head), 'path')).toEqual(['/srv/app/src/main.ts'])
  })

  it('adds the counts of the previous ledger to its own', () => {
    const previous: LedgerEntry[] = [
      { kind: 'path', text: '/srv/app/main.ts', count: 3, number: 2 },
      { kind: 'command', text: 'npm test', count: 2, number: 3 },
    ]
    const head = [
      ...call('Read', { file_path: '/srv/app/main.ts' }, 'ok'),
      ...call('Bash', { command: 'npm test' }, 'ok'),
    ]
    expect(build(head, { previous, numberOf: positionsFrom(10) })).toEqual([
      { kind: 'command', text: 'npm test', count: 3, number: 13 },
      { kind: 'path', text: '/srv/app/main.ts', count: 4, number: 10 },
    ])
  })

  it('masks secrets in any place', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const head = [
      user(`My token is ${secret}`),
      ...call('Bash', { command: `curl -H "Authorization: ${secret}" x.org` }, `error: ${secret}`),
      ...call('post', { token: secret }, secret),
    ]
    expect(writeLedger(build(head))).not.toContain(secret)
  })

  it('fits its budget and contains nothing twice, for any conversation', () => {
    const word = fc.oneof(
      fc.constantFrom('/srv/app/main.ts', '--force', 'git push', 'error: no', 'a_b_c_1', '#12'),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 4, maxLength: 50 }),
    )
    const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '))
    const message = fc
      .tuple(text, text, fc.boolean())
      .map(([command, output, isShell]) =>
        isShell ? call('Bash', { command }, output) : [user(command), assistant(output)],
      )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 10 }), fc.nat(400), (groups, tokensMax) => {
        const first = build(groups.flat(), { tokensMax })
        const again = build(groups.flat(), {
          tokensMax,
          previous: first,
          numberOf: positionsFrom(100),
        })
        for (const entries of [first, again]) {
          expect(countTokens(writeLedger(entries))).toBeLessThanOrEqual(tokensMax)
          const keys = entries.map((entry) => `${entry.kind} ${entry.text}`)
          expect(new Set(keys).size).toBe(keys.length)
          expect(entries.every((entry) => !/[\r\n]/.test(entry.text))).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('keeps an early tool argument over ten compactions with many read names, and does not grow', () => {
    let previous: readonly LedgerEntry[] = []
    for (let round = 0; round < 10; round++) {
      const typed = round === 0 ? '/srv/app/important.ts' : `/srv/app/round${round}.ts`
      const read = Array.from({ length: 100 }, (_, index) => `/srv/app/${round}/read${index}.ts`)
      const head = call('Read', { file_path: typed }, read.join('\n'))
      previous = build(head, { previous, numberOf: positionsFrom(round * 100 + 1), tokensMax: 500 })
      expect(countTokens(writeLedger(previous))).toBeLessThanOrEqual(500)
    }
    expect(textsOf(previous)).toContain('/srv/app/important.ts')
  })

  it('takes time in proportion to the text', () => {
    const shapes: readonly ((length: number) => string)[] = [
      (length) => 'a'.repeat(length),
      (length) => '/'.repeat(length),
      (length) => '"'.repeat(length),
      (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
      (length) => 'a.'.repeat(length / 2),
      (length) => '/a'.repeat(length / 2),
      (length) => 'abc:1'.repeat(length / 5),
      (length) => 'error '.repeat(length / 6),
      (length) =>
        Array.from({ length: length / 20 }, (_, at) => `/srv/a${at}/b_${at}.ts`).join(' '),
    ]
    for (const shape of shapes) {
      const prepare = (length: number) => {
        const text = shape(length)
        const head = [user(text), ...call('Bash', { command: text }, text)]
        return () => build(head, { visible: [text] })
      }
      expect(costOfTenfold(prepare, { size: 100_000, floorMs: 2 })).toBeLessThan(15)
    }
  })
})

function build(
  head: readonly Message[],
  options: Partial<Parameters<typeof buildLedger>[0]> = {},
): readonly LedgerEntry[] {
  return buildLedger({
    previous: [],
    head,
    numberOf: positionsFrom(1),
    tokensMax: 2000,
    countTokens,
    ...options,
  })
}

function textsOf(entries: readonly LedgerEntry[]): string[] {
  return entries.map((entry) => entry.text)
}

function ofKind(entries: readonly LedgerEntry[], kind: LedgerEntry['kind']): string[] {
  return textsOf(entries.filter((entry) => entry.kind === kind))
}

function call(name: string, input: JsonValue, output: string): Message[] {
  return [toolCall('call', input, name), toolResult('call', output, name)]
}

const edit = (id: string, from: string, to: string) => [
  toolCall(
    id,
    { file_path: 'a.yaml', old_string: `port: ${from}`, new_string: `port: ${to}` },
    'Edit',
  ),
  toolResult(id, 'ok'),
]

it('does not list the replaced word of an edit by itself', () => {
  const texts = textsOf(build(edit('a', 'port-8080', 'port-9090'), { tokensMax: 50 }))
  expect(texts).toContain('port-8080 → port-9090')
  expect(texts).not.toContain('port-8080')
})

it('keeps only the newest of several edits of one value', () => {
  const ledger = buildLedger({
    previous: [],
    head: [...edit('a', 'port-8080', 'port-9090'), ...edit('b', 'port-8080', 'port-7070')],
    numberOf: positionsFrom(1),
    tokensMax: 400,
    countTokens: (text) => Math.ceil(text.length / 4),
  })
  const texts = ledger.map(({ text }) => text)
  expect(texts).toContain('port-8080 → port-7070')
  expect(texts).not.toContain('port-8080')
  expect(texts).not.toContain('port-8080 → port-9090')
})

it('ranks a name with a number or a bar over words that a hyphen only joins', () => {
  const head = call('Read', { file_path: 'a' }, 'well-known retry_max2')
  expect(textsOf(build(head, { tokensMax: 10 }))).toEqual(['retry_max2'])
})
