/**
 * `npm run drill:package`: `@throughline/core` as it is published, judged by the tools that its users have: two versions
 * of TypeScript that check every declaration, publint and "Are the types wrong?". They and the libraries whose types
 * are written out here are installed, in pinned versions, outside the repository.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../../packages/core/package.json' with { type: 'json' }
import { installPackage } from '../clients/install.ts'
import { copyClone, pack, root, run, subpathsOf } from '../support/pack.ts'

const COMPILERS = {
  'TypeScript 5.9.3': join(installPackage('typescript', '5.9.3'), 'typescript', 'bin', 'tsc'),
  'our TypeScript': join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
}
const PUBLINT = join(installPackage('publint', '0.3.25'), 'publint', 'src', 'cli.js')
const ATTW = join(
  installPackage('@arethetypeswrong/cli', '0.18.5'),
  ...['@arethetypeswrong', 'cli', 'dist', 'index.js'],
)

const GENAI = join(installPackage('@google/genai', '2.32.0'), '@google', 'genai')

/** No cast: contents of the library go in and come out, and its call takes a request. */
const WITH_GENAI = `
import {
  type Content, createModelContent, createPartFromFunctionCall, createUserContent,
  type GenerateContentParameters, type GenerateContentResponse,
} from '@google/genai'
import { compactMessages } from '@throughline/core'
import { openAgent } from '@throughline/core/agent'
import { gemini } from '@throughline/core/gemini'
import type { Store } from '@throughline/core/store'

const call = createPartFromFunctionCall('find', { text: 'x' })
const history: Content[] = [createUserContent('Hello.'), createModelContent([call])]
export async function shorten(): Promise<Content[]> {
  return (await compactMessages(gemini, history, { contextWindow: 32_000 })).messages
}
type Ask = (request: GenerateContentParameters) => Promise<GenerateContentResponse>
export const open = (store: Store, ask: Ask) =>
  openAgent({
    store, name: 'mine', format: gemini, contextWindow: 32_000,
    step: ({ request }) => ask({ model: 'gemini-3-pro', ...request }),
  })
// @ts-expect-error: messages of another library
export const wrong = compactMessages(gemini, [{ role: 'user', content: 'x' }], { contextWindow: 32_000 })
`

const place = mkdtempSync(join(tmpdir(), 'throughline-package-'))
const project = join(place, 'project')
const tarball = join(place, `throughline-core-${manifest.version}.tgz`)
const subpaths = subpathsOf(manifest)
let failures = 0
try {
  const clone = join(place, 'clone')
  copyClone(clone)
  pack(manifest.name, clone, place)
  writeProject()
  for (const [name, compiler] of Object.entries(COMPILERS)) checkTypes(name, compiler)
  judge('publint, strict', [PUBLINT, 'run', tarball, '--strict'])
  judge('Are the types wrong?, esm-only', [ATTW, tarball, '--profile', 'esm-only', '--no-color'])
} finally {
  rmSync(place, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1

/** A project that imports every subpath and has every peer. */
function writeProject(): void {
  const modules = join(project, 'node_modules')
  const core = join(modules, manifest.name)
  mkdirSync(core, { recursive: true })
  run('tar', ['-xzf', tarball, '--strip-components=1', '-C', core], place)
  for (const name of [...Object.keys(manifest.peerDependencies), '@types/node', '@types/pg']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  mkdirSync(join(modules, '@google'), { recursive: true })
  symlinkSync(GENAI, join(modules, '@google', 'genai'))
  writeFileSync(join(project, 'with-genai.ts'), WITH_GENAI)
  const imports = subpaths.map((path, index) => `import * as module${index} from '${path}'`)
  const names = subpaths.map((_, index) => `module${index}`)
  writeFileSync(
    join(project, 'use.ts'),
    `${imports.join('\n')}\nexport const all: readonly object[] = [${names}]\n`,
  )
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: false, exactOptionalPropertyTypes: true },
    ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'dom'], types: ['node'] },
  }
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['use.ts', 'with-genai.ts'] }),
  )
}

/** Errors in the declarations of other packages are theirs; they are counted and do not fail. */
function checkTypes(name: string, compiler: string): void {
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', '.', '--listFiles'], {
    ...{ cwd: project, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  })
  const lines = stdout.split('\n')
  const ours = lines.filter((line) => /@throughline\/core\/dist\/.*\.d\.ts$/.test(line)).length
  const errors = lines.filter((line) => /(?:^|: )error TS\d+: /.test(line))
  const isTheirs = (line: string) =>
    /node_modules\/.*\(\d+,\d+\): /.test(line) && !line.includes('node_modules/@throughline/')
  const wrong = errors.filter((line) => !isTheirs(line))
  report(
    `${name}, skipLibCheck: false: ${subpaths.length} subpaths, ${ours} declaration files, ` +
      `${errors.length - wrong.length} errors in other packages`,
    // Without files nothing was checked.
    ours < subpaths.length ? [...wrong, 'The compiler did not read every subpath.'] : wrong,
  )
}

function judge(name: string, command: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    ...{ cwd: place, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  })
  report(`${name}: ${tarball.slice(place.length + 1)}`, status === 0 ? [] : [stdout, stderr])
}

function report(what: string, errors: readonly string[]): void {
  process.stdout.write(`${errors.length === 0 ? 'clean ' : 'WRONG '} ${what}\n`)
  for (const error of errors) process.stdout.write(`       ${error}\n`)
  if (errors.length > 0) failures += 1
}
