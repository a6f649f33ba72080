import { statSync } from 'node:fs'
import { Command, Option } from 'commander'
import { parseSnapshotName, type SessionId, type SnapshotName, snapshotName } from '#core/base/ids'
import type { ReadStore } from '#core/store/contract'
import {
  EXPORT_NAMES,
  type ExportForm,
  exportAs,
  idElsewhere,
} from '../../../gateway/text/export-session.ts'
import { UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { Runtime } from '../../../runtime/runtime.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { requireNamed, unknownSession } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { countText } from '../../terminal/format.ts'
import { writeOutput, writeStream } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'

interface ExportFlags extends StoreFlags {
  readonly output: string
  readonly to?: 'hermes' | ExportForm
  readonly force?: true
  readonly json?: true
}

export function exportCommand(): Command {
  const command = new Command('export')
    .summary('write one session as JSON lines for `import`, for people, or for another program')
    .description(
      'Writes one whole session as JSON lines: transcript, mailbox, queued replies and ' +
        'attachments. Another store imports it under the same id. With --to hermes it becomes a new ' +
        'state.db in which Hermes continues the conversation. --to markdown and --to html write the ' +
        'whole transcript for people; --to claude-code, codex and openai-chat write what the model sees ' +
        'now, as a file of that format. A snapshot (ID.snapshot.N) is ' +
        'exported for reading, with its entries and its context; no store imports it. Only reads.',
    )
    .argument('<session>', 'its id, a unique prefix of it, or a snapshot: ID.snapshot.N')
    .option('-o, --output <file>', 'write to this file instead of standard output', '-')
    .option('--force', 'replace the file if there is one')
    .addOption(
      new Option('--to <form>', 'a form for people, or the format of another program').choices([
        'hermes',
        ...EXPORT_NAMES,
      ]),
    )
    .option('--json', 'with --to: print the result as JSON')
    .action(async (id: string, flags: ExportFlags) => {
      const { withReadRuntime } = await import('../../../host/with-runtime.ts')
      process.exitCode = await withReadRuntime(flags, async ({ runtime, store, lost }) => {
        if (lost !== null) printNotice(`warning: ${lost}`)
        const snapshot = parseSnapshotName(id)
        const named = await requireNamed(store, snapshot?.sessionId ?? id)
        if (snapshot !== undefined) {
          if (flags.to !== undefined)
            throw new UsageError('A snapshot cannot be exported with --to.')
          const name = { ...snapshot, sessionId: named }
          return await write(flags, snapshotLines(runtime, name), `Snapshot ${id}`)
        }
        const session = runtime.session(named)
        const summary = await session.summary()
        if (summary === undefined) throw unknownSession(named)
        if (summary.state === 'gone') {
          throw new UsageError(`Session ${named} was purged; there is nothing to export.`)
        }
        const { to } = flags
        if (to === 'hermes') return await toHermes(named, store, flags)
        const folder = process.cwd()
        const lines =
          to === undefined
            ? session.exportLines()
            : exportAs(session, summary, { form: to, folder })
        const written = await write(flags, lines, `Session ${named}`)
        const { output } = flags
        if (output !== '-' && (to === 'claude-code' || to === 'codex'))
          printNotice(resumeHint(to, { id: idElsewhere(named), folder, output }))
        return written
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'written'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, or no such store or session, or the file cannot be written'],
    ],
    examples: [
      'throughline export build-7 -o build-7.jsonl',
      'throughline export build-7 | throughline import - --store other.db',
      'throughline export build-7 --to html -o build-7.html',
      'throughline export build-7 --to hermes -o state.db',
      'throughline export build-7 --to claude-code -o build-7.jsonl',
      'throughline export build-7.snapshot.57 -o before-57.jsonl',
    ],
  })
}

/** Where the client looks for its sessions, and how it opens this one. */
function resumeHint(
  client: 'claude-code' | 'codex',
  { id, folder, output }: { readonly id: string; readonly folder: string; readonly output: string },
): string {
  const [day = ''] = new Date().toISOString().split('T')
  const [file, command] =
    client === 'claude-code'
      ? [
          `.claude/projects/${folder.replaceAll(/[^A-Za-z0-9]/g, '-')}/${id}.jsonl`,
          'claude --resume',
        ]
      : [
          `.codex/sessions/${day.replaceAll('-', '/')}/rollout-${day}T00-00-00-${id}.jsonl`,
          'codex resume',
        ]
  return `To continue it, move ${output} to ~/${file} and run \`${command} ${id}\` in ${folder}.`
}

async function write(
  { output: path, force }: ExportFlags,
  lines: AsyncIterable<string>,
  what: string,
): Promise<number> {
  if (path !== '-' && force !== true && statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError(`${path} already exists. Choose another file, or replace it with --force.`)
  }
  await writeStream(path, lines)
  if (path !== '-') printNotice(`${what} was written to ${path}.`)
  return EXIT.done
}

const PAGE = 500

async function* snapshotLines(runtime: Runtime, name: SnapshotName): AsyncIterable<string> {
  const { findSnapshot } = await import('../show/show.ts')
  const { entries, transcript, context } = await findSnapshot(
    runtime.session(name.sessionId),
    name.compaction,
  )
  const format = 'throughline-snapshot'
  yield jsonLine({ format, version: 1, snapshot: snapshotName(name), ...name, entries })
  for (let from = 1; from <= entries; from += PAGE) {
    const page = await transcript({ from, to: Math.min(entries, from + PAGE - 1) })
    for (const entry of page) yield jsonLine({ entry })
  }
  yield jsonLine({ context: await context() })
}

async function toHermes(session: SessionId, reads: ReadStore, flags: ExportFlags): Promise<number> {
  if (flags.output === '-') {
    throw new UsageError('Name the new state.db with -o; a database cannot be written to a pipe.')
  }
  const { exportHermes } = await import('../../../migration/hermes/export/export.ts')
  const { loadParts } = await import('#core/session/blobs')
  const written = await exportHermes({
    ...{ reads, sessionId: session, to: flags.output },
    unshelve: async (message) => (await loadParts(reads, session, [message]))[0] ?? message,
  })
  if (flags.json) {
    await writeOutput('-', jsonLine(written))
    return EXIT.done
  }
  printNotice(
    `Session ${written.id} was written to ${written.to}: ${countText(written.rows, 'row')}, ${written.live} of them in the context.`,
  )
  for (const [kind, count] of Object.entries(written.left)) {
    printNotice(`Not written, because a state.db cannot hold it: ${countText(count, kind)}.`)
  }
  return EXIT.done
}
