import { Console } from 'node:console'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { StoreFlags } from '../../../host/flags.ts'
import { onEndSignal } from '../../../host/operating-system.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { countOption } from '../../terminal/numbers.ts'
import { printNotice } from '../../terminal/stderr.ts'

interface McpFlags extends StoreFlags {
  readonly agent: string
  readonly session?: readonly string[]
  readonly window: number
}

const WINDOW = { min: 4_000, max: 100_000_000 }

export function mcpCommand(): Command {
  const command = new Command('mcp')
    .summary('give agents in other programs a memory, over MCP')
    .description(
      'Serves session_append, session_search, session_recall, context_status and compact_now over ' +
        'standard input and output, for any program that speaks the Model Context Protocol. Ends ' +
        'when its client does. Creates the store if needed; several processes may share it.',
    )
    .addOption(
      new Option('--agent <name>', 'the agent whose sessions clients create and use')
        .argParser(parseAgent)
        .default('external'),
    )
    .option('--session <id...>', 'limit access to these sessions of the agent')
    .addOption(
      countOption('--window <tokens>', 'the context window of that agent’s model', WINDOW).default(
        128_000,
      ),
    )
    .action(async (flags: McpFlags, { parent }: Command) => {
      process.exitCode = await runMcp(flags, parent?.version() ?? '')
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'the client left, or a signal stopped it'],
      [EXIT.failed, 'the store cannot be reached now'],
      [EXIT.usage, 'wrong usage or configuration'],
    ],
    examples: [
      'throughline mcp',
      'throughline mcp --store /var/lib/agents/memory.db --agent coder',
    ],
  })
}

async function runMcp(
  { agent, session, window, ...flags }: McpFlags,
  version: string,
): Promise<number> {
  // Standard output belongs to the protocol; libraries must not write to it.
  globalThis.console = new Console(process.stderr)
  const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
  const { serveMcp } = await import('../../../gateway/mcp/serve.ts')
  const { ForeignHistory } = await import('../../../runtime/sessions/foreign-history.ts')
  const asked = new AbortController()
  const unlisten = onEndSignal(() => asked.abort())
  try {
    return await withStoreRuntime(
      flags,
      async ({ runtime, store }) => {
        const history = new ForeignHistory(store)
        const sessions = session === undefined ? null : new Set(session)
        await serveMcp(
          { runtime, history, agent, sessions, windowTokens: window, version },
          {
            input: process.stdin,
            output: process.stdout,
            signal: asked.signal,
            onError: (error) => printNotice(`mcp: ${error.message}`),
          },
        )
        return EXIT.done
      },
      { mayMake: true },
    )
  } finally {
    unlisten()
  }
}

const AGENT = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

function parseAgent(text: string): string {
  if (!AGENT.test(text)) {
    throw new InvalidArgumentError('Use 1 to 64 letters, digits, "_" and "-".')
  }
  return text
}
