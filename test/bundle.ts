import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')

/** The command, and what is started as a thread or a process by its address. */
const ENTRIES = [
  'server/src/cli/main.ts',
  'server/src/runtime/handoff-thread/thread.ts',
  'server/src/tools/process/guard.ts',
  'server/src/rehearsal/stage/agent-process.ts',
  'core/src/store/sqlite/worker/thread.ts',
]

/** They load files of their own by name, or are needed by few commands. */
const EXTERNAL = /^(?:discord\.js|grammy|pino|pg|undici|gpt-tokenizer|prom-client)\b/

/**
 * Makes a clone that holds the command alone, as the published package does but in a few large files.
 * Tests start it hundreds of times, and loading some 700 small files is most of each start. Returns
 * the program to start.
 */
export async function bundleCommand(folder: string): Promise<string> {
  const home = join(folder, 'packages', 'server')
  const dist = join(home, 'dist')
  const bundle = await rolldown({
    input: Object.fromEntries(ENTRIES.map((path) => [built(path), join(root, 'packages', path)])),
    platform: 'node',
    external: EXTERNAL,
    plugins: [
      {
        name: 'own-address',
        // Each module keeps the address it has in the published form, wherever its text is.
        transform(code, id) {
          const path = relative(join(root, 'packages'), id)
          if (!/^(?:core|server)\/src\//.test(path) || !code.includes('import.meta')) return null
          const file = join(dist, `${built(path)}.js`)
          return code
            .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
            .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)))
        },
      },
    ],
  })
  await bundle.write({ dir: dist, entryFileNames: '[name].js', format: 'esm' })
  await bundle.close()
  for (const name of ['bin', 'package.json'])
    cpSync(join(root, 'packages', 'server', name), join(home, name), { recursive: true })
  symlinkSync(join(root, 'packages', 'server', 'page'), join(home, 'page'))
  // A folder of its own: the compiled code that is kept in it goes with the run.
  mkdirSync(join(folder, 'node_modules'))
  const compiled = join(folder, 'node_modules', '.cache', 'throughline')
  mkdirSync(compiled, { recursive: true })
  // Other users, as whom tests start it, keep theirs there too.
  chmodSync(compiled, 0o777)
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.'))
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return join(home, 'bin', 'throughline.js')
}

/** Where a source's built form is, from `dist`, without its ending. */
function built(path: string): string {
  return path
    .replace(/^server\/src\//, '')
    .replace(/^core\/src\//, 'core/')
    .replace(/\.ts$/, '')
}
