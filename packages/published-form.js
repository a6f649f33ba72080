// In a clone, package.json points to TypeScript sources, so nothing has to be built to run or test
// them. A published package must point to JavaScript. `npm pack` and `npm publish` run
// `published-form.js apply` before and `published-form.js undo` after (prepack, postpack).
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a package takes along from the root of the repository. */
const COPIES = {
  '@throughline/core': ['LICENSE'],
  throughline: ['LICENSE', 'README.md', 'CHANGELOG.md', 'examples/long-conversation.json'],
}

const root = join(import.meta.dirname, '..')
const folder = process.cwd()
const file = join(folder, 'package.json')
const manifest = JSON.parse(readFileSync(file, 'utf8'))
const [, , action] = process.argv

if (action === 'apply') {
  const built = manifest.name === 'throughline' ? [] : ['core']
  // Whoever packs both packages one after the other says that they are built.
  if (process.env.THROUGHLINE_IS_BUILT !== '1')
    execFileSync(process.execPath, [join(import.meta.dirname, 'build.js'), ...built], {
      stdio: 'inherit',
    })
  if (manifest.name === 'throughline')
    execFileSync(process.execPath, [join(import.meta.dirname, 'build-page.js')], {
      stdio: 'inherit',
    })
  for (const path of COPIES[manifest.name]) cpSync(join(root, path), join(folder, path))
} else if (action === 'undo') {
  for (const path of COPIES[manifest.name])
    rmSync(join(folder, path.split('/')[0]), { recursive: true })
} else {
  throw new Error('Usage: node ../published-form.js apply | undo')
}

const convert = action === 'apply' ? builtEntry : sourceEntry
manifest.exports = Object.fromEntries(
  Object.entries(manifest.exports).map(([subpath, entry]) => [subpath, convert(entry)]),
)
writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)

function builtEntry(entry) {
  if (typeof entry !== 'string' || !entry.startsWith('./src/')) return entry
  const built = entry.replace('./src/', './dist/')
  return { types: built.replace(/\.ts$/, '.d.ts'), default: built.replace(/\.ts$/, '.js') }
}

function sourceEntry(entry) {
  if (typeof entry === 'string') return entry
  return entry.default.replace('./dist/', './src/').replace(/\.js$/, '.ts')
}
