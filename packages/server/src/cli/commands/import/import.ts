import { createReadStream } from 'node:fs'
import { Command } from 'commander'
import type { ImportSessionOutcome } from '#core/store/commits'
import type { Store } from '#core/store/contract'
import { FailedError, UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { countText } from '../../terminal/format.ts'
import { reasonOf } from '../../terminal/input.ts'
import { writeOutput } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { importHermesCommand } from './hermes.ts'
import { importLogsCommands } from './logs.ts'

interface ImportFlags extends StoreFlags {
  readonly json?: true
}

export function importCommand(): Command {
  const command = new Command('import')
    .summary('import a session that `export` wrote')
    .description(
      'Imports a session that `export` wrote, under its own id, after checking its chain of ' +
        'hashes. It refuses an id that the store has or ever had. Creates the store if needed.',
    )
    .argument('<file>', 'a file that `export` wrote; - reads standard input')
    .option('--json', 'print the outcome as JSON')
    .action(async (file: string, flags: ImportFlags) => {
      const progress = new ProgressLine('Importing')
      const outcome = await importFile(file, flags).finally(() => progress.end())
      process.exitCode = await reportOutcome(file, outcome, flags)
    })
  command.addCommand(importHermesCommand())
  for (const logs of importLogsCommands()) command.addCommand(logs)
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'imported'],
      [EXIT.failed, 'a session with that id is or was there; nothing changed'],
      [EXIT.usage, 'wrong usage, or the file is incomplete; nothing changed'],
    ],
    examples: ['throughline import build-7.jsonl', 'throughline import - < build-7.jsonl'],
  })
}

/** The store is opened, and made, only once the file was read and is complete. */
async function importFile(file: string, flags: ImportFlags): Promise<ImportSessionOutcome> {
  const { importSession } = await import('#core/store/portable/portable')
  const { withStore } = await import('../../../host/store-selection.ts')
  const adoptSession: Store['adoptSession'] = (session) =>
    withStore(flags, (store) => store.adoptSession(session), { mayMake: true })
  return await importSession({ adoptSession }, linesOf(file))
}

/** Far above the longest line that `export` writes, and below the longest string of V8. */
const LINE_CHARACTERS_MAX = 256 * 1024 * 1024

async function* linesOf(file: string): AsyncIterable<string> {
  let line = ''
  let number = 1
  for await (const chunk of chunksOf(file)) {
    const [end = '', ...next] = chunk.split('\n')
    line += end
    if (line.length > LINE_CHARACTERS_MAX) {
      const problem = `longer than ${LINE_CHARACTERS_MAX} characters, so \`export\` did not write it`
      throw new UsageError(`${lineName(file, number)}: ${problem}.`)
    }
    for (const begun of next) {
      yield line
      line = begun
      number += 1
    }
  }
  yield line
}

async function* chunksOf(file: string): AsyncIterable<string> {
  const input = file === '-' ? process.stdin.setEncoding('utf8') : createReadStream(file, 'utf8')
  try {
    yield* input as AsyncIterable<string>
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`, { cause: error })
  }
}

async function reportOutcome(
  file: string,
  outcome: ImportSessionOutcome,
  { json }: ImportFlags,
): Promise<number> {
  switch (outcome.kind) {
    case 'imported': {
      const { sessionId, entries } = outcome
      if (json) await writeOutput('-', jsonLine({ sessionId, entries }))
      else
        printNotice(
          `Session ${sessionId} was imported with ${countText(entries, 'entry', 'entries')}.`,
        )
      return EXIT.done
    }
    case 'exists':
      throw new FailedError(
        `Session ${outcome.sessionId} is or was in this store, so nothing changed.`,
      )
    case 'refused':
      throw new UsageError(
        `${lineName(file, outcome.line)}: ${outcome.problem}.${outcome.line === 1 ? OTHERS : ''}`,
      )
    default:
      return outcome satisfies never
  }
}

const OTHERS =
  ' For conversations of other programs, use `import claude-code`, `import codex`, `import pi` or `import hermes`.'

/** Line 0: each line is readable, but together they are not a session. */
function lineName(file: string, line: number): string {
  const name = file === '-' ? 'Standard input' : file
  return line === 0 ? name : `${name}, line ${line}`
}
