import { posix } from 'node:path'
import { parseAst } from 'vitest/node'

/**
 * What the rules need to know of one source file, read from its syntax tree: a comment or a string
 * that looks like an offence is none.
 */
export interface Source {
  readonly path: string
  readonly lines: number
  readonly imports: readonly Import[]
  /** Names that the file declares and exports; not what it passes on. */
  readonly exports: readonly string[]
  /** Our own files that are named as paths, such as a worker's `new URL('./x.ts', import.meta.url)`. */
  readonly mentions: readonly string[]
  /** Globals the file uses, with the member where there is one: `Date.now`, `process.env`, `fetch`. */
  readonly globals: ReadonlySet<string>
  /** `await`, `for await` and `async` functions. */
  readonly awaits: boolean
  readonly exportsDefault: boolean
  readonly exportsStar: boolean
  readonly testTitles: readonly string[]
}

export interface Import {
  /** A path from the root for our own files, else the specifier as written. */
  readonly target: string
  readonly own: boolean
  readonly names: readonly string[]
  /** Type-only imports are gone at run time: they point a direction, but they make no circle. */
  readonly typeOnly: boolean
}

/** The server imports core's files as `#core/folder/file`. */
const CORE = 'packages/core/src/'

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

export function readSource(path: string, text: string): Source {
  const imports: Import[] = []
  const exports: string[] = []
  const mentions: string[] = []
  const used = new Set<string>()
  const declared = new Set<string>()
  const testTitles: string[] = []
  let awaits = false
  let exportsDefault = false
  let exportsStar = false

  const addImport = (specifier: unknown, names: readonly string[], typeOnly: boolean) => {
    if (typeof specifier !== 'string') return
    const core = specifier.startsWith('#core/') ? specifier.slice('#core/'.length) : null
    const own = specifier.startsWith('.') || core !== null
    const file = core === null ? posix.join(posix.dirname(path), specifier) : `${CORE}${core}.ts`
    const target = own ? file : specifier
    imports.push({ target, own, names, typeOnly })
  }

  walk(parseTree(path, text), (node, parent, key) => {
    switch (node.type) {
      case 'ImportDeclaration': {
        const specifiers = node['specifiers'] as Node[]
        const typeOnly = isTypeOnly(node['importKind'], specifiers, 'importKind')
        addImport(literal(node['source']), specifiers.map(importedName), typeOnly)
        break
      }
      case 'ExportNamedDeclaration': {
        const specifiers = node['specifiers'] as Node[]
        const typeOnly = isTypeOnly(node['exportKind'], specifiers, 'exportKind')
        addImport(literal(node['source']), [], typeOnly)
        exports.push(...exportedNames(node['declaration']))
        break
      }
      case 'ExportAllDeclaration':
        exportsStar = true
        addImport(literal(node['source']), [], node['exportKind'] === 'type')
        break
      case 'ImportExpression':
        addImport(literal(node['source']), [], false)
        break
      case 'TSImportType':
        addImport(literal(node['source']), [], true)
        break
      case 'ExportDefaultDeclaration':
        exportsDefault = true
        break
      case 'AwaitExpression':
        awaits = true
        break
      case 'ForOfStatement':
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        awaits ||= node['await'] === true || node['async'] === true
        break
      case 'Literal':
        if (key !== 'source' && isOwnPath(node['value'])) {
          mentions.push(posix.join(posix.dirname(path), node['value']))
        }
        break
      case 'TemplateLiteral':
        mentions.push(...sourceNamedBy(node).map((rest) => posix.join(posix.dirname(path), rest)))
        break
      case 'CallExpression':
        testTitles.push(...testTitle(node))
        mentions.push(...joinedPath(node).map((rest) => posix.join(posix.dirname(path), rest)))
        break
      case 'Identifier':
        if (isReference(parent, key)) used.add(describeUse(node['name'] as string, parent, key))
    }
    for (const name of declaredNames(node)) declared.add(name)
  })

  const globals = new Set([...used].filter((use) => !declared.has(use.split('.')[0] ?? '')))
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return {
    path,
    lines,
    imports,
    exports,
    mentions,
    globals,
    awaits,
    exportsDefault,
    exportsStar,
    testTitles,
  }
}

function parseTree(path: string, text: string): Node {
  try {
    return parseAst(text, { lang: languageOf(path) }) as unknown as Node
  } catch (cause) {
    throw new Error(`${path} cannot be parsed`, { cause })
  }
}

function languageOf(path: string): 'ts' | 'tsx' | 'js' {
  if (path.endsWith('.tsx')) return 'tsx'
  return path.endsWith('.ts') ? 'ts' : 'js'
}

function walk(
  node: Node,
  visit: (node: Node, parent: Node | undefined, key: string) => void,
  parent?: Node,
  parentKey = '',
): void {
  visit(node, parent, parentKey)
  for (const [key, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit, node, key)
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function isOwnPath(value: unknown): value is string {
  return typeof value === 'string' && /^[\w./-]+\.[tj]s$/.test(value)
}

/** `join(import.meta.dirname, 'children', 'admit.ts')` names a file that will be run. */
function joinedPath(call: Node): readonly string[] {
  const [first, ...rest] = call['arguments'] as Node[]
  const isHere =
    first?.type === 'MemberExpression' && (first['object'] as Node).type === 'MetaProperty'
  const words = rest.map(literal)
  return isHere && words.every((word) => typeof word === 'string') ? [words.join('/')] : []
}

/** `./guard.${extension}` names a source, or the file that was built from it. */
function sourceNamedBy(template: Node): readonly string[] {
  const [before, after] = (template['quasis'] as Node[]).map(
    ({ value }) => (value as unknown as { readonly cooked: string }).cooked,
  )
  return after === '' && /^\.[\w./-]+\.$/.test(before ?? '') ? [`${before}ts`] : []
}

function literal(node: unknown): unknown {
  return isNode(node) ? node['value'] : undefined
}

function isTypeOnly(kind: unknown, specifiers: readonly Node[], key: string): boolean {
  return (
    kind === 'type' || (specifiers.length > 0 && specifiers.every((one) => one[key] === 'type'))
  )
}

function importedName(specifier: Node): string {
  const imported = specifier['imported']
  return isNode(imported) ? String(imported['name'] ?? imported['value']) : '*'
}

function exportedNames(declaration: unknown): readonly string[] {
  if (!isNode(declaration)) return []
  const declarations = declaration['declarations']
  return Array.isArray(declarations)
    ? declarations.flatMap((one: Node) => bindingNames(one['id']))
    : bindingNames(declaration['id'])
}

/** The names that a declaration brings into its file, patterns taken apart. */
function declaredNames(node: Node): readonly string[] {
  switch (node.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
      return bindingNames(node['id'])
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [...bindingNames(node['id']), ...(node['params'] as unknown[]).flatMap(bindingNames)]
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
      return bindingNames(node['local'])
    case 'CatchClause':
      return bindingNames(node['param'])
    default:
      return []
  }
}

function bindingNames(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
      return [pattern['name'] as string]
    case 'ObjectPattern':
      return (pattern['properties'] as Node[]).flatMap((one) => bindingNames(one['value'] ?? one))
    case 'ArrayPattern':
      return (pattern['elements'] as unknown[]).flatMap(bindingNames)
    case 'AssignmentPattern':
      return bindingNames(pattern['left'])
    case 'RestElement':
      return bindingNames(pattern['argument'])
    default:
      return []
  }
}

function isReference(parent: Node | undefined, key: string): boolean {
  if (parent === undefined) return false
  if (parent.type.startsWith('TS')) return key === 'expression'
  const named = ['MemberExpression', 'Property', 'PropertyDefinition', 'MethodDefinition']
  if (named.includes(parent.type) && (key === 'property' || key === 'key')) {
    return parent['computed'] === true
  }
  return !['ExportSpecifier', 'ImportSpecifier', 'LabeledStatement', 'MetaProperty'].includes(
    parent.type,
  )
}

/** `Date()` and `new Date()` ask the clock, `new Date(text)` does not: the last is `Date.new-from`. */
function describeUse(name: string, parent: Node | undefined, key: string): string {
  if (parent?.type === 'NewExpression' && key === 'callee') {
    return (parent['arguments'] as Node[]).length === 0 ? `${name}.new` : `${name}.new-from`
  }
  if (parent?.type !== 'MemberExpression' || key !== 'object') return name
  const property = parent['property'] as Node
  const member = parent['computed'] === true ? literal(property) : property['name']
  return typeof member === 'string' ? `${name}.${member}` : name
}

function testTitle(call: Node): readonly string[] {
  const callee = call['callee'] as Node
  const title = literal((call['arguments'] as Node[])[0])
  const isTest = callee.type === 'Identifier' && ['it', 'test'].includes(callee['name'] as string)
  return isTest && typeof title === 'string' ? [title] : []
}
