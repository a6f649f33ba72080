import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const IMAGE = 'throughline-test'
const hasBuilder = spawnSync('docker', ['info'], { timeout: 20_000 }).status === 0
if (!hasBuilder) console.warn('skipped: building the image needs a running Docker daemon')

it.skipIf(!hasBuilder)(
  'the image is built, and its command runs',
  () => {
    const built = docker('build', '-q', '-t', IMAGE, '.')
    expect(built).toMatch(/^sha256:/)
    expect(docker('run', '--rm', IMAGE, '--version')).toMatch(/^\d+\.\d+\.\d+/)
    expect(docker('run', '--rm', IMAGE, 'demo', '--fast')).toContain('every message is back')
    docker('rmi', IMAGE)
  },
  1_200_000,
)

function docker(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('docker', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`docker ${args[0]} failed:\n${stderr}`)
  return stdout.trim()
}
