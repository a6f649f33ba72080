import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { listCommands } from '../../../packages/server/src/cli/command-tree.ts'
import { TERMINAL_COMMANDS } from '../../../packages/server/src/cli/commands/chat/slash.ts'
import { buildProgram } from '../../../packages/server/src/cli/program.ts'
import { runCli } from '../../support/run-cli.ts'

const guide = readFileSync(
  join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'commands.md'),
  'utf8',
)
const program = await buildProgram([])
/** Those that do something by themselves; `import` and `doctor` do beside the ones below them. */
const leaves = listCommands(program).filter(
  ({ path, commands }) =>
    path !== '' && (commands.length === 0 || path === 'import' || path === 'doctor'),
)

describe('docs/guides/commands.md', () => {
  it('has a section for each command, and no other', () => {
    const sections = [...guide.matchAll(/^## (.+)$/gm)].map((match) => match[1])
    expect(sections).toEqual(leaves.map(({ path }) => path))
  })

  it.each(leaves)('gives the exit codes of $path as its help does', ({ path }) => {
    const told = helpOf(path)
      .split('Exit codes:\n')[1]
      ?.split('\n\n')[0]
      ?.split('\n')
      .map((line) => line.trim().split('  '))
    expect(told).toEqual(codesIn(sectionOf(path)))
    expect(told?.length).toBeGreaterThanOrEqual(2)
  })

  it('names what can be typed in a chat', () => {
    for (const name of Object.keys(TERMINAL_COMMANDS)) expect(guide).toContain(`\`/${name}`)
  })
})

describe('help', () => {
  it.each(leaves)('of $path has an example that begins as the command does', ({ path }) => {
    const examples = helpOf(path).split('Examples:\n')[1] ?? ''
    expect(examples).toContain(`throughline ${path}`)
  })

  it('describes each command in one line', () => {
    const summaries = leaves.map(({ summary }) => summary)
    expect(new Set(summaries).size).toBe(summaries.length)
    for (const summary of summaries) expect(summary.length).toBeLessThan(90)
  })
})

describe('a mistyped word', () => {
  // A name from a web page or a chat may clear the screen, set the title or reverse what is read.
  const HARM = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e'

  it.each([
    ['a command', [`chat${HARM}`]],
    ['an option', ['sessions', `--all${HARM}`]],
    ['an option of a command below another', ['tokens', 'create', `--label${HARM}`]],
    ['the value of an option', ['search', 'word', '--limit', `9${HARM}`]],
    ['an argument too many', ['sessions', `x${HARM}`]],
    ['a file', ['compact', `file${HARM}`]],
    ['a setting', ['config', 'check', '--set', `agents${HARM}=1`]],
  ])('is repeated without its control characters: %s', async (_, args) => {
    const { exitCode, stdout, stderr } = await runCli(args)
    expect(exitCode).not.toBe(0)
    expect(stdout + stderr).not.toBe('')
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  })
})

function helpOf(path: string): string {
  const command = path
    .split(' ')
    .reduce<Command | undefined>(
      (parent, name) => parent?.commands.find((each) => each.name() === name),
      program,
    )
  let text = ''
  command?.configureOutput({
    writeOut: (piece) => {
      text += piece
    },
  })
  command?.outputHelp()
  return text
}

function sectionOf(path: string): string {
  return guide.split(`\n## ${path}\n`)[1]?.split('\n## ')[0] ?? ''
}

function codesIn(section: string): readonly (readonly string[])[] {
  return [...section.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)].map(([, code = '', means = '']) => [
    code,
    means,
  ])
}
