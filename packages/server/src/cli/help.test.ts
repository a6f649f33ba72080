import type { Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { listCommands } from './command-tree.ts'
import { commandForm, programLocation } from './hint.ts'
import { buildProgram } from './program.ts'

const program = await buildProgram([])
const all = commandsOf(program, 'throughline')

describe('the command', () => {
  it.each(all)('describes $path with every option, exit code and example', ({ command }) => {
    let text = ''
    command.configureOutput({
      getOutHelpWidth: () => 120,
      writeOut: (piece) => {
        text += piece
      },
    })
    command.outputHelp()
    const told = text.replaceAll(commandForm(programLocation()), 'throughline')
    const [, after = ''] = told.split('Exit codes:\n')
    const options = command.options.map((option) => {
      const { flags, defaultValue, argChoices, envVar, helpGroupHeading } = option
      return JSON.stringify([flags, { defaultValue, argChoices, envVar, helpGroupHeading }])
    })
    const [codes = '', examples = ''] = after.split('Examples:\n')
    const numbers = [...codes.matchAll(/^ {2}\d/gm)].join(' ')
    // Sentences are for people, and change.
    expect([command.usage(), ...options, numbers, examples].join('\n')).toMatchSnapshot()
  })

  it('takes the numbers and times that its options allow, and no other', () => {
    const bounds = all.flatMap(({ path, command }) =>
      command.options.flatMap((option) => (option.parseArg ? [boundsOf(path, option)] : [])),
    )
    expect(bounds.join('\n')).toMatchSnapshot()
  })

  it('tells shells of each command what its options and arguments take', () => {
    const lines = listCommands(program).map(({ path, argument, choices, options }) => {
      const values = options.map(({ names, value, choices }) => [names.join(), value, ...choices])
      return JSON.stringify([path, argument, ...choices, ...values])
    })
    expect(lines.join('\n')).toMatchSnapshot()
  })
})

function commandsOf(command: Command, path: string): { path: string; command: Command }[] {
  const below = command.commands.flatMap((each) => commandsOf(each, `${path} ${each.name()}`))
  return [{ path, command }, ...below]
}

const TRIED = [
  '',
  '0',
  '1',
  '2',
  '7',
  '1.5',
  '-1',
  '1e3',
  'x',
  '90s',
  '15m',
  '3-7,9',
  '99999999999',
]

/** What becomes of values, and the bounds that a refusal names. */
function boundsOf(path: string, option: Option): string {
  const found = TRIED.map((text) => {
    try {
      return `${text} ${JSON.stringify(option.parseArg?.(text, undefined as never))}`
    } catch (error) {
      return `${text} ${(error as Error).message}`
    }
  })
  return `${path} ${option.flags}: ${found.join('; ')}`
}
