import {
  type Alias,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type Node as YamlNode,
} from 'yaml'
import { type ConfigOrigin, type ConfigProblem, type Path, pathText } from './problem.ts'
import { type ConfigField, EMPTY, type Node } from './tree.ts'

/**
 * YAML text as a tree with positions. Duplicate names and the targets of aliases are found here,
 * because the library's own search takes quadratic time; for the same reason everything that an
 * alias can multiply is counted.
 */
export const CONFIG_BYTES_MAX = 128 * 1024
const NODES_MAX = 5_000
const DEPTH_MAX = 32

export interface ReadYaml {
  readonly tree: Node
  readonly problems: readonly ConfigProblem[]
}

export function readYaml(text: string, file: string): ReadYaml {
  const lines = new LineCounter()
  const origin: ConfigOrigin = { kind: 'file', file, line: 1, column: 1 }
  const originOf = (offset: number): ConfigOrigin => {
    const { line, col } = lines.linePos(offset)
    return { kind: 'file', file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const { tree, problems } = read(text, { what: 'The file', origin, originOf, lines, path: [] })
  if (tree !== undefined && tree.kind !== 'map') {
    const wanted = 'The file should hold keys and values, such as `store: sessions.db`.'
    return { tree: EMPTY, problems: [{ origin, text: wanted }] }
  }
  return { tree: tree ?? EMPTY, problems }
}

/** The value of a variable or a flag, read as strictly as a file. */
export function readYamlValue(text: string, origin: ConfigOrigin, path: Path): ReadYaml {
  const source = { what: 'The value', origin, originOf: () => origin, path }
  const { tree, problems } = read(text, source)
  return { tree: tree ?? leaf(null, origin), problems }
}

interface Source {
  /** For people. */
  readonly what: string
  readonly origin: ConfigOrigin
  readonly originOf: (offset: number) => ConfigOrigin
  readonly lines?: LineCounter
  /** Where the text belongs in the configuration. */
  readonly path: Path
}

interface Read {
  /** Undefined: it holds nothing. */
  readonly tree: Node | undefined
  readonly problems: readonly ConfigProblem[]
}

function read(text: string, { what, origin, originOf, lines, path }: Source): Read {
  const refused = (why: string): Read => ({
    tree: EMPTY,
    problems: [{ origin, text: `${what} ${why}` }],
  })
  if (text.length > CONFIG_BYTES_MAX) {
    return refused(`is larger than a configuration may be (${CONFIG_BYTES_MAX / 1024} kB).`)
  }
  let document: ReturnType<typeof parseDocument>
  try {
    document = parseDocument(text, {
      ...(lines !== undefined && { lineCounter: lines }),
      prettyErrors: false,
      uniqueKeys: false,
      // Otherwise the parser would silently use the first of several documents.
      logLevel: 'error',
    })
  } catch (error) {
    // The parser recurses for every level.
    if (!(error instanceof RangeError)) throw error
    return refused('is nested too deeply.')
  }
  // A warning of the parser, such as an unknown tag, is a mistake too.
  const doubts = [...document.errors, ...document.warnings]
  // Inside a list the parser catches this error itself.
  if (doubts.some(({ message }) => message.startsWith('Maximum call stack'))) {
    return refused('is nested too deeply.')
  }
  if (doubts.length > 0) {
    const problems = doubts.slice(0, 20).map(({ message, pos }) => ({
      origin: originOf(pos[0]),
      text: `This is not valid YAML: ${message.split('\n')[0]?.replace(/\.?$/, '.')}`,
    }))
    return { tree: EMPTY, problems }
  }
  const walk = new Walk(originOf, targetsIn(document))
  const tree = walk.read(document.contents, path, 0)
  if (walk.isFull) return refused('holds more than a configuration can.')
  return { tree, problems: walk.problems }
}

type Targets = ReadonlyMap<unknown, YamlNode | undefined>

/** The target of each alias: the nearest anchor of its name above it. */
function targetsIn(document: ReturnType<typeof parseDocument>): Targets {
  const named = new Map<string, YamlNode>()
  const targets = new Map<unknown, YamlNode | undefined>()
  visit(document, (_, node) => {
    if (isAlias(node)) targets.set(node, named.get(node.source))
    else if (isNode(node) && node.anchor !== undefined) named.set(node.anchor, node)
  })
  return targets
}

class Walk {
  readonly problems: ConfigProblem[] = []
  isFull = false
  readonly #originOf: (offset: number) => ConfigOrigin
  readonly #targets: Targets
  #nodes = 0

  constructor(originOf: (offset: number) => ConfigOrigin, targets: Targets) {
    this.#originOf = originOf
    this.#targets = targets
  }

  /** Undefined for an empty node, such as a section of comments only. */
  read(given: unknown, path: Path, depth: number): Node | undefined {
    const node = isAlias(given) ? this.#resolve(given) : (given as YamlNode | null)
    if (node === null || node === undefined || this.isFull) return undefined
    const origin = this.#originOf(((given as YamlNode).range ?? node.range)?.[0] ?? 0)
    this.#nodes++
    if (this.#nodes > NODES_MAX || depth > DEPTH_MAX) {
      this.isFull = true
      return undefined
    }
    if (isScalar(node)) {
      if (String(node.value).includes('\0')) {
        this.#report(origin, `\`${pathText(path)}\` holds a NUL character, which no name may.`)
      }
      return node.value === null ? undefined : leaf(node, origin)
    }
    if (isSeq(node)) {
      const items = node.items.map(
        (item, at) => this.read(item, [...path, at], depth + 1) ?? leaf(null, origin),
      )
      return { kind: 'list', items, origin }
    }
    if (!isMap(node)) return undefined
    const fields = new Map<string, ConfigField>()
    for (const pair of node.items) this.#readPair(pair, { fields, path, depth, origin })
    return { kind: 'map', fields, origin }
  }

  #readPair(
    { key, value }: Pair,
    map: { fields: Map<string, ConfigField>; path: Path; depth: number; origin: ConfigOrigin },
  ): void {
    const { fields, path, depth } = map
    // `__proto__` would be dropped silently.
    if (!isScalar(key) || key.value === '__proto__') {
      this.#report(map.origin, 'A name here is not a plain word.')
      return
    }
    const name = String(key.value)
    const origin = this.#originOf(key.range?.[0] ?? 0)
    if (fields.has(name)) {
      this.#report(origin, twice(path, name))
      return
    }
    const node = this.read(value, [...path, name], depth + 1)
    // Kept even if empty, so that a second occurrence of the name is noticed.
    fields.set(name, { node: node ?? leaf(undefined, origin), origin })
  }

  #resolve(alias: Alias): YamlNode | undefined {
    const target = this.#targets.get(alias)
    if (target === undefined) {
      this.#report(
        this.#originOf(alias.range?.[0] ?? 0),
        `\`*${alias.source}\` is not defined above.`,
      )
    }
    return target
  }

  #report(origin: ConfigOrigin, text: string): void {
    if (this.problems.length < 50) this.problems.push({ origin, text })
  }
}

function leaf(from: Scalar | null | undefined, origin: ConfigOrigin): Node {
  return { kind: 'leaf', value: isScalar(from) ? from.value : from, origin }
}

function twice(path: Path, name: string): string {
  return path.length === 1 && path[0] === 'agents'
    ? `Two agents are named \`${name}\`; give each its own name.`
    : `\`${pathText([...path, name])}\` appears here a second time; keep one of them.`
}
