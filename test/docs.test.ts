import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../packages/server/src/cli/exit.ts'
import { runCli } from './support/run-cli.ts'

const root = join(import.meta.dirname, '..')
const readme = read('README.md')
const guide = read('docs/guides/compact.md')

describe('README.md', () => {
  it('opens with the two commands, and .ci/run runs exactly the second', () => {
    expect(shellBlocks(readme).slice(0, 2)).toEqual(['npm ci && npm start', 'npm ci && npm test'])
    expect(read('.ci/run').trim().split('\n').at(-1)).toBe('npm ci && npm test')
  })
})

describe('docs/guides/writing-a-gateway.md', () => {
  it('shows the smallest platform as it compiles', () => {
    const [, platform] = read('test/gateways/smallest-platform.ts').split('export class')
    expect(read('docs/guides/writing-a-gateway.md')).toContain(`export class${platform}`)
  })
})

describe('docs/guides/compact.md', () => {
  it('lists every flag of the command, and no other', async () => {
    const { stdout } = await runCli(['compact', '--help'])
    const flags = (text: string) => [...new Set(text.match(/--[a-z]+(?:-[a-z]+)*/g))].sort()
    const table = guide.slice(guide.indexOf('## The command'), guide.indexOf('## Exit codes'))
    // What is for sessions stands in `--help` and in the other guides.
    const [ofFiles = ''] = stdout.split(/^A session instead of a file:$/m)
    const ofBoth = stdout.match(/^ {2}--(?:config|set) .*$/gm) ?? []
    const listed = [...ofFiles.split('\n'), ...ofBoth].filter((line) =>
      /^ {2}(?:-\w, )?--/.test(line),
    )
    expect(flags(table)).toEqual(flags(listed.join('\n')))
  })

  it('lists the exit codes', () => {
    const table = guide.slice(guide.indexOf('## Exit codes'))
    const codes = [...table.matchAll(/^\| (\d) +\|/gm)].map((match) => Number(match[1]))
    expect(codes).toEqual(Object.values(EXIT))
  })

  it('shows commands that run', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'throughline-docs-'))
    symlinkSync(join(root, 'examples'), join(cwd, 'examples'))
    const commands = shellBlocks(guide)
      .flatMap((block) => block.split('\n'))
      .filter((line) => line.startsWith('npx throughline '))
    expect(commands.length).toBeGreaterThanOrEqual(4)
    for (const command of commands) {
      const { exitCode } = await runCli(command.replace('npx throughline ', ''), { cwd })
      expect({ command, exitCode }).toEqual({ command, exitCode: 0 })
      expect(readFileSync(join(cwd, 'smaller.json'), 'utf8')).toMatch(/^[[{]/)
    }
    rmSync(cwd, { recursive: true })
  })

  it('shows the picture that its command draws', async () => {
    const [, command = ''] = /^\$ npx throughline (.*) > smaller.json$/m.exec(guide) ?? []
    const { stderr } = await runCli(command, { cwd: root })
    const shown = guide.split('```')[1]?.trim().split('\n').slice(1) ?? []
    expect(shown).toEqual(stderr.split('\n').slice(0, shown.length))
    expect(shown.length).toBeGreaterThan(10)
  })
})

describe('ARCHITECTURE.md', () => {
  it('shows every folder, and no folder that is not there', () => {
    const map = read('ARCHITECTURE.md').split('## Code map')[1]?.split('## ')[0] ?? ''
    const shown = [...map.matchAll(/^ {4}([a-z-]+)\/ /gm)].map(([, name = '']) => name)
    const present = ['core', 'server'].flatMap((name) =>
      readdirSync(join(root, 'packages', name, 'src'), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name),
    )
    expect(shown.toSorted()).toEqual(present.toSorted())
  })
})

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function shellBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n([^`]*?)\n```$/gm)].map((match) => match[1] ?? '')
}
