import { execFileSync } from 'node:child_process'
import { Argument, Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { listCommands } from '../../command-tree.ts'
import { type CompletionShell, completionText, SHELLS } from './text.ts'

const program = new Command('throughline')
  .addCommand(
    new Command('compact')
      .description("makes 'it' smaller")
      .addOption(new Option('-f, --format <format>', 'which').choices(['auto', 'codex']))
      .option('--explain', 'why')
      .option('--store <path>', 'where')
      .option('--agent <name>', 'whose')
      .option('--session <session>', 'which one'),
  )
  .addCommand(new Command('show').argument('<session>', 'its id'))
  .addCommand(new Command('import').argument('<file>', 'what'))
  .addCommand(new Command('search').argument('<text...>', 'words'))
  .addCommand(
    new Command('service').addCommand(
      new Command('print').addArgument(new Argument('<kind>').choices(['systemd', 'nssm'])),
    ),
  )

const nodes = listCommands(program)

describe('bash completion', () => {
  it.each([
    [['co'], ['compact']],
    [['compact', '--ex'], ['--explain']],
    [['compact', '--format', 'co'], ['codex']],
    [
      ['compact', '-f', ''],
      ['auto', 'codex'],
    ],
    // Files where a file is expected, ids where a session is, otherwise nothing.
    [['compact', '--store', 'text.te'], ['text.test.ts']],
    [['compact', '--agent', 'text.te'], []],
    [
      ['compact', '--session', 'main-'],
      ['main-1', 'main-2'],
    ],
    [['show', 'oth'], ['other_3']],
    [['import', 'text.te'], ['text.test.ts']],
    [['search', 'text.te'], []],
    [['service', 'pr'], ['print']],
    [
      ['service', 'print', ''],
      ['systemd', 'nssm', '-h', '--help'],
    ],
  ])('completes %j', (words, offered) => {
    expect(completeInBash(words)).toEqual(offered)
  })
})

describe('completionText', () => {
  it.each(SHELLS)('names every command and flag for %s', (shell) => {
    const text = completionText(shell, nodes)
    for (const word of ['compact', 'service', 'print', 'explain', 'codex', 'nssm']) {
      expect(text).toContain(word)
    }
  })

  it.each([
    ['zsh', ['-n']],
    ['fish', ['--no-execute']],
  ] as const)('is a script that %s reads', (shell, flags) => {
    const text = completionText(shell, nodes)
    // Not every machine has the shell; unbalanced quotes are detected without it.
    expect(text.replaceAll("'\\''", '').split("'").length % 2).toBe(1)
    if (hasShell(shell)) execFileSync(shell, flags, { input: text })
  })
})

function completeInBash(words: readonly string[]): readonly string[] {
  const list = ['throughline', ...words].map((word) => `'${word}'`).join(' ')
  const rows = ['main-1', 'main-2', 'other_3'].map((id) => JSON.stringify({ id, title: 'x' }))
  const script = `${completionText('bash', nodes)}
throughline() { printf '%s\\n' ${rows.map((row) => `'${row}'`).join(' ')}; }
COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _throughline; printf '%s\\n' "\${COMPREPLY[@]}"`
  const printed = execFileSync('bash', ['-c', script], { cwd: import.meta.dirname }).toString()
  return printed.split('\n').filter((line) => line !== '')
}

function hasShell(shell: CompletionShell): boolean {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
