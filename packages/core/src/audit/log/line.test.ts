import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import {
  AUDIT_KINDS,
  type AuditLine,
  type AuditLineKind,
  firstLineHash,
  LINE_LENGTH_MAX,
  parseLine,
  writeLine,
} from './line.ts'

const started: AuditLine = {
  log: 'log-one',
  line: 1,
  time: '2027-01-15T08:00:00.000Z',
  kind: 'compaction started',
  sessionId: 'agent-7',
  operationId: 'op-1',
  entry: 12,
  mailbox: { from: 3, to: 9 },
  base: 4,
  fence: 2,
  trigger: 'background',
  tokensBefore: 150_000,
  reason: 'over the soft limit',
}
const forged = '{"kind":"compaction committed"}'
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    `a\n${forged}`,
    `a\r${forged}`,
    `a\u2028${forged}\u2029b`,
    `a","kind":"lease lost","x":"`,
    '\u001b[2J\u001b]0;title\u0007',
    '\u202eesrever\u2066',
    '\\u000a\\',
    '\ud800',
    '\u0085\u009b31m',
    'x'.repeat(100_000),
  ),
)

describe('writeLine', () => {
  it('writes one line of printable ASCII for any ids', () => {
    fc.assert(
      fc.property(nasty, nasty, nasty, nasty, (sessionId, operationId, trigger, reason) => {
        const line = { ...started, sessionId, operationId, trigger, reason }
        const { text } = writeLine(line, firstLineHash('log-one'))
        expect(text).toMatch(/^[\x20-\x7e]*$/)
        expect(text.length).toBeLessThanOrEqual(LINE_LENGTH_MAX)
        const parsed = parseLine(text)
        expect(parsed).toMatchObject({
          kind: 'line',
          line: { kind: 'compaction started', line: 1 },
        })
        if (parsed.kind === 'line' && sessionId.length <= 64) {
          expect(parsed.line.sessionId).toBe(sessionId)
        }
      }),
    )
  })

  it('keeps two long ids distinct', () => {
    const ids = ['a', 'b'].map((end) => `${'x'.repeat(80)}${end}`)
    const texts = ids.map((sessionId) => writeLine({ ...started, sessionId }, '').text)
    expect(parseLine(texts[0] ?? '')).not.toMatchObject({ line: { sessionId: idIn(texts[1]) } })
  })

  it('writes the fields in the order of the table, the hash last', () => {
    const { text } = writeLine(started, firstLineHash('log-one'))
    expect(text).toMatchInlineSnapshot(
      `"{"v":1,"log":"log-one","line":1,"time":"2027-01-15T08:00:00.000Z","kind":"compaction started","sessionId":"agent-7","operationId":"op-1","entry":12,"mailbox":{"from":3,"to":9},"base":4,"fence":2,"trigger":"background","tokensBefore":150000,"reason":"over the soft limit","hash":"4ec2c1eb4b70009c5fc2b7a3a3de9695"}"`,
    )
  })

  it('leaves out numbers that are not whole', () => {
    const { text } = writeLine({ ...started, tokensBefore: Number.NaN, tokensAfter: -1 }, '')
    expect(text).not.toMatch(/tokens|NaN|null/)
  })
})

describe('parseLine', () => {
  const { text } = writeLine(started, firstLineHash('log-one'))

  it('returns the line that was written', () => {
    expect(parseLine(text)).toMatchObject({ kind: 'line', line: started })
  })

  it('reports a changed character, and a line that does not follow the previous one', () => {
    const changed = parseLine(text.replace('agent-7', 'agent-8'))
    expect(changed.kind === 'line' && changed.follows(firstLineHash('log-one'))).toBe(false)
    const other = parseLine(text)
    expect(other.kind === 'line' && other.follows(firstLineHash('log-two'))).toBe(false)
    expect(other.kind === 'line' && other.follows(firstLineHash('log-one'))).toBe(true)
  })

  it.each([
    ['a doubled key', text.replace('"fence":2', '"fence":2,"fence":3')],
    ['other spacing', text.replace('"fence":2', '"fence": 2')],
    ['another order', text.replace('"base":4,"fence":2', '"fence":2,"base":4')],
    ['a field that is not in the schema', text.replace('"fence":2', '"fence":2,"extra":1')],
    ['a number as text', text.replace('"fence":2', '"fence":"2"')],
    ['a kind that does not exist', text.replace('started', 'begun')],
    ['a kind of every object', text.replace('compaction started', 'constructor')],
    ['a raw character outside ASCII', text.replace('agent', 'ag\u00e9nt')],
    ['a range that goes backwards', text.replace('"to":9', '"to":1')],
    ['two objects', text + text],
    ['an empty line', ''],
    ['a line without end', `${text}${' '.repeat(5_000)}`],
  ])('refuses %s', (_what, line) => {
    expect(parseLine(line).kind).toBe('broken')
  })

  it('refuses a line without a field that its kind needs', () => {
    for (const [kind, { needs }] of Object.entries(AUDIT_KINDS)) {
      for (const missing of needs) {
        const line = { ...started, kind: kind as AuditLineKind, [missing]: undefined }
        expect(parseLine(writeLine(line, '').text)).toEqual({
          kind: 'broken',
          problem: `is "${kind}" without ${missing}`,
        })
      }
    }
  })

  it('distinguishes a newer version from a broken line', () => {
    expect(parseLine(text.replace('"v":1', '"v":2'))).toEqual({ kind: 'newer', version: 2 })
  })

  it('takes time in proportion to the length of the line', () => {
    const prepare = (size: number) => {
      const hostile = `{"v":1,"reason":"${'\\'.repeat(size)}`
      return () => parseLine(hostile)
    }
    expect(costOfTenfold(prepare, { size: 100_000 })).toBeLessThan(15)
  })
})

function idIn(text = ''): string {
  const parsed = parseLine(text)
  return parsed.kind === 'line' ? parsed.line.sessionId : ''
}
