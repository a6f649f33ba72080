// Compiles both packages into their `dist` folders: core first, because the server is checked against
// core's declarations. The files of core are then joined into chunks. `node packages/build.js core` compiles core alone.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { joinIntoChunks } from './chunks.js'
import { entriesOf, trim } from './trim.js'

const packages = import.meta.dirname
const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
const compiler = join(dirname(typescript), 'bin', 'tsc')

const [, , ...named] = process.argv
const names = named.length > 0 ? named : ['core', 'server']

for (const name of names) {
  rmSync(join(packages, name, 'dist'), { recursive: true, force: true })
  execFileSync(process.execPath, [compiler, '-p', join(packages, name, 'tsconfig.build.json')], {
    stdio: 'inherit',
  })
}
for (const name of names) trim(name)
if (names.includes('core')) await joinIntoChunks(entriesOf('core'))
