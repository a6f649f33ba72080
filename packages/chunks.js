// Joins the compiled files of core into a few chunks. Node takes about a millisecond for each file, so an
// import of the agent from 200 files took four times as long. The files that others import stay where they
// were and pass on what a chunk holds: the entry points, and what the command uses of `internal`.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'

const packages = import.meta.dirname
const dist = join(packages, 'core', 'dist')

/** What people start with. A module goes into the chunk of those that reach it, so that none of them loads much more. */
const PROGRAMS = {
  pure: 'index',
  // Loaded with the first conversation that must be compacted.
  compaction: 'compaction/conclude',
  // Loaded with the first of them whose summary a model writes.
  summary: 'compaction/summary/write-summary',
  agent: 'agent/index',
  store: 'store/index',
  suite: 'store/contract-suite/index',
  postgres: 'store/postgres/index',
  thread: 'store/sqlite/worker/thread',
}
/** What is loaded later finds there what these have, so it needs no chunk of its own for that. */
const LOADED_BEFORE = { compaction: ['pure'], summary: ['pure', 'compaction'] }
/** It names the file of the thread relative to its own, so it stays beside it. */
const STARTS_THE_THREAD = 'store/sqlite/worker/threads'

export async function joinIntoChunks(entries) {
  const reachedBy = new Map()
  const chunkOf = (id) => {
    if (id === fileOf(STARTS_THE_THREAD)) return STARTS_THE_THREAD
    // It runs in a thread only, but others use what it imports.
    if (id === fileOf(PROGRAMS.thread)) return null
    return reachedBy.has(id) ? `chunks/${reachedBy.get(id).join('-')}` : null
  }
  const names = new Set([...entries, ...usedByTheCommand(), PROGRAMS.thread])
  const build = await rolldown({
    input: Object.fromEntries([...names].map((name) => [name, fileOf(name)])),
    external: (id) => !/^[./]/.test(id),
    platform: 'neutral',
    // The comments above the parts of a chunk name files relative to it.
    cwd: dist,
    // The groups below need it; test/package.full.test.ts compares what the entry points export.
    preserveEntrySignatures: 'allow-extension',
    plugins: [
      {
        name: 'programs',
        buildEnd() {
          for (const [program, name] of Object.entries(PROGRAMS)) {
            const before = LOADED_BEFORE[program] ?? []
            for (const id of reachable(fileOf(name), (id) => this.getModuleInfo(id).importedIds)) {
              const others = reachedBy.get(id) ?? []
              if (!before.some((each) => others.includes(each)))
                reachedBy.set(id, [...others, program])
            }
          }
        },
      },
    ],
  })
  const { output } = await build.generate({
    format: 'esm',
    minifyInternalExports: false,
    chunkFileNames: '[name].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkOf, debugName: 'programs' }],
    },
  })
  await build.close()
  for (const file of globSync(join(dist, '**', '*.js'))) rmSync(file)
  for (const { fileName, code, exports, imports } of output) {
    // The command uses the types of this file alone.
    if (exports.length + imports.length === 0) continue
    mkdirSync(dirname(join(dist, fileName)), { recursive: true })
    writeFileSync(join(dist, fileName), code)
  }
}

function fileOf(name) {
  return join(dist, `${name}.js`)
}

function reachable(first, importsOf) {
  const reached = new Set()
  const waiting = [first]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (reached.has(id) || !id.startsWith(dist)) continue
    reached.add(id)
    waiting.push(...importsOf(id))
  }
  return reached
}

function usedByTheCommand() {
  const sources = globSync(join(packages, 'server', 'src', '**', '*.ts')).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  return sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/'#core\/([^']+)'/g)].map(([, name]) => name),
  )
}
