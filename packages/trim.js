// Takes out of a compiled package what nobody reads there: declarations that no entry point reaches, and
// comments above declarations in the JavaScript, which editors show from the declarations. The rest is
// formatted as the sources are. So it stays small and a person who steps into it can still read it.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseSync } from 'rolldown/utils'

const packages = import.meta.dirname
const formatter = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')

/** What the declarations of `throughline` use of core beside its entry points. */
const USED_BY_THE_SERVER = [
  'base/logger',
  'session/events/event-hub',
  'session/events/runtime-event',
  'session/view/control-outcome',
  'session/view/transcript',
  'store/search/highlights/highlights',
]

export function trim(name) {
  const dist = join(packages, name, 'dist')
  removeUnreached(name, dist)
  for (const file of globSync(join(dist, '**', '*.js'))) {
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, withoutDocs(file, text))
  }
  // By themselves the settings would skip `dist`, which git ignores.
  const settings = [
    '--vcs-enabled=false',
    '--config-path',
    join(packages, '..'),
    '--log-level=error',
  ]
  execFileSync(process.execPath, [formatter, 'format', '--write', ...settings, dist], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** The entry points that package.json names, as paths without an ending. */
export function entriesOf(name) {
  const { exports } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
  return Object.values(exports)
    .map((entry) => (typeof entry === 'string' ? entry : entry.types))
    .filter((path) => /^\.\/(?:src|dist)\//.test(path) && !path.includes('*'))
    .map((path) => path.replace(/^\.\/(?:src|dist)\//, '').replace(/(?:\.d)?\.ts$/, ''))
}

function removeUnreached(name, dist) {
  const entries = [...entriesOf(name), ...(name === 'core' ? USED_BY_THE_SERVER : [])]
  const waiting = entries.map((path) => join(dist, `${path}.d.ts`))
  const reached = new Set()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)/g))
      waiting.push(join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')))
  }
  for (const file of globSync(join(dist, '**', '*.d.ts'))) if (!reached.has(file)) rmSync(file)
}

function withoutDocs(file, text) {
  const docs = parseSync(file, text).comments.filter(
    ({ type, value }) => type === 'Block' && value.startsWith('*'),
  )
  return docs.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text)
}
