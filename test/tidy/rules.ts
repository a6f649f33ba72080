import { posix } from 'node:path'
import { type Import, readSource, type Source } from './source.ts'

/**
 * The rules of `tidy.test.ts`. Each takes the tree as a map of path to text and gives one sentence
 * per offence, so that the test can feed them small bad trees and see every rule fail.
 */
export type Tree = ReadonlyMap<string, string>

export interface Architecture {
  /** Which folders of the packages' sources a folder may import, itself always included. */
  readonly imports: Readonly<Record<string, readonly string[]>>
  /** Which folders it may beside that take types from; nothing of them is there at run time. */
  readonly types: Readonly<Record<string, readonly string[]>>
  /** Which packages of others a folder may import. */
  readonly packages: Readonly<Record<string, readonly string[]>>
  readonly pure: readonly string[]
  /** What a file of a pure folder may do nevertheless, with the reason beside it. */
  readonly impureFiles: Readonly<Record<string, readonly string[]>>
  /** The folders that may read the environment and write to the console. */
  readonly outer: readonly string[]
  /** Files that are run or imported from outside the tree. */
  readonly entryPoints: readonly string[]
  readonly sourceLinesMax: number
  readonly importsMax: number
  readonly folderFilesMax: number
  /** Words that no file and no exported name carries; the glossary has the ordinary ones. */
  readonly retiredWords: readonly string[]
}

const DRAWERS = ['common', 'helper', 'helpers', 'lib', 'misc', 'shared', 'types', 'util', 'utils']

const IMPURE_GLOBALS = [
  'Date',
  'Date.new',
  'Date.now',
  'Math.random',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'globalThis',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
]

// Of node:crypto, what gives the same answer every time.
const PURE_CRYPTO = ['createHash', 'createHmac', 'hash', 'timingSafeEqual']

export function readSources(tree: Tree): readonly Source[] {
  return [...tree]
    .filter(([path]) => /\.[tj]sx?$/.test(path) && !path.endsWith('.d.ts'))
    .map(([path, text]) => readSource(path, text))
}

/** Imports within the packages' sources follow the table. */
export function findWrongDirections(sources: readonly Source[], rules: Architecture): string[] {
  return sources.flatMap((source) => {
    const from = folderOf(source.path)
    if (from === undefined || isTest(source.path)) return []
    const allowed = rules.imports[from]
    if (allowed === undefined) return [`${source.path}: the folder ${from} is not in the table`]
    return source.imports.flatMap(({ target, own, typeOnly }) => {
      const to = own ? folderOf(target) : undefined
      if (own && to === undefined)
        return [`${source.path} imports ${target}, outside the packages' sources`]
      if (to === undefined || to === from || allowed.includes(to)) return []
      if (typeOnly && rules.types[from]?.includes(to) === true) return []
      const back = rules.imports[to]?.includes(from) === true
      const arrow = back ? `the arrow goes ${to} -> ${from}` : `${from} may import ${list(allowed)}`
      return [`${source.path} imports ${target}: ${arrow}`]
    })
  })
}

/** Every edge of the table is used, so that the table shows the architecture as it is. */
export function findUnusedEdges(sources: readonly Source[], rules: Architecture): string[] {
  const used = new Set(
    sources
      .filter(({ path }) => !isTest(path))
      .flatMap(({ path, imports }) =>
        imports.map(({ target }) => `${folderOf(path)} -> ${folderOf(target)}`),
      ),
  )
  const edges = [...Object.entries(rules.imports), ...Object.entries(rules.types)]
  return edges.flatMap(([from, allowed]) =>
    allowed
      .filter((to) => !used.has(`${from} -> ${to}`))
      .map((to) => `the table allows ${from} -> ${to}, which no file uses`),
  )
}

/** One word, one meaning: an exported name is declared in one file of the packages. */
export function findDoubleExports(sources: readonly Source[]): string[] {
  const places = new Map<string, string[]>()
  for (const { path, exports } of sources) {
    if (folderOf(path) === undefined || isTest(path)) continue
    for (const name of exports) places.set(name, [...(places.get(name) ?? []), path])
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}`)
}

/** Retired words appear neither in file names nor in exported names. */
export function findRetiredWords(sources: readonly Source[], rules: Architecture): string[] {
  return sources
    .filter(({ path }) => folderOf(path) !== undefined)
    .flatMap(({ path, exports }) =>
      [posix.basename(path).replace(/\..*$/, ''), ...exports].flatMap((name) =>
        wordsIn(name)
          .filter((word) => rules.retiredWords.includes(word))
          .map((word) => `${path}: "${name}" uses the retired word "${word}"`),
      ),
    )
}

/** `I7` is in docs/invariants.md, `decision 14` in docs/protocol.md or docs/decisions. */
export function findUnresolvedLaws(tree: Tree): string[] {
  const laws = new Set(
    tree
      .get('docs/invariants.md')
      ?.match(/^\| I\d+ /gm)
      ?.map((row) => row.slice(2).trim()),
  )
  const decisions = new Set([
    ...(tree.get('docs/protocol.md')?.match(/^\d+(?=\. )/gm) ?? []),
    ...[...tree.keys()].flatMap((path) => /^docs\/decisions\/0*(\d+)-/.exec(path)?.[1] ?? []),
  ])
  return [...tree]
    .filter(([path]) => /\.(?:tsx?|md)$/.test(path) && !path.startsWith('test/t'))
    .flatMap(([path, text]) =>
      text.split('\n').flatMap((line, index) => [
        ...[...line.matchAll(/\bI\d{1,2}\b/g)]
          .filter(([law]) => !laws.has(law))
          .map(([law]) => `${path}:${index + 1} cites ${law}, which is not in docs/invariants.md`),
        ...[...line.matchAll(/\bdecisions? (\d+(?:(?:, | and )\d+)*)/g)]
          .flatMap(([, list = '']) => list.match(/\d+/g) ?? [])
          .filter((number) => !decisions.has(number))
          .map((number) => `${path}:${index + 1} cites decision ${number}, which does not exist`),
      ]),
    )
}

/** No folder is a heap. */
export function findCrowdedFolders(sources: readonly Source[], rules: Architecture): string[] {
  const folders = Map.groupBy(sources, ({ path }) => posix.dirname(path))
  return [...folders]
    .filter(([, files]) => files.length > rules.folderFilesMax)
    .map(
      ([folder, files]) => `${folder} holds ${files.length} files: at most ${rules.folderFilesMax}`,
    )
}

/** Packages of others are imported only where the table says; that keeps them few and replaceable. */
export function findForeignPackages(sources: readonly Source[], rules: Architecture): string[] {
  return sources.flatMap((source) => {
    const folder = folderOf(source.path)
    if (folder === undefined || isTest(source.path)) return []
    const allowed = rules.packages[folder] ?? []
    return source.imports
      .filter(({ target, own }) => !own && !target.startsWith('node:'))
      .filter(({ target }) => !allowed.includes(packageOf(target)))
      .map(
        ({ target }) => `${source.path} imports ${target}: ${folder} may import ${list(allowed)}`,
      )
  })
}

/** A pure folder's answers depend on its arguments only. */
export function findImpurities(sources: readonly Source[], rules: Architecture): string[] {
  return sources.flatMap((source) => {
    const folder = folderOf(source.path)
    if (folder === undefined || !rules.pure.includes(folder) || isTest(source.path)) return []
    const allowed = rules.impureFiles[source.path] ?? []
    const found = [
      ...(source.awaits ? ['await'] : []),
      ...IMPURE_GLOBALS.filter((name) => uses(source, name)),
      ...source.imports.flatMap(impureImport),
    ]
    return found
      .filter((impurity) => !allowed.includes(impurity))
      .map((impurity) => `${source.path} uses ${impurity}: ${folder} is pure, hand the result in`)
  })
}

/** Import circles, each reported once. Within the packages imports of types count as well. */
export function findCircles(sources: readonly Source[]): string[] {
  const graph = new Map(
    sources.map((source) => [
      source.path,
      source.imports
        .filter(({ own, typeOnly }) => own && (!typeOnly || folderOf(source.path) !== undefined))
        .map(({ target }) => target),
    ]),
  )
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path)
    if (start >= 0) circles.push(`import circle: ${[...trail.slice(start), path].join(' -> ')}`)
    if (start >= 0 || done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return circles
}

/** Every file is imported by a file that is not a test of it, or is an entry point. */
export function findLonelyFiles(sources: readonly Source[], rules: Architecture): string[] {
  const wanted = new Set(rules.entryPoints)
  for (const source of sources) {
    // What only tests import is dead in the product; support for tests is used by tests.
    const targets = source.imports.filter(({ own }) => own).map(({ target }) => target)
    for (const target of [...targets, ...source.mentions]) {
      if (!isTest(source.path) || folderOf(target) === undefined) wanted.add(target)
    }
  }
  return sources
    .map(({ path }) => path)
    .filter((path) => !isTest(path) && !wanted.has(path) && !path.endsWith('.config.ts'))
    .map((path) => `${path} is imported by nobody: delete it, or name it in package.json`)
}

/** The environment and the console belong to the outermost folders. */
export function findLeaks(sources: readonly Source[], rules: Architecture): string[] {
  return sources.flatMap((source) => {
    const folder = folderOf(source.path)
    if (folder === undefined || rules.outer.includes(folder) || isTest(source.path)) return []
    return ['console', 'process.env']
      .filter((name) => uses(source, name))
      .map((name) => `${source.path} uses ${name}: only ${list(rules.outer)} may`)
  })
}

/** Files are named after what they hold, export by name, and read in a sitting. */
export function findFormOffences(sources: readonly Source[], rules: Architecture): string[] {
  return sources.flatMap((source) => {
    const { path } = source
    const name = posix.basename(path).replace(/(\.test)?\.[tj]sx?$/, '')
    const inSource = folderOf(path) !== undefined
    return [
      DRAWERS.includes(name) && `${path} is a drawer: name the file after the idea it holds`,
      /[A-Z_]/.test(name) && `${path} is not in kebab-case`,
      inSource && source.exportsDefault && `${path} has a default export: export by name`,
      inSource && source.exportsStar && `${path} re-exports everything: list the names`,
      name === 'index' &&
        !rules.entryPoints.includes(path) &&
        `${path} is a barrel: an index.ts stands only where the package has an entry point`,
      inSource &&
        !isTest(path) &&
        source.lines > rules.sourceLinesMax &&
        `${path} has ${source.lines} lines: at most ${rules.sourceLinesMax}, split it by idea`,
      inSource &&
        !isTest(path) &&
        ownImports(source).size > rules.importsMax &&
        `${path} imports ${ownImports(source).size} files: at most ${rules.importsMax}, split it by idea`,
      ...source.testTitles
        .filter((title) => /\bshould\b/i.test(title))
        .map((title) => `${path}: "${title}" is a wish: state the law in the present tense`),
    ].filter((offence) => offence !== false)
  })
}

/** Nothing in the tree names the machine it was written on. */
export function findMachinePaths(tree: Tree, own: readonly string[]): string[] {
  const roots = ['work', 'farm', 'root'].map((name) => `/${name}/`)
  return [...tree].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const at = (what: string) => `${path}:${index + 1} holds ${what}`
      const machine = [...own, ...roots].some((place) => startsAPath(line, place))
      // The lockfile may name where packages come from; nothing else may.
      const registry = path !== 'package-lock.json' && /:\/\/[a-z0-9.-]{0,100}registry/.test(line)
      return [
        ...(machine ? [at("a path of somebody's machine")] : []),
        ...(registry ? [at('the address of a package registry')] : []),
      ]
    }),
  )
}

/** Relative links of documents lead to a file of the tree, and to a heading in it. */
export function findBrokenLinks(tree: Tree, exists: (path: string) => boolean): string[] {
  const documents = [...tree].filter(([path]) => path.endsWith('.md'))
  return documents.flatMap(([path, text]) =>
    [...withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link))
      .flatMap((link) => {
        const [file = '', heading] = link.split('#')
        const target = file === '' ? path : posix.join(posix.dirname(path), file)
        if (!exists(target)) return [`${path} links to ${link}, which does not exist`]
        const found = heading === undefined || headings(tree.get(target) ?? '').includes(heading)
        return found ? [] : [`${path} links to ${link}: ${target} has no such heading`]
      }),
  )
}

/**
 * A decision record is dated, has a number of its own and no gap before it, and says what was decided,
 * why and instead of what.
 */
export function findUndatedDecisions(tree: Tree): string[] {
  const records = [...tree].filter(([path]) => path.startsWith('docs/decisions/'))
  const numbers = Map.groupBy(records, ([path]) => /\/(\d+)-/.exec(path)?.[1] ?? path)
  const sorted = [...numbers.keys()].filter((number) => /^\d+$/.test(number)).toSorted()
  return [
    ...sorted
      .slice(1)
      .filter((number, index) => Number(number) > Number(sorted[index]) + 1)
      .map(
        (number) => `${number} leaves a gap: ${sorted[sorted.indexOf(number) - 1]} is before it`,
      ),
    ...[...numbers]
      .filter(([, sharers]) => sharers.length > 1)
      .map(
        ([number, sharers]) =>
          `${number} is the number of ${sharers.map(([path]) => path).join(' and ')}`,
      ),
    ...records.flatMap(([path, text]) => {
      const sections = ['Context', 'Decision', 'Consequences', 'Rejected']
      const missing = sections.filter((section) => !text.includes(`\n## ${section}\n`))
      return [
        ...(isNumbered(path, text)
          ? []
          : [`${path} is not NNN-title.md with "# N. Title" and a date`]),
        ...missing.map((section) => `${path} has no section "${section}"`),
      ]
    }),
  ]
}

/** Decisions 1 to 26 are in docs/protocol.md. */
function isNumbered(path: string, text: string): boolean {
  const [, number = ''] = /\/(\d{3})-[a-z0-9-]+\.md$/.exec(path) ?? []
  return new RegExp(`^# ${Number(number)}\\. .+\\n\\n\\d{4}-\\d{2}-\\d{2}\\n`).test(text)
}

function folderOf(path: string): string | undefined {
  const [, folder, rest] = /^packages\/(?:core|server)\/src\/([^/]+)(\/)?/.exec(path) ?? []
  if (folder === undefined) return undefined
  return rest === undefined ? 'index' : folder
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}

/** `Date` itself counts only where the word stands alone, `Date.now` where exactly that is used. */
function uses(source: Source, name: string): boolean {
  if (source.globals.has(name)) return true
  const whole = !name.includes('.') && name !== 'Date'
  return whole && [...source.globals].some((use) => use.startsWith(`${name}.`))
}

function impureImport({ target, names }: Import): readonly string[] {
  if (!target.startsWith('node:')) return []
  if (target !== 'node:crypto') return [target]
  return names.filter((name) => !PURE_CRYPTO.includes(name)).map((name) => `${target} ${name}`)
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Our own files that a file imports. */
export function ownImports({ imports }: Source): ReadonlySet<string> {
  return new Set(imports.filter(({ own }) => own).map(({ target }) => target))
}

function wordsIn(name: string): readonly string[] {
  return (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase())
}

function startsAPath(line: string, root: string): boolean {
  const at = line.indexOf(root)
  return at >= 0 && !/[A-Za-z0-9_.]/.test(line[at - 1] ?? ' ')
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

function headings(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ')
}
