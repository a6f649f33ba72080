import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawTerminal } from './draw-terminal.ts'

/** Takes the tour and draws what it printed as the first picture of the README. */
const root = join(import.meta.dirname, '..', '..')
const program = join(root, 'packages', 'server', 'bin', 'throughline.js')
const { stdout, status } = spawnSync(process.execPath, [program, 'demo', '--fast'], {
  env: { ...process.env, FORCE_COLOR: '1' },
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
})
if (status !== 0) throw new Error(`The tour ended with exit code ${status}.`)
const file = join(root, 'docs', 'pictures', 'demo.svg')
writeFileSync(file, drawTerminal(`$ npx throughline demo\n${stdout.trimEnd()}`))
console.log(file)
