import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAULTS_OF_COUNTER } from '../simulation/tally.ts'
import { BEHAVIOURS, CRITERIA } from './behaviours.ts'
import { FAULTS } from './faults.ts'
import { INVARIANTS } from './invariants.ts'

/**
 * `npm run tables` writes docs/faults.md, docs/parity.md and docs/invariants.md: which test covers which
 * fault, behaviour and law. A test says so at the end of its title: `[fault 12]`, `[S17, I7, faults 1-7, 9]`.
 * The simulation says so by the counters that must not stay at zero and by the laws it checks.
 */
export interface Cover {
  readonly kind: string
  readonly file: string
  readonly title: string
  /** `fault 12`, `S17`, `D3`, `I7`. */
  readonly marks: readonly string[]
}

export interface Document {
  readonly path: string
  readonly title: string
  readonly about: readonly string[]
  readonly noun: string
  /** How many tests a row names; the rest is counted. */
  readonly testsMax: number
  readonly groups: readonly {
    readonly name: string
    /** The mark, and what must hold or be survived. */
    readonly rows: readonly (readonly [mark: string, text: string])[]
  }[]
}

const root = join(import.meta.dirname, '../..')
const WRITTEN = 'Written by `npm run tables` from the titles of the tests; not by hand.'
const KINDS_TEXT = [
  'P: real processes. S: simulation; what must happen in it at least once. H: over HTTP, against a',
  'server that plays the fault. D: on a store, the contract’s cases on every engine. U: one unit.',
]

export const DOCUMENTS: readonly Document[] = [
  {
    path: 'docs/faults.md',
    title: 'Faults and their tests',
    about: [WRITTEN, '', ...KINDS_TEXT],
    noun: 'faults',
    testsMax: Infinity,
    groups: FAULTS.map(([name, first, list]) => ({
      name,
      rows: list.map((text, index) => [`fault ${first + index}`, text] as const),
    })),
  },
  {
    path: 'docs/parity.md',
    title: 'Parity: behaviours and their tests',
    about: [
      'What people who leave Hermes or Codex must find here, and the tests that prove it.',
      WRITTEN,
      '',
      ...KINDS_TEXT,
    ],
    noun: 'behaviours',
    testsMax: Infinity,
    groups: [
      { name: 'Behaviours', rows: BEHAVIOURS.map((text, at) => [`S${at + 1}`, text] as const) },
      {
        name: 'Acceptance criteria: session ids that change in a compaction',
        rows: CRITERIA.map((text, at) => [`D${at + 1}`, text] as const),
      },
    ],
  },
  {
    path: 'docs/invariants.md',
    title: 'Invariants and their tests',
    about: [
      'The laws of the product. Comments, tests and the audit cite them by number.',
      WRITTEN,
      '',
      ...KINDS_TEXT,
    ],
    noun: 'laws',
    testsMax: 4,
    groups: [{ name: 'Laws', rows: INVARIANTS.map((text, at) => [`I${at + 1}`, text] as const) }],
  },
]

/** What a test in such a place is made of; the first that fits. */
const KINDS = [
  ['test/processes/', 'P'],
  ['test/contracts/store-processes', 'P, D'],
  ['test/simulation/', 'S'],
  ['test/mutants/', 'S'],
  ['packages/core/src/audit/session-audit-writer', 'S'],
  ['test/model/', 'H'],
  ['packages/server/src/model/', 'H'],
  ['test/contracts/', 'D'],
  ['packages/core/src/store/', 'D'],
  ['', 'U'],
] as const

/** A list of marks in brackets, whatever else stands in it. */
const TAG = /\[((?:[ISD]\d+|faults? \d+|checklist \d+)[^[\]]*)\]/g

/** The tags in one file. A tag that does not end its title is a mistake. */
export function readTags(file: string, source: string): Cover[] {
  const kind = KINDS.find(([start]) => file.startsWith(start))?.[1] ?? 'U'
  return source.split('\n').flatMap((line, index) =>
    [...line.matchAll(TAG)].flatMap((match) => {
      const marks = readMarks(match[1] ?? '')
      if (marks.length === 0) return []
      const end = match.index + match[0].length
      const quote = line[end] ?? ''
      const start = line.lastIndexOf(quote, end - 1)
      if (!['"', "'", '`'].includes(quote) || start < 0) {
        throw new Error(`${file}:${index + 1}: expected the tag ${match[0]} at the end of a title.`)
      }
      return [{ kind, file, title: line.slice(start + 1, match.index).trim(), marks }]
    }),
  )
}

/** `S1-S3, I7, faults 1-2, 9` names three behaviours, a law and three faults. */
function readMarks(text: string): string[] {
  let sort = ''
  return text.split(',').flatMap((item) => {
    const [, word = '', first = '', last = first] =
      /^\s*(faults? |[A-Za-z]+ ?)?(\d+)(?:-[ISD]?(\d+))?\s*$/.exec(item) ?? []
    sort = word === '' ? sort : word.trim().replace('faults', 'fault')
    if (first === '' || !['fault', 'S', 'D', 'I'].includes(sort)) return []
    const count = Number(last) - Number(first) + 1
    const gap = sort === 'fault' ? ' ' : ''
    return Array.from({ length: count }, (_, at) => `${sort}${gap}${Number(first) + at}`)
  })
}

export function collectCovers(): Cover[] {
  const files = globSync(
    ['{packages/*/src,test,bench}/**/*.test.ts', 'packages/core/src/store/contract-suite/**/*.ts'],
    { cwd: root },
  )
  const tagged = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.startsWith('test/tables/'))
    .sort()
    .flatMap((file) => readTags(file, readFileSync(join(root, file), 'utf8')))
  const counted = Object.entries(FAULTS_OF_COUNTER).map(([name, faults]) => ({
    ...{ kind: 'S', file: 'test/simulation/simulation.test.ts' },
    ...{ title: `makes it happen: ${name}`, marks: faults.map((fault) => `fault ${fault}`) },
  }))
  const simulated = globSync('test/simulation/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/['"](I\d+)['"]/g)].map(
      ([, law = '']) => law,
    ),
  )
  const lawful = {
    ...{ kind: 'S', file: 'test/simulation/simulation.test.ts' },
    ...{ title: 'holds after every step of every seed', marks: [...new Set(simulated)] },
  }
  return [lawful, ...tagged, ...counted]
}

export function unknownIn(covers: readonly Cover[]): readonly string[] {
  const known = new Set(DOCUMENTS.flatMap(marksOf))
  return [...new Set(covers.flatMap(({ marks }) => marks))].filter((mark) => !known.has(mark))
}

export function missingIn(document: Document, covers: readonly Cover[]): readonly string[] {
  const covered = new Set(covers.flatMap(({ marks }) => marks))
  return marksOf(document).filter((mark) => !covered.has(mark))
}

function marksOf({ groups }: Document): string[] {
  return groups.flatMap(({ rows }) => rows.map(([mark]) => mark))
}

export function writeTable(document: Document, covers: readonly Cover[]): string {
  const all = marksOf(document).length
  const covered = all - missingIn(document, covers).length
  const sections = document.groups.map(({ name, rows }) => {
    const lines = rows.flatMap(([mark, text]) => {
      const label = mark.replace('fault ', '')
      const tests = covers.filter(({ marks }) => marks.includes(mark))
      if (tests.length === 0) return [row([label, text, '', '**missing**'])]
      const named = strongest(tests, document.testsMax).map(
        ({ kind, file, title }) => [kind, `${file}: ${title}`] as const,
      )
      const rest = tests.length - named.length
      const more = rest > 0 ? [['', `and ${rest} more`] as const] : []
      return [...named, ...more].map(([kind, test], at) =>
        row(at === 0 ? [label, text, kind, test] : ['', '', kind, test]),
      )
    })
    const head = [row(['', 'What', 'Kind', 'Test']), '| --- | --- | --- | --- |']
    return [`## ${name}`, '', ...head, ...lines, ''].join('\n')
  })
  const count = `${covered} of ${all} ${document.noun} have a test.`
  return [`# ${document.title}`, '', ...document.about, '', count, '', ...sections].join('\n')
}

/** Tests with processes and stores before tests of one unit, in their order otherwise. */
function strongest(tests: readonly Cover[], max: number): readonly Cover[] {
  if (tests.length <= max) return tests
  const rank = ({ kind }: Cover) => 'PSDHU'.indexOf(kind.charAt(0))
  return tests.toSorted((a, b) => rank(a) - rank(b)).slice(0, max)
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

export function placeOf({ path }: Document): string {
  return join(root, path)
}

if (import.meta.main) {
  const covers = collectCovers()
  for (const document of DOCUMENTS) {
    writeFileSync(placeOf(document), writeTable(document, covers))
    const missing = missingIn(document, covers)
    console.log(`${document.path}: ${missing.length === 0 ? 'none' : missing.join(', ')} missing`)
  }
}
