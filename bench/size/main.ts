/**
 * `npm run size`: how large what people import becomes in a bundle, what the package takes on a disk,
 * and how long an import takes above the start of Node itself.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle, PROGRAMS } from './bundle.ts'

const ROUNDS = 9
const root = join(import.meta.dirname, '..', '..')
const built = mkdtempSync(join(tmpdir(), 'throughline-size-'))
const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`.padStart(11)
const row = (name: string, ...cells: string[]) =>
  process.stdout.write(`${name.padEnd(34)}${cells.join('')}\n`)

row('bundle, minified', 'size'.padStart(11), 'gzip'.padStart(11))
for (const [name, program] of Object.entries(PROGRAMS)) {
  const { bytes, gzipped, imports } = await bundle(program)
  const needs = imports.length === 0 ? '' : `  imports ${imports.join(', ')}`
  row(name, kilobytes(bytes), kilobytes(gzipped), needs)
}

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const project = join(root, 'packages', 'core', 'tsconfig.build.json')
spawnSync(process.execPath, [compiler, '-p', project, '--outDir', built], { stdio: 'inherit' })
const files = globSync('**/*.{js,d.ts}', { cwd: built })
const unpacked = files.reduce((sum, file) => sum + statSync(join(built, file)).size, 0)
row('\n@throughline/core, unpacked', kilobytes(unpacked), `  ${files.length} files`)

row(`\nimport, median of ${ROUNDS}`, 'above Node'.padStart(11))
const start = startMs('')
const imports = {
  '@throughline/core': pathToFileURL(join(built, 'index.js')).href,
  '@throughline/core/agent': pathToFileURL(join(built, 'agent', 'index.js')).href,
  ...{ openai: 'openai', '@anthropic-ai/sdk': '@anthropic-ai/sdk', ai: 'ai' },
}
for (const [name, specifier] of Object.entries(imports)) {
  const took = startMs(`await import(${JSON.stringify(specifier)})`) - start
  row(name, `${took.toFixed(0)} ms`.padStart(11))
}
rmSync(built, { recursive: true })

function startMs(program: string): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now()
    spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root })
    return performance.now() - begun
  })
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
}
