import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

it('the adapters fit the types of their frameworks', () => {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const project = join(root, 'tsconfig.frameworks.json')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' })
  expect(stdout).toBe('')
}, 240_000)
