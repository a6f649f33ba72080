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
import { PROGRAMS, WRITTEN_OUT } from './type-programs.ts'

const COMPILERS = {
  'TypeScript 5.9.3': join(installPackage('typescript', '5.9.3'), 'typescript', 'bin', 'tsc'),
  'our TypeScript': join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
}
const PUBLINT = join(installPackage('publint', '0.3.25'), 'publint', 'src', 'cli.js')
const ATTW = join(
  installPackage('@arethetypeswrong/cli', '0.18.5'),
  ...['@arethetypeswrong', 'cli', 'dist', 'index.js'],
)

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
  for (const [name, version] of Object.entries(WRITTEN_OUT)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(installPackage(name, version), name), join(modules, name))
  }
  for (const [file, text] of Object.entries(PROGRAMS)) writeFileSync(join(project, file), text)
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
    JSON.stringify({ compilerOptions, files: ['use.ts', ...Object.keys(PROGRAMS)] }),
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
