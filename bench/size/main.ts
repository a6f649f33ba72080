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
import { bundle, PROGRAMS } from './bundle.ts'

const ROUNDS = 9
const place = mkdtempSync(join(tmpdir(), 'throughline-size-'))
const home = join(place, 'package')
const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`.padStart(11)
const row = (name: string, ...cells: string[]) =>
  process.stdout.write(`${name.padEnd(34)}${cells.join('')}\n`)

row('bundle, minified', 'size'.padStart(11), 'gzip'.padStart(11))
for (const [name, program] of Object.entries(PROGRAMS)) {
  const { bytes, gzipped, imports } = await bundle(program)
  const needs = imports.length === 0 ? '' : `  imports ${imports.join(', ')}`
  row(name, kilobytes(bytes), kilobytes(gzipped), needs)
}

copyClone(place)
pack(manifest.name, place, place)
run('tar', ['-xzf', join(place, `throughline-core-${manifest.version}.tgz`)], place)
const files = globSync('**/*', { cwd: home, withFileTypes: true }).filter((file) => file.isFile())
const unpacked = files.reduce((sum, { parentPath, name }) => sum + sizeOf(parentPath, name), 0)
row('\n@throughline/core, unpacked', kilobytes(unpacked), `  ${files.length} files`)

// Beside other work the time says little; the processor time and the ratios still do.
row(`\nimport, median of ${ROUNDS}`, 'above Node'.padStart(11), 'processor'.padStart(11))
const start = startMs('')
const imports = {
  '@throughline/core': pathToFileURL(join(home, 'dist', 'index.js')).href,
  '@throughline/core/agent': pathToFileURL(join(home, 'dist', 'agent', 'index.js')).href,
  ...{ openai: 'openai', '@anthropic-ai/sdk': '@anthropic-ai/sdk', ai: 'ai' },
}
for (const [name, specifier] of Object.entries(imports)) {
  const took = startMs(`await import(${JSON.stringify(specifier)})`)
  row(name, above(took.passed, start.passed), above(took.processor, start.processor))
}
rmSync(place, { recursive: true })

function above(took: number, start: number): string {
  return `${(took - start).toFixed(0)} ms`.padStart(11)
}

function startMs(program: string): { readonly passed: number; readonly processor: number } {
  const used = 'const { user, system } = process.cpuUsage()'
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now()
    const text = `${program};${used};process.stdout.write(String((user + system) / 1000))`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
      ...{ cwd: root, encoding: 'utf8' },
    })
    return { passed: performance.now() - begun, processor: Number(stdout) }
  })
  return {
    passed: median(times.map(({ passed }) => passed)),
    processor: median(times.map(({ processor }) => processor)),
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function sizeOf(folder: string, name: string): number {
  return statSync(join(folder, name)).size
}
