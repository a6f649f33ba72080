import { Command } from 'commander'
import type { Loaded } from '../../../host/config/load.ts'
import type { ConfigProblem } from '../../../host/config/read/problem.ts'
import { type ConfigFlags, loadRequest } from '../../../host/flags.ts'
import { addConfigOptions } from '../../config-options.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { paintOn } from '../../terminal/colours.ts'
import { writeOutput } from '../../terminal/output.ts'
import { printable } from '../../terminal/printable.ts'
import { forTerminal, jsonLine, printNotice } from '../../terminal/stderr.ts'
import { drawTable } from '../../terminal/table.ts'
import type { InitFlags } from './init.ts'

/** Every command loads this file, so the configuration reader is imported on demand. */
export function configCommand(): Command {
  return new Command('config')
    .summary('write, check and show the configuration')
    .description('Writes, checks and shows throughline.yaml.')
    .addCommand(initCommand())
    .addCommand(checkCommand())
    .addCommand(showCommand())
    .addCommand(schemaCommand())
}

function initCommand(): Command {
  const command = new Command('init')
    .summary('ask a few questions and write throughline.yaml')
    .description(
      'Writes a first throughline.yaml. Looks for provider keys in the environment and for an ' +
        'Ollama on this machine; keys themselves are never written.',
    )
    .option('-y, --yes', 'ask nothing: use the first model found, or the stand-in')
    .option('--force', 'replace an existing file')
    .option('-o, --output <file>', 'where to write', 'throughline.yaml')
    .action(async (flags: InitFlags) => {
      const { runInit } = await import('./init.ts')
      process.exitCode = await runInit(flags)
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'written'],
      [EXIT.failed, 'cancelled'],
      [EXIT.usage, 'wrong usage, or the file already exists'],
    ],
    examples: ['throughline config init', 'throughline config init --yes --force'],
  })
}

interface ReportFlags extends ConfigFlags {
  readonly json?: true
}

function checkCommand(): Command {
  const command = addConfigOptions(new Command('check'))
    .summary('explain mistakes with line and column')
    .description('Reports every mistake in the configuration, and settings that look wrong.')
    .option('--json', 'print the result as JSON')
    .action(async (flags: ReportFlags) => {
      process.exitCode = await runCheck(flags)
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'it can be used'],
      [EXIT.failed, 'it cannot; every mistake is listed'],
      [EXIT.usage, 'wrong usage'],
    ],
    examples: [
      'throughline config check',
      'throughline config check --config other.yaml --set compaction.softShare=0.6',
    ],
  })
}

async function runCheck(flags: ReportFlags): Promise<number> {
  const { loadConfig } = await import('../../../host/config/load.ts')
  const { problemText } = await import('../../../host/config/read/problem.ts')
  const result = loadConfig(loadRequest(flags))
  const isFine = result.kind === 'loaded'
  const problems = isFine ? [] : result.problems
  const { warnings, file } = result
  if (flags.json) {
    await writeOutput('-', jsonLine({ isFine, file, problems, warnings }))
  } else {
    const line = (word: string) => (problem: ConfigProblem) => `${word}: ${problemText(problem)}\n`
    const lines = [...problems.map(line('error')), ...warnings.map(line('warning'))]
    // Text for people even in a pipe: it quotes the file.
    await writeOutput('-', printable(lines.join('')))
    printNotice(verdict(result.file, problems.length, warnings.length))
  }
  return isFine ? EXIT.done : EXIT.failed
}

function verdict(file: string | null, mistakes: number, doubts: number): string {
  const name = file ?? 'There is no throughline.yaml; the built-in configuration'
  if (mistakes + doubts === 0 && file === null) {
    return 'There is no throughline.yaml, so the built-in configuration applies. `config init` writes one.'
  }
  if (mistakes > 0) return `${name} has ${count(mistakes, 'mistake')} and cannot be used.`
  if (doubts > 0) return `${name} can be used. Look at the ${count(doubts, 'warning')} above.`
  return `${name} is valid.`
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}

interface ShowFlags extends ReportFlags {
  readonly origin?: true
}

function showCommand(): Command {
  const command = addConfigOptions(new Command('show'))
    .summary('print the configuration in effect and where each value comes from')
    .description('Prints the configuration in effect, with defaults. Secrets are masked.')
    .option('--origin', 'one line for each value, with its source')
    .option('--json', 'print the result as JSON')
    .action(async (flags: ShowFlags) => {
      const { requireConfig } = await import('../../../host/config/load.ts')
      const { problemText } = await import('../../../host/config/read/problem.ts')
      const loaded = requireConfig(loadRequest(flags))
      for (const warning of loaded.warnings) printNotice(`warning: ${problemText(warning)}`)
      await writeOutput('-', forTerminal(await report(loaded, flags)))
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'printed'],
      [EXIT.usage, 'wrong usage, or a configuration that cannot be used'],
    ],
    examples: ['throughline config show', 'throughline config show --origin --set http.port=8080'],
  })
}

async function report(loaded: Loaded, { origin, json }: ShowFlags): Promise<string> {
  const { configText, listSettings, displayConfig } = await import(
    '../../../host/config/settings.ts'
  )
  const { originText } = await import('../../../host/config/read/problem.ts')
  if (origin === undefined) return json ? jsonLine(displayConfig(loaded)) : configText(loaded)
  const settings = listSettings(loaded)
  if (json) return jsonLine(settings)
  const rows = settings.map((setting) => [
    setting.key,
    inShort(setting.value),
    setting.origin.kind === 'default'
      ? { text: 'default', colour: 'dim' as const }
      : originText(setting.origin),
  ])
  const columns = [{ title: 'key' }, { title: 'value' }, { title: 'from' }]
  return drawTable(columns, rows, paintOn(process.stdout))
}

const VALUE_CHARACTERS_MAX = 48

function inShort(value: unknown): string {
  const text = typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : JSON.stringify(value)
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX - 1)}…` : text
}

function schemaCommand(): Command {
  const command = new Command('schema')
    .summary('print the JSON schema, for editors')
    .description(
      'Prints the JSON schema of throughline.yaml, for completion and checks in editors.',
    )
    .option('-o, --output <file>', 'write to this file instead of standard output', '-')
    .action(async ({ output }: { output: string }) => {
      const { schemaText } = await import('./schema-text.ts')
      await writeOutput(output, schemaText())
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'printed'],
      [EXIT.usage, 'wrong usage, or the file cannot be written'],
    ],
    examples: ['throughline config schema -o .throughline/config.schema.json'],
  })
}
