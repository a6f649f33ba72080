import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { PRESETS, type PresetName } from '../../compaction/defaults.ts'
import { checkConfig } from './check.ts'
import { explainIssues } from './explain.ts'
import { type Environment, overlayEnvironment, overlayFlags } from './overlay.ts'
import { settlePaths, takeTexts } from './places.ts'
import { ConfigError, type Origin, type Path, type Problem } from './problem.ts'
import { FILE_BYTES_MAX, readYaml } from './read-yaml.ts'
import { type Config, configSchema } from './schema.ts'
import { findLiteralSecrets } from './secrets.ts'
import { EMPTY, originAt, plainOf, saidAt } from './tree.ts'

/**
 * From what people wrote to a configuration that can be trusted: flags before environment before
 * file before defaults. Everything that is wrong is told at once. Here alone the disk is read; the
 * environment is handed in.
 */
export interface LoadRequest {
  /** Absent: `THROUGHLINE_CONFIG`, else searched upward from `cwd`, else the user's own. */
  readonly path?: string
  readonly env: Environment
  /** What stood behind `--set`: `key=value`. */
  readonly flags: readonly string[]
  readonly cwd: string
}

export type LoadResult = Loaded | Refused

export interface Loaded {
  readonly kind: 'loaded'
  readonly config: Config
  /** Who said a value. */
  readonly originOf: (path: Path) => Origin
  readonly warnings: readonly Problem[]
  /** Null: there is no file, and everything else holds. */
  readonly file: string | null
  /** The file and the texts it names: what a change is looked for in. */
  readonly files: readonly string[]
}

export interface Refused {
  readonly kind: 'refused'
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
  readonly file: string | null
  readonly files: readonly string[]
}

export function loadConfig(request: LoadRequest): LoadResult {
  const { env, flags, cwd } = request
  const file = findConfig(request)
  const shown = file === null ? '' : shownPath(file, cwd)
  const text = file === null ? '' : readText(file, FILE_BYTES_MAX)
  if (typeof text !== 'string') {
    const origin: Origin = { kind: 'file', file: shown, line: 1, column: 1 }
    const problems = [{ origin, text: `The configuration ${text.trouble}.` }]
    return { kind: 'refused', problems, warnings: [], file, files: file === null ? [] : [file] }
  }

  const said = file === null ? { tree: EMPTY, problems: [] } : readYaml(text, shown)
  const fromEnv = overlayEnvironment(said.tree, env)
  const fromFlags = overlayFlags(fromEnv.tree, flags)
  const secrets = findLiteralSecrets(fromFlags.tree)
  // What a file names is named from the file's own folder, everything else from where one stands.
  const folder = file === null ? cwd : dirname(file)
  const baseOf = ({ kind }: Origin) => (kind === 'file' || kind === 'default' ? folder : cwd)
  const whole = takeTexts(fromFlags.tree, (path, origin) =>
    readText(resolve(baseOf(origin), path), TEXT_BYTES_MAX),
  )
  const files = [
    // Where there is none, one may be made.
    file ?? join(cwd, CONFIG_NAME),
    ...whole.taken.map(({ path, origin }) => resolve(baseOf(origin), path)),
  ]
  const { tree } = whole
  const parsed = configSchema.safeParse(plainOf(tree))
  const before = [...said.problems, ...fromFlags.problems, ...secrets, ...whole.problems]
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
  const config = settlePaths(parsed.data, {
    baseOf: (path) => baseOf(originOf(path)),
    home: env['HOME'] ?? env['USERPROFILE'],
  })
  const checked = checkConfig(config, { env, originOf: (path) => originAt(tree, path) })
  const problems = inOrder([...before, ...checked.problems])
  const doubts = [...warnings, ...inOrder(checked.warnings)]
  if (problems.length > 0) return { kind: 'refused', problems, warnings: doubts, file, files }
  return { kind: 'loaded', config, originOf, warnings: doubts, file, files }
}

/** Throws `ConfigError` with all problems, for whoever cannot go on without a configuration. */
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

/** Null where there is none; a path that was asked for is taken whether it exists or not. */
export function findConfig({ path, env, cwd }: Omit<LoadRequest, 'flags'>): string | null {
  const asked = path ?? env['THROUGHLINE_CONFIG']
  if (asked !== undefined && asked !== '') return resolve(cwd, asked)
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, CONFIG_NAME)
    if (isFile(file)) return file
    if (folder === dirname(folder)) break
  }
  const user = userFolder(env)
  const own = user === undefined ? undefined : join(user, 'throughline', CONFIG_NAME)
  return own !== undefined && isFile(own) ? own : null
}

function userFolder(env: Environment): string | undefined {
  const named = env['XDG_CONFIG_HOME'] || env['APPDATA']
  if (named) return named
  return env['HOME'] ? join(env['HOME'], '.config') : undefined
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function readText(path: string, bytesMax: number): string | { readonly trouble: string } {
  try {
    const there = statSync(path)
    if (!there.isFile()) return { trouble: 'is not a file' }
    if (there.size > bytesMax) return { trouble: `is larger than ${bytesMax / 1024} kB` }
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { trouble: code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})` }
  }
}

function shownPath(file: string, cwd: string): string {
  const short = relative(cwd, file)
  return isAbsolute(short) || short.startsWith(join('..', '..', '..')) ? file : short
}

/** As they stand in the file; what comes from elsewhere follows. */
function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const rank = ({ origin }: Problem) =>
    origin.kind === 'file' ? origin.line * 1_000_000 + origin.column : Number.MAX_SAFE_INTEGER
  const different = new Map(problems.map((each) => [JSON.stringify(each), each]))
  return [...different.values()].sort((a, b) => rank(a) - rank(b))
}
