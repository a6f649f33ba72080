import type { JsonObject } from '#core/base/json'
import {
  branchesOf,
  describeAt,
  fieldsOf,
  hasChosenNames,
  listKeys,
  takesText,
} from '../schema/walk.ts'
import { nearest } from './nearest.ts'
import { type ConfigOrigin, type ConfigProblem, type Path, pathText } from './problem.ts'
import { type ReadYaml, readYamlValue } from './read-yaml.ts'
import { type Node, nodeAt, withNode } from './tree.ts'

/**
 * Variables and flags, which override the file. `THROUGHLINE_HTTP__PORT` is `http.port`: words in
 * capitals, two underscores for each level. Keys whose path has no name chosen by the operator also
 * work with one underscore, as in the variables of `throughline compact`.
 */
const PREFIX = 'THROUGHLINE_'

export type ConfigEnvironment = { readonly [name: string]: string | undefined }

export interface Overlaid {
  readonly tree: Node
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigProblem[]
}

export function overlayEnvironment(tree: Node, env: ConfigEnvironment): Overlaid {
  const problems: ConfigProblem[] = []
  const warnings: ConfigProblem[] = []
  let result = tree
  // Sorted by name, so that a key is set before the keys below it.
  for (const variable of Object.keys(env).sort()) {
    const text = env[variable]
    if (!variable.startsWith(PREFIX) || text === undefined || text.trim() === '') continue
    const name = variable.slice(PREFIX.length)
    const origin: ConfigOrigin = { kind: 'environment', variable }
    const path = pathOfVariable(name, result)
    const node = path === undefined ? undefined : describeAt(path)
    if (path !== undefined && node !== undefined) {
      const value = readValue(text, node, { origin, path })
      if (value.problems.length === 0) result = withNode(result, path, value.tree)
      problems.push(...value.problems)
      continue
    }
    const meant = nearest(name, variables().names)
    // Other programs use the prefix too; warn only about names that resemble a key.
    if (!name.includes('__') && meant === undefined) continue
    const hint = meant === undefined ? '' : ` Did you mean ${PREFIX}${meant}?`
    warnings.push({ origin, text: `No key has this name, so it changes nothing.${hint}` })
  }
  return { tree: result, problems, warnings }
}

/** `flags` are the arguments of `--set`: `key=value`. */
export function overlayFlags(tree: Node, flags: readonly string[]): Overlaid {
  const problems: ConfigProblem[] = []
  let result = tree
  for (const text of flags) {
    const at = text.indexOf('=')
    const key = at < 0 ? text : text.slice(0, at)
    const origin: ConfigOrigin = { kind: 'flag', flag: key }
    const path = key.split('.').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : part))
    const node = describeAt(path)
    if (at < 0) {
      problems.push({ origin, text: 'A setting is written key=value, such as http.port=8080.' })
    } else if (node === undefined) problems.push({ origin, text: unknownText(path) })
    else {
      const value = readValue(text.slice(at + 1), node, { origin, path })
      if (value.problems.length === 0) result = withNode(result, path, value.tree)
      problems.push(...value.problems)
    }
  }
  return { tree: result, problems, warnings: [] }
}

/** The message for an unknown path, at its first unknown key. */
function unknownText(path: Path): string {
  const depth = path.findIndex((_, at) => describeAt(path.slice(0, at + 1)) === undefined)
  return unknownKeyText(path.slice(0, depth), String(path[depth]))
}

const SECRET_NAME = /(?:api|access|auth|secret|private)[_-]?key|token$|secret|password|passwd/i

/** The message for a key that does not exist below `parent`. */
export function unknownKeyText(parent: Path, key: string): string {
  const sentence = `\`${pathText([...parent, key])}\` is not known.`
  const node = describeAt(parent)
  const names = node === undefined ? [] : [...fieldsOf(node).keys()]
  const meant = nearest(key, names)
  if (meant !== undefined) return `${sentence} Did you mean \`${meant}\`?`
  if (SECRET_NAME.test(key)) return `${sentence} ${KEYS_ELSEWHERE}`
  const there = names.map((name) => `\`${name}\``).join(', ')
  return names.length === 0
    ? `${sentence} This key takes no keys below it. ${REMOVED}`
    : `${sentence} Known here: ${there}. ${REMOVED}`
}

const REMOVED = 'If an earlier version had it, remove it: CHANGELOG.md says what replaces it.'

export const KEYS_ELSEWHERE =
  'Keys and passwords do not belong in the configuration: name where they are kept, such as ' +
  '`credential: {kind: variable, name: OPENAI_API_KEY}`.'

function pathOfVariable(name: string, tree: Node): Path | undefined {
  if (!name.includes('__')) return variables().fixed.get(name)
  const path: (string | number)[] = []
  for (const word of name.split('__')) {
    const node = describeAt(path)
    if (node === undefined) return undefined
    const named = [...fieldsOf(node).keys()].find((key) => wordsOf(key) === word)
    if (named !== undefined) path.push(named)
    else if (/^\d{1,3}$/.test(word) && !hasChosenNames(node)) path.push(Number(word))
    else if (hasChosenNames(node)) path.push(chosenName(word, nodeAt(tree, path)))
    else return undefined
  }
  return path
}

/** `MY_AGENT` is `my-agent` in the file; if there is none, it names a new agent, in lower case. */
function chosenName(word: string, node: Node | undefined): string {
  const names = node?.kind === 'map' ? [...node.fields.keys()] : []
  return names.find((name) => wordsOf(name) === word) ?? word.toLowerCase()
}

/** `stepsMax` is `STEPS_MAX`. */
function wordsOf(key: string): string {
  return key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]/g, '_')
    .toUpperCase()
}

interface Variables {
  /** The keys whose path has no name chosen by the operator, by their variable with single underscores. */
  readonly fixed: ReadonlyMap<string, Path>
  readonly names: readonly string[]
}

let listed: Variables | undefined

/** Made when a variable is seen: most environments have none. */
function variables(): Variables {
  listed ??= listVariables()
  return listed
}

function listVariables(): Variables {
  const paths = listKeys()
    .map(({ path }) => path)
    .filter((path) => !path.includes('*'))
  return {
    fixed: new Map(paths.map((path) => [path.map(wordsOf).join('_'), path])),
    names: paths.map((path) => path.map(wordsOf).join('__')),
  }
}

/** The variable for a key, for guides and hints; chosen names are left as `*`. */
export function variableOf(path: readonly string[]): string {
  return PREFIX + path.map((key) => (key === '*' ? key : wordsOf(key))).join('__')
}

function readValue(
  text: string,
  node: JsonObject,
  { origin, path }: { readonly origin: ConfigOrigin; readonly path: Path },
): ReadYaml {
  const isWhole = /^\s*[[{]/.test(text)
  const types = branchesOf(node).map(({ type }) => type)
  const isWords =
    types.includes('string') && types.every((type) => type === 'string' || type === 'object')
  const isText = takesText(node) || (isWords && !isWhole)
  if (isText) return { tree: { kind: 'leaf', value: text, origin }, problems: [] }
  return readYamlValue(text, origin, path)
}
