import { Command, InvalidArgumentError, Option } from 'commander'
import { PRESETS, type PresetName } from '#core/compaction/plan/defaults'
import { FORMAT_NAMES, type FormatName } from '#core/message/formats/names'
import { UsageError } from '../../../host/errors.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { parseSpan } from '../../terminal/numbers.ts'

/**
 * The flags of `throughline compact`. A flag overrides the environment, which overrides the file,
 * which overrides the default.
 */
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
  readonly session?: string
  readonly preview?: true
  readonly undo?: true
  readonly wait?: true
  readonly timeout: number
  readonly json?: true
  readonly store?: string
  readonly config?: string
  readonly set?: readonly string[]
}

/** Flags for `--session`, and flags for both; all others are for a file. */
const SESSION_FLAGS = ['session', 'preview', 'undo', 'wait', 'timeout', 'json', 'store']
const COMMON_FLAGS = ['focus', 'config', 'set']

/** A flag without effect is a mistake, so it is reported. */
export function checkKinds(command: Command, file: string | undefined): void {
  const given = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  )
  const isForSession = command.getOptionValue('session') !== undefined
  if (isForSession && file !== undefined) {
    throw new UsageError('Give a file or --session, not both.')
  }
  if (!isForSession && file === undefined) {
    throw new UsageError('Give a file to compact, - for standard input, or --session ID.')
  }
  if (command.getOptionValue('undo') === true) {
    const other = given.find((option) => ['preview', 'focus'].includes(option.attributeName()))
    if (other !== undefined) throw new UsageError(`Give --undo or ${other.long}, not both.`)
  }
  for (const option of given) {
    const name = option.attributeName()
    if (COMMON_FLAGS.includes(name) || SESSION_FLAGS.includes(name) === isForSession) continue
    throw new UsageError(
      isForSession
        ? `${option.long} is for files; a session is compacted as configured.`
        : `${option.long} needs --session.`,
    )
  }
}

export function buildCompactCommand(): Command {
  const command = new Command('compact')
    .summary('make a conversation or a session smaller without losing what matters')
    .description(
      'Compacts a conversation: the older part becomes a handoff from which any model can continue, ' +
        'and the newest part stays word for word. Writes the result in the format of the input. It ' +
        'can also request the compaction of a session, or undo one.',
    )
    .argument('[file]', 'the conversation (may be gzipped), or - for standard input')
    .optionsGroup('Formats:')
    .addOption(
      new Option('-f, --format <format>', 'format of the input')
        .choices(['auto', ...FORMAT_NAMES])
        .default('auto'),
    )
    .addOption(
      new Option('--to <format>', 'format of the output; default: the same as the input').choices(
        FORMAT_NAMES,
      ),
    )
    .option('-o, --output <file>', 'write to this file instead of standard output', '-')
    .optionsGroup('Budget, in tokens (200000, 200_000 or 200k); default: as configured:')
    .addOption(
      tokens('--window <n>', 'the model’s context window, input and output together', 1).env(
        'THROUGHLINE_COMPACTION_WINDOW',
      ),
    )
    .addOption(tokens('--target-tokens <n>', 'how large the whole result may be', 1))
    .addOption(tokens('--keep-tokens <n>', 'how much of the newest part stays word for word'))
    .addOption(tokens('--user-tokens <n>', "how much of the user's own words is kept"))
    .addOption(
      tokens('--ledger-tokens <n>', 'how large the list of paths, commands and errors may be'),
    )
    .addOption(
      new Option('--preset <name>', 'start from the defaults of another system').choices(
        Object.keys(PRESETS),
      ),
    )
    .option(
      '--model <name>',
      'count tokens for this model; default: the model named in the conversation',
    )
    .option('--if-needed', 'change nothing below the threshold')
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
    .option('--focus <text>', 'what the summary should focus on')
    .option(
      '--prompt-file <file>',
      'replaces the built-in instructions; default: `compaction.prompt`',
    )
    .optionsGroup('Reports:')
    .option('--stats <file>', 'write the figures as JSON; - is standard output and needs --output')
    .option('--explain', 'show on standard error what was kept, and why')
    .optionsGroup('A session instead of a file:')
    .option('--session <session>', 'compact this session, in the process that serves its store')
    .option('--preview', 'show the handoff that it would get, and change nothing')
    .option('--undo', 'undo its newest compaction: the model sees the older messages again')
    .option('--wait', 'wait until it is done')
    .addOption(
      new Option('--timeout <time>', 'how long to wait')
        .argParser(parseSpan)
        .default(parseSpan(TIMEOUT), TIMEOUT),
    )
    .option('--json', 'print the outcome as JSON')
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'compacted, or undone; a session without --wait: requested'],
      [EXIT.failed, 'refused or failed; nothing was written'],
      [EXIT.usage, 'wrong usage or unreadable input'],
      [EXIT.nothingToCut, 'nothing to cut; the input was passed through'],
      [EXIT.cannotFit, 'cannot fit; nothing was written'],
    ],
    examples: [
      'throughline compact conversation.json --explain > smaller.json',
      'throughline compact session.jsonl --to openai-chat --target-tokens 20k -o next.json',
      'throughline compact - --if-needed --window 128k < conversation.json',
      "throughline compact chat.json --summarizer 'command:my-model'",
      'throughline compact --session build-7 --preview',
      'throughline compact --session build-7 --undo --wait',
    ],
  })
}

const TIMEOUT = '15m'

function tokens(flags: string, description: string, minimum = 0): Option {
  return new Option(flags, description).argParser((text) => parseTokens(text, minimum))
}

const UNITS: { readonly [unit: string]: number } = { k: 1_000, m: 1_000_000 }

/** `200000`, `200_000`, `200,000`, `200k` or `1.5m`. */
export function parseTokens(text: string, minimum: number): number {
  const match = /^(\d{1,15}(?:[_,]\d{3}){0,4}(?:\.\d{1,6})?)([km]?)$/i.exec(text.trim())
  const [, digits = '', unit = ''] = match ?? []
  const number = Number(digits.replace(/[_,]/g, '')) * (UNITS[unit.toLowerCase()] ?? 1)
  if (match === null || !Number.isInteger(number)) {
    throw new InvalidArgumentError('Give a whole number of tokens, such as 200000 or 200k.')
  }
  if (number < minimum) throw new InvalidArgumentError(`It must be at least ${minimum}.`)
  return number
}

function parseSeconds(text: string): number {
  const seconds = Number(text)
  // Timers cannot exceed 2^31 ms.
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw new InvalidArgumentError('Give a number of seconds, more than 0 and at most 86400.')
  }
  return seconds
}
