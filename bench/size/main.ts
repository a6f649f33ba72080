/**
 * `npm run size`: how large what people import becomes in a bundle, what the package takes on a disk,
 * and how long an import takes above the start of Node itself.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import manifest from '../../packages/core/package.json' with { type: 'json' }
import { copyClone, pack, root, run } from '../../test/support/pack.ts'
import { bundle, ofPublished, PROGRAMS } from './bundle.ts'

const ROUNDS = 9
const place = mkdtempSync(join(tmpdir(), 'throughline-size-'))
const home = join(place, 'package')
const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`.padStart(11)
const row = (name: string, ...cells: string[]) =>
  process.stdout.write(`${name.padEnd(34)}${cells.join('')}\n`)

const HEADS = ['size', 'gzip', 'at first'].map((head) => head.padStart(11))
row('bundle, minified', ...HEADS)
for (const [name, program] of Object.entries(PROGRAMS)) {
  const { bytes, gzipped, initialGzipped, imports } = await bundle(program)
  const needs = imports.length === 0 ? '' : `  imports ${imports.join(', ')}`
  row(name, kilobytes(bytes), kilobytes(gzipped), kilobytes(initialGzipped), needs)
}

copyClone(place)
pack(manifest.name, place, place)
run('tar', ['-xzf', join(place, `throughline-core-${manifest.version}.tgz`)], place)
const files = globSync('**/*', { cwd: home, withFileTypes: true }).filter((file) => file.isFile())
const unpacked = files.reduce((sum, { parentPath, name }) => sum + sizeOf(parentPath, name), 0)
row('\n@throughline/core, unpacked', kilobytes(unpacked), `  ${files.length} files`)

// The same imports from the published files: their chunks must not bring more along than the sources.
row('\nbundle of the published files', ...HEADS)
for (const [name, program] of Object.entries(PROGRAMS)) {
  const { bytes, gzipped, initialGzipped } = await bundle(ofPublished(program, join(home, 'dist')))
  row(name, kilobytes(bytes), kilobytes(gzipped), kilobytes(initialGzipped))
}

// Beside other work the time says little; the processor time and the ratios within one run still do.
row(`\nimport, median of ${ROUNDS}`, 'above Node'.padStart(11), 'processor'.padStart(11))
const specifiers = {
  '@throughline/core': pathToFileURL(join(home, 'dist', 'index.js')).href,
  '@throughline/core/agent': pathToFileURL(join(home, 'dist', 'agent', 'index.js')).href,
  ...{ ai: 'ai', openai: 'openai', '@anthropic-ai/sdk': '@anthropic-ai/sdk' },
  ...{ langchain: 'langchain', '@openai/agents': '@openai/agents' },
}
const programs = Object.values(specifiers).map((path) => `await import(${JSON.stringify(path)})`)
// Each round starts all of them, so that the load of a moment meets all of them.
const rounds = Array.from({ length: ROUNDS }, () => ['', ...programs].map(start))
const [bare, ...took] = ['', ...programs].map((_, index) => ({
  passed: median(rounds.map((round) => round[index]?.passed ?? 0)),
  processor: median(rounds.map((round) => round[index]?.processor ?? 0)),
}))
for (const [index, name] of Object.keys(specifiers).entries())
  row(
    name,
    above(took[index]?.passed, bare?.passed),
    above(took[index]?.processor, bare?.processor),
  )
rmSync(place, { recursive: true })

function above(took = 0, bare = 0): string {
  return `${(took - bare).toFixed(0)} ms`.padStart(11)
}

function start(program: string): { readonly passed: number; readonly processor: number } {
  const used = 'const { user, system } = process.cpuUsage()'
  const text = `${program};${used};process.stdout.write(String((user + system) / 1000))`
  const begun = performance.now()
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    ...{ cwd: root, encoding: 'utf8' },
  })
  return { passed: performance.now() - begun, processor: Number(stdout) }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function sizeOf(folder: string, name: string): number {
  return statSync(join(folder, name)).size
}
