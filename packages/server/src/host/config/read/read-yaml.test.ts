import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../../test/support/timing.ts'
import { originText } from './problem.ts'
import { readYaml } from './read-yaml.ts'
import { originAt, plainOf } from './tree.ts'

describe('readYaml', () => {
  it('knows the position of each value, even through an alias', () => {
    const text = 'a: &a\n  b: [1, x]\nc: *a\nd:\n'
    const { tree, problems } = readYaml(text, 'f')
    expect(problems).toEqual([])
    expect(plainOf(tree)).toEqual({ a: { b: [1, 'x'] }, c: { b: [1, 'x'] }, d: undefined })
    const paths = [['a', 'b', 1], ['c'], ['c', 'b', 0], ['d']]
    expect(paths.map((path) => originText(originAt(tree, path)))).toEqual([
      ...['f:2:10', 'f:3:4', 'f:2:7', 'f:4:1'],
    ])
  })

  it('reports a duplicate name at its second position', () => {
    const { problems } = readYaml('http:\n  port: 1\n  port: 2\nagents: {a: , a: {}}', 'f')
    expect(problems.map(({ origin, text }) => `${originText(origin)} ${text}`)).toEqual([
      'f:3:3 `http.port` appears here a second time; keep one of them.',
      'f:4:15 Two agents are named `a`; give each its own name.',
    ])
  })

  it.each([
    ['aliases that multiply', bomb()],
    ['an alias to itself', 'a: &a [*a]'],
    ['lists in lists', `store: ${'['.repeat(30_000)}`],
    ['maps in maps', `store: ${'{a: '.repeat(100)}1${'}'.repeat(100)}`],
    ['too many values', 'x: 1\n'.repeat(6_000)],
    ['too many bytes', 'x'.repeat(200_000)],
    ['a map as a name', '? {a: 1}\n: 2'],
    ['a name that objects have', 'agents: {__proto__: {}}'],
    ['a name of a file that no system takes', 'store: "a\\0b.db"'],
    ['a second document', 'store: a.db\n---\nstore: b.db'],
    ['a tag that nobody knows', 'store: !secret a.db'],
  ])('refuses %s', (_, text) => {
    const { problems } = readYaml(text, 'f')
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.length).toBeLessThanOrEqual(50)
  })

  it('accepts five thousand values, 32 levels and 128 kB, and nothing larger', () => {
    const full = 'The file holds more than a configuration can.'
    const large = 'The file is larger than a configuration may be (128 kB).'
    // The map and the list are values too.
    const values = (count: number) => `x: [${'1,'.repeat(count - 2)}]`
    const levels = (count: number) => `x: ${'['.repeat(count - 1)}1${']'.repeat(count - 1)}`
    const bytes = (count: number) => `x: 1 #${'-'.repeat(count - 6)}`
    const cases: [string, string[]][] = [
      [values(5_000), []],
      [values(5_001), [full]],
      [levels(32), []],
      [levels(33), [full]],
      [bytes(131_072), []],
      [bytes(131_073), [large]],
    ]
    const found = cases.map(([text]) => readYaml(text, 'f').problems.map((each) => each.text))
    expect(found).toEqual(cases.map(([, texts]) => texts))
  })

  it('explains an error in nested lists in plain words', () => {
    const { problems } = readYaml(`store: ${'['.repeat(30_000)}`, 'f')
    expect(problems.map(({ text }) => text)).toEqual(['The file is nested too deeply.'])
  })

  it.each([
    ['keys', (n: number) => lines(n / 10, (i) => `key${i}: 1`)],
    ['agents', (n: number) => `agents:\n${lines(n / 20, (i) => `  a${i}: {}`)}`],
    ['one word', (n: number) => `store: ${'a'.repeat(n)}`],
    ['aliases', (n: number) => `a: &anchored 1\nb: [${'*anchored,'.repeat(n / 10)}]`],
    ['comments', (n: number) => '# x\n'.repeat(n / 4)],
    ['quotes', (n: number) => `store: "${'\\\\'.repeat(n / 2)}`],
    ['colons', (n: number) => `store: ${': '.repeat(n / 2)}`],
    ['blanks', (n: number) => `store:${' '.repeat(n)}x`],
  ])('takes time in proportion to the size: %s', (_, make) => {
    const prepare = (size: number) => {
      const text = make(size)
      return () => readYaml(text, 'f')
    }
    expect(costOfTenfold(prepare, { size: 10_000, floorMs: 12 })).toBeLessThan(15)
  })
})

function bomb(): string {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const line = (name: string, at: number) => {
    const below = names[at - 1]
    return `${name}: &${name} [${(below === undefined ? 'x, ' : `*${below}, `).repeat(10)}]`
  }
  return names.map(line).join('\n')
}

function lines(count: number, line: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => line(at)).join('\n')
}
