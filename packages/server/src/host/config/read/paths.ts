import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../schema/schema.ts'
import { FILE_PREFIX } from '../schema/values.ts'
import { type ConfigOrigin, type ConfigProblem, type Path, pathText } from './problem.ts'
import { type Node, nodeOf, withNode } from './tree.ts'

/** Files named in the configuration: reads texts, and makes paths absolute. */

export interface Taken {
  readonly tree: Node
  readonly problems: readonly ConfigProblem[]
  readonly taken: readonly { readonly path: string; readonly origin: ConfigOrigin }[]
}

type Read = (path: string, origin: ConfigOrigin) => string | { readonly problem: string }

/** The tree with `file:` texts replaced by the content of their files. */
export function takeTexts(tree: Node, read: Read): Taken {
  const problems: ConfigProblem[] = []
  const taken: { path: string; origin: ConfigOrigin }[] = []
  let whole = tree
  for (const [path, { value, origin }] of leavesOf(tree)) {
    if (!isText(path) || typeof value !== 'string' || !value.startsWith(FILE_PREFIX)) continue
    const name = value.slice(FILE_PREFIX.length).trim()
    const text = read(name, origin)
    taken.push({ path: name, origin })
    if (typeof text === 'string') whole = withNode(whole, path, nodeOf(text, origin))
    else {
      problems.push({ origin, text: `\`${pathText(path)}\` names ${name}, which ${text.problem}.` })
    }
  }
  return { tree: whole, problems, taken }
}

function isText(path: Path): boolean {
  const [section, , key] = path
  if (section === 'agents') return key === 'system' ? path.length === 3 : key === 'pins'
  return section === 'compaction' && path[1] === 'prompt'
}

function leavesOf(
  node: Node,
  path: Path = [],
): readonly (readonly [Path, Extract<Node, { kind: 'leaf' }>])[] {
  if (node.kind === 'leaf') return [[path, node]]
  if (node.kind === 'list') return node.items.flatMap((item, at) => leavesOf(item, [...path, at]))
  return [...node.fields].flatMap(([key, field]) => leavesOf(field.node, [...path, key]))
}

/** Makes every path absolute, so that a later change of folder has no effect. */
export function resolvePaths(
  config: Config,
  terms: { readonly baseOf: (path: Path) => string; readonly home: string | undefined },
): Config {
  const resolveIn = (value: unknown, path: Path, isKeyFile = false): unknown => {
    if (Array.isArray(value)) return value.map((item, at) => resolveIn(item, [...path, at]))
    if (typeof value === 'object' && value !== null) {
      const isSource = isFileSource(value, path)
      const resolved = Object.fromEntries(
        Object.entries(value).map(([key, each]) => [
          key,
          resolveIn(each, [...path, key], isSource && key === 'path'),
        ]),
      )
      if (!isSourceOf('command', value, path)) return resolved
      const folder = resolve(terms.baseOf([...path, 'command']), String(resolved['folder'] ?? ''))
      return { ...resolved, folder }
    }
    if (typeof value !== 'string' || isAddress(value)) return value
    if (!isKeyFile && !isPathKey(path) && !(isServerProgram(path) && value.includes('/')))
      return value
    const isHome = value.startsWith('~/') && terms.home !== undefined
    return isHome ? join(terms.home ?? '', value.slice(2)) : resolve(terms.baseOf(path), value)
  }
  return resolveIn(config, []) as Config
}

export interface NamedFile {
  readonly path: Path
  readonly file: string
}

/**
 * Files that are read or run later: key files, programs named by a path, the files among the arguments
 * of a server (`node server.js`, `node --import=hooks.mjs`), and the folders in which commands run, with the files
 * that they name. `folder` is where programs are started.
 */
export function namedFiles(config: Config, folder: string): readonly NamedFile[] {
  const walk = (value: unknown, path: Path): readonly NamedFile[] => {
    if (typeof value === 'string') {
      const [, ofOption] = (isArgument(path) && /^--?[\w-]+=(.+)$/.exec(value)) || []
      const file = resolve(folder, ofOption ?? value)
      const isNamed = isProgram(path) ? value.includes('/') : isArgument(path) && isScript(file)
      return isNamed ? [{ path, file }] : []
    }
    if (typeof value !== 'object' || value === null) return []
    if (isFileSource(value, path)) return [{ path: [...path, 'path'], file: value.path }]
    if (isSourceOf('command', value, path) && 'folder' in value) {
      const { command = '', folder } = value as { command?: string; folder: string }
      // The shell that runs it reads more than words; what it names by a path is one of them.
      const files = command.split(/[\s'"`$(){}<>|&;=]+/).filter((word) => word.includes('/'))
      return [
        { path: [...path, 'folder'], file: folder },
        ...files
          .filter((word) => command.startsWith(word) || isScript(resolve(folder, word)))
          .map((word) => ({ path: [...path, 'command'], file: resolve(folder, word) })),
      ]
    }
    return Object.entries(value).flatMap(([key, each]) => walk(each, [...path, key]))
  }
  return walk(config, [])
}

/**
 * Whether this key names the source of a secret; pins and headers have names that people choose.
 */
function isFileSource(value: object, path: Path): value is { readonly path: string } {
  return isSourceOf('file', value, path) && typeof (value as { path?: unknown }).path === 'string'
}

function isSourceOf(kind: 'file' | 'command', value: object, path: Path): boolean {
  const isChosen = ['pins', 'headers'].includes(String(path.at(-1)))
  return (value as { kind?: unknown }).kind === kind && !isChosen
}

function isProgram(path: Path): boolean {
  return isServerProgram(path) || path.at(-2) === 'programs'
}

function isArgument(path: Path): boolean {
  return path.at(-4) === 'mcp' && path.at(-2) === 'args'
}

/** A file, or one that another user could still create there: as a program, by its name. */
function isScript(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return /\.(?:[cm]?[jt]s|node|so|py|rb|pl|php|sh|jar)$/.test(path)
  }
}

function isServerProgram(path: Path): boolean {
  return path.at(-3) === 'mcp' && path.at(-1) === 'command'
}

function isPathKey([section, key, ...rest]: Path): boolean {
  if (rest.at(-2) === 'roots') return section === 'agents'
  return ['store.url', 'logging.file', 'http.socket'].includes(`${section}.${key}`)
}

/** `postgres://…` and SQLite's `:memory:` are not paths. */
function isAddress(value: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(value) || value.startsWith(':')
}
