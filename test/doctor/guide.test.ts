import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { PROGRAM } from '../support/run-cli.ts'
import { generateHome } from './homes/generate.ts'

const guide = readFileSync(
  join(import.meta.dirname, '../../docs/guides/moving-from-hermes.md'),
  'utf8',
)
const folder = mkdtempSync(join(tmpdir(), 'throughline-guide-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Six processes, one after the other; on a busy machine each takes seconds to begin. */
const PROCESSES_MS_MAX = 180_000

describe('docs/guides/moving-from-hermes.md', () => {
  it(
    'shows commands that run, one after the other, on a home of two profiles',
    () => {
      const home = join(folder, 'home')
      generateHome(3, home)
      mkdirSync(join(home, 'profiles'))
      generateHome(5, join(home, 'profiles', 'nova'))
      const blocks = [...guide.matchAll(/^```sh\n([^`]*?)\n```$/gm)].map((match) => match[1] ?? '')
      const commands = blocks.join('\n').split('\n')
      expect(commands).toHaveLength(7)
      const outputs = commands.map((command) => {
        const [npx, name, ...words] = command.replaceAll('~/.hermes', home).split(' ')
        expect([npx, name]).toEqual(['npx', 'throughline'])
        // A configuration of the person who runs the tests is none of theirs.
        const env = { ...process.env, XDG_CONFIG_HOME: folder, THROUGHLINE_CONFIG: undefined }
        const options = { cwd: folder, encoding: 'utf8', env } as const
        const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], options)
        const isFine = status === 0 || (status === 1 && words[0] === 'doctor')
        expect({ command, isFine, stderr }).toEqual({ command, isFine: true, stderr: '' })
        return stdout
      })
      const [, repaired, tried, brought, one, own, sessions] = outputs
      expect(repaired).toContain('nothing was removed')
      expect(tried).toContain('would become agent default')
      expect(brought?.match(/Every row is accounted for\./g)).toHaveLength(2)
      // The second run of a profile finds everything there, under the agent of the first.
      expect(one).toContain('Brought now: 0.')
      expect(own).toContain('0 of them faults')
      expect(sessions).toMatch(/^SESSION +AGENT/)
    },
    PROCESSES_MS_MAX,
  )
})
