import { lstatSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { type Trust, trustOf, whyFileUntrusted, whyUntrustedBetween } from '#core/base/files/trust'
import { PRESETS, type PresetName } from '#core/compaction/plan/defaults'
import { checkConfig } from './check.ts'
import { explainIssues } from './explain.ts'
import { type ConfigEnvironment, overlayEnvironment, overlayFlags } from './read/overlay.ts'
import { namedFiles, resolvePaths, takeTexts } from './read/paths.ts'
import {
  ConfigError,
  type ConfigOrigin,
  type ConfigProblem,
  type Path,
  pathText,
} from './read/problem.ts'
import { foreign, readTrusted, type Unread, unreadFile } from './read/read-trusted.ts'
import { CONFIG_BYTES_MAX, readYaml } from './read/read-yaml.ts'
import { findLiteralSecrets, withoutSecrets } from './read/secrets.ts'
import { EMPTY, originAt, plainOf, saidAt } from './read/tree.ts'
import { type Config, configSchema } from './schema/schema.ts'

/**
 * Builds a checked configuration. Flags override the environment, which overrides the file, which
 * overrides defaults. All mistakes are reported at once. Only this file reads the disk; the caller
 * passes the environment.
 */
export interface LoadRequest {
  /** Absent: `THROUGHLINE_CONFIG`, then a search upward from `cwd`, then the user's own. */
  readonly path?: string
  /** An earlier search found `path` (no person named it), so its owner is checked again. */
  readonly isPathFound?: boolean
  readonly env: ConfigEnvironment
  /** The arguments of `--set`: `key=value`. */
  readonly flags: readonly string[]
  readonly cwd: string
  /** Skips the checks of agents and models, for compacting a file. */
  readonly isFormOnly?: boolean
}

export type LoadResult = Loaded | Refused

export interface Loaded {
  readonly kind: 'loaded'
  readonly config: Config
  /** The source of a value. */
  readonly originOf: (path: Path) => ConfigOrigin
  readonly warnings: readonly ConfigProblem[]
  /** Null: there is no file. */
  readonly file: string | null
  /** The file was found by searching; the user did not name it. */
  readonly isFileFound: boolean
  /** The file and the texts it names, which are watched for changes. */
  readonly files: readonly string[]
  /**
   * The folder that programs start in: that of the file. Many programs run code from their folder
   * (`npx`, `python -m`), and other users may be able to write to the working folder.
   */
  readonly folder: string
}

export interface Refused {
  readonly kind: 'refused'
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigProblem[]
  readonly file: string | null
  readonly files: readonly string[]
}

export function loadConfig(request: LoadRequest): LoadResult {
  const result = load(request)
  const warnings = result.warnings.map(masked)
  if (result.kind === 'loaded') return { ...result, warnings }
  return { ...result, warnings, problems: result.problems.map(masked) }
}

/** Problems quote names and values, and a key may have been put anywhere. */
function masked({ origin, text }: ConfigProblem): ConfigProblem {
  return {
    origin: origin.kind === 'flag' ? { ...origin, flag: withoutSecrets(origin.flag) } : origin,
    text: withoutSecrets(text),
  }
}

function load(request: LoadRequest): LoadResult {
  const { env, flags, cwd } = request
  const { file, isFound } = findConfig(request)
  const fileName = file === null ? '' : displayPath(file, cwd)
  // A file that the user named is trusted, with everything that it names.
  const trust = isFound ? trustOf(env) : undefined
  const text = file === null ? '' : readFile(file, cwd, trust)
  if (typeof text !== 'string') {
    const origin: ConfigOrigin = { kind: 'file', file: fileName, line: 1, column: 1 }
    const how = isFound ? adviceFor(text, file) : ''
    const problems = [{ origin, text: `The configuration ${text.problem}.${how}` }]
    return { kind: 'refused', problems, warnings: [], file, files: file === null ? [] : [file] }
  }

  const said = file === null ? { tree: EMPTY, problems: [] } : readYaml(text, fileName)
  const fromEnv = overlayEnvironment(said.tree, env)
  const fromFlags = overlayFlags(fromEnv.tree, flags)
  const secrets = findLiteralSecrets(fromFlags.tree)
  // Paths in a file are relative to its folder, all others to the working folder.
  const folder = file === null ? cwd : dirname(file)
  const baseOf = ({ kind }: ConfigOrigin) => (kind === 'file' || kind === 'default' ? folder : cwd)
  const whole = takeTexts(fromFlags.tree, (path, origin) => {
    const resolved = resolve(baseOf(origin), path)
    const text = readTrusted(resolved, TEXT_BYTES_MAX, origin.kind === 'file' ? trust : undefined)
    const isForeign = typeof text !== 'string' && text.isForeign
    return isForeign ? { problem: `${text.problem}. ${CHANGE_OR_NAME}` } : text
  })
  const files = [
    // A missing file may still be created.
    file ?? join(cwd, CONFIG_NAME),
    ...whole.taken.map(({ path, origin }) => resolve(baseOf(origin), path)),
  ]
  const { tree } = whole
  // Parsed once: compiling the schema would take longer than reading it as it is.
  const parsed = configSchema.safeParse(plainOf(tree), { jitless: true })
  const overlaid = [...fromEnv.problems, ...fromFlags.problems]
  const before = [...said.problems, ...overlaid, ...secrets, ...whole.problems]
  const warnings = fromEnv.warnings
  if (!parsed.success) {
    const problems = inOrder([...before, ...explainIssues(parsed.error.issues, tree)])
    return { kind: 'refused', problems, warnings, file, files }
  }

  const { preset } = parsed.data.compaction
  const originOf = (path: Path) => {
    const origin = saidAt(tree, path)
    const isPreset = origin.kind === 'default' && isOfPreset(path, preset)
    return isPreset ? saidAt(tree, ['compaction', 'preset']) : origin
  }
  const config = resolvePaths(parsed.data, {
    baseOf: (path) => baseOf(originOf(path)),
    home: env['HOME'] ?? env['USERPROFILE'],
  })
  const doubts = trust === undefined ? [] : findForeign(config, { folder, trust, originOf })
  const checked = request.isFormOnly
    ? { problems: [], warnings: [] }
    : checkConfig(config, { env, originOf: (path) => originAt(tree, path) })
  const problems = inOrder([...before, ...doubts, ...checked.problems])
  const all = [...warnings, ...inOrder(checked.warnings)]
  if (problems.length > 0) return { kind: 'refused', problems, warnings: all, file, files }
  return {
    kind: 'loaded',
    config,
    originOf,
    warnings: all,
    file,
    isFileFound: isFound,
    files,
    folder,
  }
}

function readFile(file: string, cwd: string, trust: Trust | undefined): string | Unread {
  try {
    const doubt = trust === undefined ? null : whyUntrustedBetween(cwd, dirname(file), trust)
    if (doubt !== null) return foreign(doubt)
    const text = readTrusted(file, CONFIG_BYTES_MAX, trust)
    const isLost = typeof text !== 'string' && text.code === 'ENOENT' && isThere(file)
    return isLost ? { problem: 'is a link that leads nowhere' } : text
  } catch (error) {
    return unreadFile(error)
  }
}

function adviceFor({ isForeign, code }: Unread, file: string | null): string {
  if (isForeign) return ` If you trust it, name it: \`--config ${file}\`.`
  return code === 'EACCES'
    ? ' Name one that you can read with `--config`, or set HOME to a folder of yours.'
    : ''
}

/** Files named by a found configuration that other users could have written. */
function findForeign(
  config: Config,
  terms: {
    readonly folder: string
    readonly trust: Trust
    readonly originOf: (path: Path) => ConfigOrigin
  },
): readonly ConfigProblem[] {
  return namedFiles(config, terms.folder).flatMap(({ path, file }) => {
    const origin = terms.originOf(path)
    const doubt = origin.kind === 'file' ? whyFileUntrusted(file, terms.trust) : null
    if (doubt === null) return []
    const text = `\`${pathText(path)}\` names ${file}, but ${doubt}. ${CHANGE_OR_NAME}.`
    return [{ origin, text }]
  })
}

const CHANGE_OR_NAME = 'Change that, or name the configuration with `--config` if you trust it'

/** Throws `ConfigError` with all problems. */
export function requireConfig(request: LoadRequest): Loaded {
  const result = loadConfig(request)
  if (result.kind === 'refused') throw new ConfigError(result.problems)
  return result
}

function isOfPreset([section, key]: Path, preset: PresetName | undefined): boolean {
  return section === 'compaction' && preset !== undefined && String(key) in PRESETS[preset]
}

export const CONFIG_NAME = 'throughline.yaml'
const TEXT_BYTES_MAX = 1024 * 1024

interface Found {
  /** Null: no file was found. A named path is returned even if it does not exist. */
  readonly file: string | null
  readonly isFound: boolean
}

function findConfig({ path, isPathFound = false, env, cwd }: LoadRequest): Found {
  const asked = path ?? env['THROUGHLINE_CONFIG']
  if (asked !== undefined && asked !== '') {
    return { file: resolve(cwd, asked), isFound: path !== undefined && isPathFound }
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, CONFIG_NAME)
    if (isThere(file)) return { file, isFound: true }
    if (folder === dirname(folder)) break
  }
  const user = userFolder(env)
  const own = user === undefined ? null : join(user, 'throughline', CONFIG_NAME)
  return own !== null && isThere(own)
    ? { file: own, isFound: true }
    : { file: null, isFound: false }
}

function userFolder(env: ConfigEnvironment): string | undefined {
  const named = env['XDG_CONFIG_HOME'] || env['APPDATA']
  if (named) return named
  return env['HOME'] ? join(env['HOME'], '.config') : undefined
}

/**
 * Whether something has this name. If it is no file, a link that leads nowhere, or in an unsearchable
 * folder, reading it reports the reason: without its configuration a server would start with another
 * store and less protection.
 */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}

function displayPath(file: string, cwd: string): string {
  const short = relative(cwd, file)
  return isAbsolute(short) || short.startsWith(join('..', '..', '..')) ? file : short
}

/** In the order of the file; problems from other sources follow. */
function inOrder(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const rank = ({ origin }: ConfigProblem) =>
    origin.kind === 'file' ? origin.line * 1_000_000 + origin.column : Number.MAX_SAFE_INTEGER
  const different = new Map(problems.map((each) => [JSON.stringify(each), each]))
  return [...different.values()].sort((a, b) => rank(a) - rank(b))
}
