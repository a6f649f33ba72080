import { type ConfigOrigin, DEFAULT_ORIGIN, type Path } from './problem.ts'

/**
 * The configuration before it is checked: plain values in a tree, each with its source. The file is
 * the base; variables and flags replace single branches, and the last one wins.
 */
export type Node =
  | { readonly kind: 'leaf'; readonly value: unknown; readonly origin: ConfigOrigin }
  | { readonly kind: 'list'; readonly items: readonly Node[]; readonly origin: ConfigOrigin }
  | {
      readonly kind: 'map'
      readonly fields: ReadonlyMap<string, ConfigField>
      readonly origin: ConfigOrigin
    }

export interface ConfigField {
  readonly node: Node
  /** The position of the name, for unknown keys. */
  readonly origin: ConfigOrigin
}

export const EMPTY: Node = { kind: 'map', fields: new Map(), origin: DEFAULT_ORIGIN }

/** A value with a single source. */
export function nodeOf(value: unknown, origin: ConfigOrigin): Node {
  if (Array.isArray(value)) {
    return { kind: 'list', items: value.map((item) => nodeOf(item, origin)), origin }
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([key, each]) => [key, { node: nodeOf(each, origin), origin }] as const)
    return { kind: 'map', fields: new Map(fields), origin }
  }
  return { kind: 'leaf', value, origin }
}

export function plainOf(node: Node): unknown {
  switch (node.kind) {
    case 'leaf':
      return node.value
    case 'list':
      return node.items.map(plainOf)
    case 'map':
      return Object.fromEntries([...node.fields].map(([key, { node }]) => [key, plainOf(node)]))
    default:
      return node satisfies never
  }
}

/** The tree with `node` at `path`, which replaces leaves on the way. */
export function withNode(tree: Node, path: Path, node: Node): Node {
  const [key, ...rest] = path
  if (key === undefined) return node
  if (typeof key === 'number' && tree.kind === 'list') {
    const items = [...tree.items]
    items[key] = withNode(items[key] ?? EMPTY, rest, node)
    return { ...tree, items }
  }
  const fields = new Map(tree.kind === 'map' ? tree.fields : [])
  const before = fields.get(String(key))
  fields.set(String(key), {
    node: withNode(before?.node ?? EMPTY, rest, node),
    origin: before?.origin ?? node.origin,
  })
  return { kind: 'map', fields, origin: tree.kind === 'map' ? tree.origin : node.origin }
}

/** The source of a value: its own, else that of the nearest node above it that has one. */
export function originAt(tree: Node, path: Path): ConfigOrigin {
  let node = tree
  let origin: ConfigOrigin = node.origin
  for (const key of path) {
    const next =
      node.kind === 'map'
        ? node.fields.get(String(key))?.node
        : node.kind === 'list'
          ? node.items[Number(key)]
          : undefined
    if (next === undefined) break
    node = next
    if (node.origin.kind !== 'default') origin = node.origin
  }
  return origin
}

/** The source of exactly this value: the default unless the key itself was set. */
export function saidAt(tree: Node, path: Path): ConfigOrigin {
  for (let depth = path.length; depth > 0; depth--) {
    const node = nodeAt(tree, path.slice(0, depth))
    if (node === undefined || (node.kind === 'leaf' && node.value === undefined)) continue
    // A short form (`process: true`) sets everything that it expands to.
    return depth === path.length || node.kind === 'leaf' ? node.origin : DEFAULT_ORIGIN
  }
  return DEFAULT_ORIGIN
}

/** The position of a key's name. */
export function keyOriginAt(tree: Node, path: Path): ConfigOrigin {
  const parent = nodeAt(tree, path.slice(0, -1))
  const field = parent?.kind === 'map' ? parent.fields.get(String(path.at(-1))) : undefined
  return field?.origin ?? originAt(tree, path)
}

/** Undefined: not set. */
export function nodeAt(tree: Node, path: Path): Node | undefined {
  let node: Node | undefined = tree
  for (const key of path) {
    if (node?.kind === 'map') node = node.fields.get(String(key))?.node
    else if (node?.kind === 'list') node = node.items[Number(key)]
    else return undefined
  }
  return node
}
