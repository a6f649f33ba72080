import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../src/cli/exit.ts'
import { runCli } from './support/run-cli.ts'

const root = join(import.meta.dirname, '..')
const readme = read('README.md')

describe('README.md', () => {
  it('opens with the two commands, and .ci/run runs exactly the second', () => {
    expect(shellBlocks(readme).slice(0, 2)).toEqual(['npm ci && npm start', 'npm ci && npm test'])
    expect(read('.ci/run').trim().split('\n').at(-1)).toBe('npm ci && npm test')
  })

  it('lists every flag of the command, and no other', async () => {
    const { stdout } = await runCli(['compact', '--help'])
    const flags = (text: string) => [...new Set(text.match(/--[a-z]+(?:-[a-z]+)*/g))].sort()
    const table = readme.slice(readme.indexOf('## The command'), readme.indexOf('## Exit codes'))
    expect(flags(table)).toEqual(flags(stdout).filter((flag) => flag !== '--help'))
  })

  it('lists the exit codes', () => {
    const table = readme.slice(readme.indexOf('## Exit codes'))
    const codes = [...table.matchAll(/^\| (\d) \|/gm)].map((match) => Number(match[1]))
    expect(codes).toEqual(Object.values(EXIT))
  })

  it('shows commands that run', async () => {
    const commands = shellBlocks(readme)
      .flatMap((block) => block.split('\n'))
      .filter((line) => line.startsWith('npx throughline '))
    expect(commands.length).toBeGreaterThanOrEqual(4)
    for (const command of commands) {
      const { exitCode, stderr } = await runCli(command.replace('npx throughline ', ''))
      expect({ command, exitCode, stderr }).toEqual({ command, exitCode: 0, stderr: '' })
    }
  })
})

describe('ARCHITECTURE.md', () => {
  it('knows which folders exist and which are to come', () => {
    const [, now = '', later = ''] = read('ARCHITECTURE.md').split(/^What exists:|^To come/m)
    const folders = (text: string) =>
      [...text.matchAll(/^ {2}([a-z-]+)\/ /gm)].map(([, name]) => name)
    const present = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
    expect(folders(now).toSorted()).toEqual(present.toSorted())
    expect(folders(later).filter((name) => present.includes(name ?? ''))).toEqual([])
  })
})

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function shellBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n([^`]*?)\n```$/gm)].map((match) => match[1] ?? '')
}
