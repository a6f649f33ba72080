import { Command, InvalidArgumentError, Option } from 'commander'
import { PRESETS, type PresetName } from '../compaction/defaults.ts'
import { FORMAT_NAMES, type FormatName } from '../message/codec.ts'
import { commandForm, currentPlace } from './hint.ts'

/** The flags of `throughline compact`. Flag before environment before default. */
export interface CompactFlags {
  readonly format: FormatName | 'auto'
  readonly to?: FormatName
  readonly output: string
  readonly model?: string
  readonly window?: number
  readonly targetTokens?: number
  readonly keepTokens?: number
  readonly userTokens?: number
  readonly ledgerTokens?: number
  readonly preset?: PresetName
  readonly ifNeeded?: true
  readonly trigger: 'manual' | 'preflight'
  readonly summarizer: string
  readonly summarizerTimeout: number
  readonly focus?: string
  readonly promptFile?: string
  readonly stats?: string
  readonly explain?: true
}

export function buildCompactCommand(): Command {
  return new Command('compact')
    .summary('make a conversation smaller without losing what matters')
    .description(
      'Compacts a conversation: the older part becomes a handoff with which any model can go on, ' +
        'the newest part stays word for word. Writes the result in the format it came in.',
    )
    .argument('<file>', 'the conversation (may be gzipped), or - for standard input')
    .optionsGroup('Formats:')
    .addOption(
      new Option('-f, --format <format>', 'format of the input')
        .choices(['auto', ...FORMAT_NAMES])
        .default('auto'),
    )
    .addOption(
      new Option(
        '--to <format>',
        'format of the output; the same as the input if not given',
      ).choices(FORMAT_NAMES),
    )
    .option('-o, --output <file>', 'write there instead of to standard output', '-')
    .optionsGroup('Budget, in tokens (200000, 200_000 or 200k):')
    .addOption(tokens('--window <n>', 'what the model takes, input and output together', 1))
    .addOption(tokens('--target-tokens <n>', 'the whole result is at most this large', 1))
    .addOption(tokens('--keep-tokens <n>', 'how much of the newest part stays word for word'))
    .addOption(tokens('--user-tokens <n>', "how much of the user's own words is kept"))
    .addOption(
      tokens('--ledger-tokens <n>', 'how large the list of paths, commands and errors may be'),
    )
    .addOption(
      new Option('--preset <name>', 'start from the habits of another system')
        .choices(Object.keys(PRESETS))
        .env('THROUGHLINE_COMPACTION_PRESET'),
    )
    .option('--model <name>', 'count tokens as for this model; else as the conversation says')
    .option('--if-needed', 'leave alone what is below the threshold')
    .addOption(
      new Option('--trigger <name>', 'preflight: the last message is a new request, kept in full')
        .choices(['manual', 'preflight'])
        .default('manual'),
    )
    .optionsGroup('Summary:')
    .addOption(
      new Option(
        '--summarizer <which>',
        'digest (no model), file:PATH (a text written elsewhere) or ' +
          'command:CMD (the prompt on its standard input, the summary on its output)',
      )
        .default('digest')
        .env('THROUGHLINE_COMPACTION_SUMMARIZER'),
    )
    .addOption(
      new Option('--summarizer-timeout <seconds>', 'how long a command may take')
        .default(600)
        .argParser(parseSeconds),
    )
    .option('--focus <text>', 'what the summary should give special attention to')
    .option(
      '--prompt-file <file>',
      'replaces the built-in instructions (env: THROUGHLINE_COMPACTION_PROMPT, the text itself)',
    )
    .optionsGroup('Reports:')
    .option('--stats <file>', 'write the figures as JSON; - is standard output, with --output')
    .option('--explain', 'show on standard error what was kept, and why')
    .addHelpText('after', () => helpAfter(commandForm(currentPlace())))
}

const helpAfter = (program: string) => `
Exit codes:
  0  compacted
  1  refused or failed; nothing was written
  2  wrong usage or unreadable input
  3  nothing to cut; the input was passed through
  4  cannot fit; nothing was written

Examples:
  ${program} compact conversation.json --explain > smaller.json
  ${program} compact session.jsonl --to openai-chat --target-tokens 20k -o next.json
  ${program} compact - --if-needed --window 128k < conversation.json
  ${program} compact chat.json --summarizer 'command:my-model'`

function tokens(flags: string, description: string, minimum = 0): Option {
  const name = flags.replace(/^--/, '').split(' ')[0] ?? ''
  return new Option(flags, description)
    .argParser((text) => parseTokens(text, minimum))
    .env(`THROUGHLINE_COMPACTION_${name.toUpperCase().replaceAll('-', '_')}`)
}

const UNITS: { readonly [unit: string]: number } = { k: 1_000, m: 1_000_000 }

/** `200000`, `200_000`, `200,000`, `200k` or `1.5m`. */
export function parseTokens(text: string, minimum: number): number {
  const match = /^(\d{1,15}(?:[_,]\d{3}){0,4}(?:\.\d{1,6})?)([km]?)$/i.exec(text.trim())
  const [, digits = '', unit = ''] = match ?? []
  const number = Number(digits.replace(/[_,]/g, '')) * (UNITS[unit.toLowerCase()] ?? 1)
  if (match === null || !Number.isInteger(number)) {
    throw new InvalidArgumentError('It is a whole number of tokens, such as 200000 or 200k.')
  }
  if (number < minimum) throw new InvalidArgumentError(`It is ${minimum} at least.`)
  return number
}

function parseSeconds(text: string): number {
  const seconds = Number(text)
  // Timers hold no more than 2^31 ms.
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw new InvalidArgumentError('It is a number of seconds, more than 0 and at most 86400.')
  }
  return seconds
}
