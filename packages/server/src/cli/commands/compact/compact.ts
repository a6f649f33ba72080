import { styleText } from 'node:util'
import type { Command } from 'commander'
import { compact } from '#core/compaction/compact'
import type { CompactResult } from '#core/compaction/report/outcome'
import type { Conversation } from '#core/message/codec'
import type { FormatName } from '#core/message/formats/names'
import { estimateTools } from '#core/tokens/estimate'
import { familyOf } from '#core/tokens/family'
import { UsageError } from '../../../host/errors.ts'
import { EXIT } from '../../exit.ts'
import { commandForm, programLocation, shellWord } from '../../hint.ts'
import { grouped } from '../../terminal/format.ts'
import { readInputText, readTextFile } from '../../terminal/input.ts'
import { writeOutput } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { forTerminal, indentedJson, printNotice } from '../../terminal/stderr.ts'
import { type FileCompaction, fileCompaction } from './config.ts'
import { legalFor, readFrom, writeAs } from './conversation-file.ts'
import { type Canvas, explainResult } from './explain.ts'
import { buildCompactCommand, type CompactFlags, checkKinds } from './options.ts'
import { compactSession } from './session.ts'
import { parseSummarizer, type Summarizer } from './summarizer.ts'

const PROMPT_BYTES_MAX = 1024 * 1024

/** How many repairs and warnings are printed; the rest are counted. `--stats` has all of them. */
const WARNINGS_PRINTED_MAX = 10

export function compactCommand(): Command {
  const command = buildCompactCommand()
  return command.action(async (file: string | undefined, flags: CompactFlags) => {
    checkKinds(command, file)
    process.exitCode =
      file === undefined ? await compactSession(flags) : await runCompact(file, flags)
  })
}

async function runCompact(file: string, flags: CompactFlags): Promise<number> {
  if (flags.stats !== undefined && flags.stats !== '-' && flags.stats === flags.output) {
    throw new UsageError(`--stats and --output both name ${flags.stats}; give each its own file.`)
  }
  if (flags.stats === '-' && flags.output === '-') {
    throw new UsageError('--stats - needs --output FILE: the conversation goes to standard output.')
  }
  const summarizer = parseSummarizer(flags.summarizer, {
    timeoutMs: flags.summarizerTimeout * 1_000,
  })
  checkPrompt(flags, summarizer)
  const configured = await fileCompaction(flags)
  const text = await readInputText(file)
  const conversation = readFrom(file, text, flags.format)

  const progress = new ProgressLine('Writing the summary')
  const compacted = await compact(conversation.messages, {
    ...buildOptions(flags, conversation, summarizer),
    ...configured,
    onProgress: ({ done, of }) => progress.update(`Writing the summary, ${done} of ${of}`),
  }).finally(() => progress.end())

  const format = flags.to ?? conversation.format
  // As many as are written: a provider may want neighbours of one role joined.
  const messagesAfter = legalFor(format, compacted.messages).length
  const result = { ...compacted, stats: { ...compacted.stats, messagesAfter } }
  const warnings = [...conversation.notes, ...result.warnings]
  if (flags.stats !== undefined) {
    const stats = buildStats({ result, conversation, format, warnings })
    await writeOutput(flags.stats, indentedJson(stats))
  }
  printWarnings(warnings)

  switch (result.outcome) {
    case 'compacted':
      await writeConversation(flags.output, writeAs(format, conversation, result.messages))
      if (flags.explain) printExplanation(file, flags, result)
      else printFigures(result)
      return EXIT.done
    case 'kept': {
      const isSame = format === conversation.format
      await writeConversation(
        flags.output,
        isSame ? text : writeAs(format, conversation, result.messages),
      )
      printNotice(
        `Nothing to cut (${result.reason}): ${result.explanation} The input was passed through.`,
      )
      return EXIT.nothingToCut
    }
    case 'refused':
      printNotice(`Refused (${result.reason}): ${result.explanation} Nothing was written.`)
      return EXIT.failed
    case 'cannot-fit':
      printNotice(`Cannot fit (${result.reason}): ${result.explanation}`)
      printNotice(
        'Raise --window or --target-tokens, or shorten the part that does not fit. Nothing was written.',
      )
      return EXIT.cannotFit
    default:
      return result.outcome satisfies never
  }
}

function checkPrompt({ promptFile, summarizer }: CompactFlags, { by }: Summarizer): void {
  if (promptFile === undefined) return
  if (readTextFile(promptFile, PROMPT_BYTES_MAX).trim() === '') {
    throw new UsageError(`${promptFile} is empty; it should contain the instructions.`)
  }
  if (by !== 'model') printNotice(`--prompt-file has no effect: ${summarizer} calls no model.`)
}

function buildOptions(
  flags: CompactFlags,
  conversation: Conversation,
  summarizer: Summarizer,
): Omit<NonNullable<Parameters<typeof compact>[1]>, keyof FileCompaction> {
  const family = familyOf(flags.model ?? conversation.model)
  const tools = conversation.wrapper?.fields['tools']
  return {
    family,
    trigger: flags.trigger,
    when: flags.ifNeeded ? 'needed' : 'always',
    ...(tools !== undefined && { overheadTokens: estimateTools(tools, family) }),
    ...(flags.focus !== undefined && { focus: flags.focus }),
    ...(summarizer.by === 'given' && { summary: summarizer.text }),
    ...(summarizer.by === 'model' && { summarize: summarizer.write }),
    now: () => performance.now(),
  }
}

function buildStats(facts: {
  readonly result: CompactResult
  readonly conversation: Conversation
  readonly format: FormatName
  readonly warnings: readonly string[]
}) {
  const { result, conversation, format, warnings } = facts
  const { outcome, reason, explanation, stats, verdict } = result
  const timings = Object.entries(stats.timingsMs).map(([stage, ms]) => [stage, roundMs(ms)])
  return {
    outcome,
    reason,
    explanation,
    format: { from: conversation.format, to: format },
    ...stats,
    timingsMs: Object.fromEntries(timings),
    verdict: verdict ?? null,
    warnings,
  }
}

function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100
}

function printExplanation(file: string, flags: CompactFlags, result: CompactResult): void {
  const { stderr } = process
  const paint: Canvas['paint'] = (colour, text) => styleText(colour, text, { stream: stderr })
  const canvas = {
    columns: Math.min(120, Math.max(40, stderr.columns ?? 80)),
    coloured: paint('bold', 'x') !== 'x',
    paint,
  }
  stderr.write(explainResult(result, canvas))
  if (result.outcome !== 'compacted' || file === '-') return
  const program = commandForm(programLocation())
  const written = flags.output === '-' ? '' : `The result is in ${flags.output}.\n`
  // Half of it, if a handoff still fits.
  const target = Math.round(result.stats.tokensAfter / 2_000) * 1_000
  const smaller = `  ${program} compact ${shellWord(file)} --target-tokens ${target} --explain -o smaller.json\n`
  stderr.write(
    `\n${written}Try next:\n${target < 2_000 ? '' : smaller}  ${program} compact --help\n`,
  )
}

function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings.slice(0, WARNINGS_PRINTED_MAX)) printNotice(`note: ${warning}`)
  const rest = warnings.length - WARNINGS_PRINTED_MAX
  if (rest > 0) printNotice(`note: and ${rest} more; --stats lists them all`)
}

function printFigures({ stats }: CompactResult): void {
  if (!process.stderr.isTTY) return
  const { tokensBefore, tokensAfter, messagesBefore, messagesAfter } = stats
  printNotice(
    `${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens, ` +
      `${grouped(messagesBefore)} -> ${grouped(messagesAfter)} messages.`,
  )
}

function writeConversation(path: string, text: string): Promise<void> {
  return writeOutput(path, path === '-' ? forTerminal(text) : text)
}
