import { parseAst } from 'vitest/node'

/** One small change of a source: the kind that a slip of the hand makes. */
export interface Mutation {
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** Such as `< becomes <=`. */
  readonly what: string
  /** The same change behind a condition; null: it cannot be written so. */
  readonly guarded: ((condition: string) => Edit) | null
  /** It acts while the module loads, outside every function. */
  readonly atLoad: boolean
}

export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const OPPOSITES: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
}

const METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  find: 'findLast',
  findLast: 'find',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
}

/** Calls whose receiver can take their place. */
const DROPPED = ['filter', 'slice', 'toSorted', 'toReversed', 'trim', 'toLowerCase']

/** Every mutation of a source, in the order of its text. */
export function mutationsOf(text: string): Mutation[] {
  const found: Mutation[] = []
  let isInFunction = false
  const source = (node: Node) => text.slice(node.start, node.end)
  const add = (edit: Edit, what: string, guard: ((condition: string) => string) | null) => {
    const guarded =
      guard === null ? null : (condition: string) => ({ ...edit, replacement: guard(condition) })
    found.push({ ...edit, what, guarded, atLoad: !isInFunction })
  }
  const change = ({ start, end }: Node, replacement: string, what: string, canGuard = true) => {
    const original = text.slice(start, end)
    const guard = (condition: string) => `(${condition} ? (${replacement}) : (${original}))`
    add({ start, end, replacement }, what, canGuard ? guard : null)
  }

  const visit: Visit = (node, parent, key, isInside): void => {
    isInFunction = isInside
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression': {
        const operator = node['operator'] as string
        const [left, right] = [node['left'] as Node, node['right'] as Node]
        const opposite = OPPOSITES[operator]
        if (operator === '??') change(node, source(left), '?? loses its right side')
        else if (opposite !== undefined && !(operator === '+' && isText(left, right))) {
          const between = text.slice(left.end, right.start)
          // From the start of the whole: the left side may stand in parentheses.
          const before = text.slice(node.start, left.end)
          const after = text.slice(right.start, node.end)
          const replacement = `${before}${between.replace(operator, opposite)}${after}`
          change(node, replacement, `${operator} becomes ${opposite}`)
        }
        break
      }
      case 'UnaryExpression':
        if (node['operator'] === '!') change(node, source(node['argument'] as Node), '! removed')
        break
      case 'IfStatement':
      case 'ConditionalExpression': {
        const test = node['test'] as Node
        change(test, 'true', 'condition is always true')
        change(test, 'false', 'condition is always false')
        break
      }
      case 'Literal':
        mutateLiteral(node, parent, key)
        break
      case 'ExpressionStatement': {
        const expression = node['expression'] as Node
        const call = expression.type === 'AwaitExpression' ? expression['argument'] : expression
        if (
          (call as Node).type === 'CallExpression' ||
          expression.type === 'AssignmentExpression'
        ) {
          const { start, end } = node
          const what = `${source(expression).split('\n')[0]?.slice(0, 40)} removed`
          const guard = (condition: string) => `{ if (!${condition}) { ${source(node)} } }`
          add({ start, end, replacement: ';' }, what, guard)
        }
        break
      }
      case 'ObjectExpression': {
        const properties = node['properties'] as Node[]
        for (const [at, property] of properties.entries()) {
          const after = properties[at + 1]
          const end = after?.start ?? property.end
          const what = `property ${source(property).slice(0, 30).split('\n')[0]} removed`
          const rest = text.slice(property.end, end)
          const guard = (condition: string) =>
            `...(${condition} ? {} : { ${source(property)} })${rest}`
          const edit = { start: property.start, end, replacement: '' }
          add(edit, what, isPlainProperty(property) ? guard : null)
        }
        break
      }
      case 'CallExpression':
        mutateCall(node, parent, key)
    }
  }

  const mutateLiteral = (node: Node, parent: Node | undefined, key: string) => {
    const value = node['value']
    if (typeof value === 'boolean') change(node, String(!value), `${value} becomes ${!value}`)
    if (typeof value === 'number') change(node, String(value + 1), `${value} becomes ${value + 1}`)
    const isName = key === 'source' || (key === 'key' && parent?.['computed'] !== true)
    // Sentences are for people; tests rightly do not hold every word of them.
    if (typeof value === 'string' && value !== '' && !isName && !value.includes(' ')) {
      change(node, "''", `'${value.slice(0, 20)}' becomes ''`)
    }
  }

  const mutateCall = (node: Node, parent: Node | undefined, key: string) => {
    const callee = node['callee'] as Node
    if (callee.type !== 'MemberExpression') return
    const property = callee['property'] as Node
    const name = property['name'] as string
    const other = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
    const object = callee['object'] as Node
    if (other !== undefined) {
      const optional = callee['optional'] === true ? '?.' : ''
      const start = text.indexOf('.', object.end) - (optional === '' ? 0 : 1)
      const guard = (condition: string) => `${optional}[${condition} ? '${other}' : '${name}']`
      const dot = optional === '' ? '.' : '?.'
      const edit = { start, end: property.end, replacement: `${dot}${other}` }
      add(edit, `${name} becomes ${other}`, guard)
    }
    if (DROPPED.includes(name)) {
      // Within `a?.b.filter(c).d` parentheses would end the chain too early.
      const isInChain =
        parent?.type !== 'ChainExpression' && text.slice(node.start, node.end).includes('?.')
      const goesOn = key === 'object' || key === 'callee'
      change(node, source(object), `.${name}() removed`, !(isInChain && goesOn))
    }
  }

  walk(parseAst(text, { lang: 'ts' }) as unknown as Node, visit)
  return found.sort((a, b) => a.start - b.start || a.end - b.end)
}

export function applyMutation(text: string, { start, end, replacement }: Edit): string {
  return `${text.slice(0, start)}${replacement}${text.slice(end)}`
}

export function lineOf(text: string, { start }: Mutation): number {
  return text.slice(0, start).split('\n').length
}

/** Of others, a spread would keep something else. */
function isPlainProperty(property: Node): boolean {
  if (property.type === 'SpreadElement') return true
  const key = property['key'] as Node
  return property['kind'] === 'init' && key['name'] !== '__proto__'
}

function isText(...nodes: readonly Node[]): boolean {
  return nodes.some(({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string')
}

type Visit = (node: Node, parent: Node | undefined, key: string, isInFunction: boolean) => void

/** Their parts run later, when they are called; fields of a class when one is made. */
const FUNCTIONS = ['ArrowFunctionExpression', 'FunctionDeclaration', 'FunctionExpression']

function isFunction({ type, static: isStatic }: Node): boolean {
  return FUNCTIONS.includes(type) || (type === 'PropertyDefinition' && isStatic !== true)
}

const KEPT_TYPES = ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']

/** Types are left out: they are gone at run time. */
function walk(node: Node, visit: Visit, parent?: Node, parentKey = '', isInFunction = false): void {
  if (node.type.startsWith('TS') && !KEPT_TYPES.includes(node.type)) return
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return
  visit(node, parent, parentKey, isInFunction)
  const isInside = isInFunction || isFunction(node)
  for (const [key, value] of Object.entries(node)) {
    if (key === 'typeAnnotation') continue
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && typeof child.type === 'string') {
        walk(child as Node, visit, node, key, isInside)
      }
    }
  }
}
