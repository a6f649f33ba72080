import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAULTS_OF_COUNTER } from '../simulation/tally.ts'
import { FAULTS } from './faults.ts'

/**
 * `npm run faults` writes docs/faults.md: which test covers which fault. A test says so itself, at
 * the end of its title: `[fault 12]`, `[I7, faults 1-7, 9]`. The simulation says so by the counters
 * that must not stay at zero.
 */
export interface Cover {
  readonly kind: string
  readonly file: string
  readonly title: string
  readonly faults: readonly number[]
}

const root = join(import.meta.dirname, '../..')
export const DOCUMENT = join(root, 'docs/faults.md')

const names = new Map(
  FAULTS.flatMap(([, first, list]) => list.map((name, index) => [first + index, name] as const)),
)

/** What a test in such a place is made of; the first that fits. */
const KINDS = [
  ['test/processes/', 'P'],
  ['test/contracts/store-processes', 'P, D'],
  ['test/simulation/', 'S'],
  ['src/events/trail', 'S'],
  ['test/model/', 'H'],
  ['src/model/', 'H'],
  ['test/contracts/', 'D'],
  ['src/testing/store/', 'D'],
  ['src/store/', 'D'],
  ['', 'U'],
] as const

const TAG = /\[[^[\]]*?\bfaults? (\d[\d, -]*)\]/g

/** The tags in one file. A tag that does not end its title is a mistake. */
export function readTags(file: string, source: string): Cover[] {
  const kind = KINDS.find(([start]) => file.startsWith(start))?.[1] ?? 'U'
  return source.split('\n').flatMap((line, index) =>
    [...line.matchAll(TAG)].map((match) => {
      const end = match.index + match[0].length
      const quote = line[end] ?? ''
      const start = line.lastIndexOf(quote, end - 1)
      if (!['"', "'", '`'].includes(quote) || start < 0) {
        throw new Error(`${file}:${index + 1}: expected the tag ${match[0]} at the end of a title.`)
      }
      const title = line.slice(start + 1, match.index).trim()
      return { kind, file, title, faults: readNumbers(match[1] ?? '') }
    }),
  )
}

function readNumbers(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

export function collectCovers(): Cover[] {
  const files = globSync(['{src,test}/**/*.test.ts', 'src/testing/**/*.ts'], { cwd: root })
  const tagged = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.startsWith('test/faults/'))
    .sort()
    .flatMap((file) => readTags(file, readFileSync(join(root, file), 'utf8')))
  const counted = Object.entries(FAULTS_OF_COUNTER).map(([name, faults]) => ({
    ...{ kind: 'S', file: 'test/simulation/simulation.test.ts' },
    ...{ title: `makes it happen: ${name}`, faults },
  }))
  return [...tagged, ...counted]
}

export function coveredBy(covers: readonly Cover[]): ReadonlySet<number> {
  return new Set(covers.flatMap(({ faults }) => faults))
}

export function unknownIn(covers: readonly Cover[]): readonly number[] {
  return [...coveredBy(covers)].filter((fault) => !names.has(fault))
}

export function writeTable(covers: readonly Cover[]): string {
  const covered = coveredBy(covers)
  const missing = [...names].filter(([fault]) => !covered.has(fault))
  const sections = FAULTS.map(([group, first, list]) => {
    const rows = list.flatMap((name, index) => {
      const fault = first + index
      const tests = covers.filter(({ faults }) => faults.includes(fault))
      if (tests.length === 0) return [row([`${fault}`, name, '', '**missing**'])]
      return tests.map(({ kind, file, title }, at) => {
        const test = `${file}: ${title}`
        return row(at === 0 ? [`${fault}`, name, kind, test] : ['', '', kind, test])
      })
    })
    const head = [row(['', 'Fault', 'Kind', 'Test']), '| --- | --- | --- | --- |']
    return [`## ${group}`, '', ...head, ...rows, ''].join('\n')
  })
  return [
    '# Faults and their tests',
    '',
    'Written by `npm run faults` from the titles of the tests; not by hand.',
    '',
    'P: real processes. S: simulation; what must happen in it at least once. H: over HTTP, against a',
    'server that plays the fault. D: on a store, the contract’s cases on every engine. U: one unit.',
    '',
    `${names.size - missing.length} of ${names.size} faults have a test.`,
    '',
    ...sections,
  ].join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

if (import.meta.main) {
  const covers = collectCovers()
  writeFileSync(DOCUMENT, writeTable(covers))
  console.log(`${coveredBy(covers).size} of ${names.size} faults have a test: docs/faults.md`)
}
