import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Command } from 'commander'
import { type SessionId, sessionId } from '#core/base/ids'
import { unknownText } from '../../../gateway/chat/commands.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { COMMAND_SOURCE, requireAccepted } from '../../admission.ts'
import { awaitReply } from '../../await-reply.ts'
import { openConversation, type TerminalConversation } from '../../conversation.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { findNamed, type SessionIds } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { noPaint } from '../../terminal/colours.ts'
import { writeOutput } from '../../terminal/output.ts'
import { forTerminal, printNotice } from '../../terminal/stderr.ts'
import type { ChatConnection } from './connect.ts'
import { Keyboard } from './keyboard.ts'
import { PRESENCE, readTerminalInput, runSlash } from './slash.ts'

interface ChatFlags extends StoreFlags {
  readonly local?: true
  readonly agent?: string
  readonly session?: string
}

export function chatCommand(): Command {
  const command = new Command('chat')
    .summary('talk to an agent here in the terminal')
    .description(
      'Talks to an agent. Every message is stored; leave and come back, and the ' +
        'conversation continues. With piped input each line is a message, and only the answers are ' +
        'printed. If `serve` runs on the same store, it answers, and only it needs an API key.',
    )
    .option('--agent <name>', 'the agent to talk to; default: the first one configured')
    .option(
      '--session <session>',
      'the session to talk in; default: that of the last chat with the agent',
    )
    .option('--local', 'run the agent here, even if a server runs on the same store')
    .action(async (flags: ChatFlags) => {
      process.exitCode = await runChat(flags)
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'you left; with piped input: every message was answered'],
      [EXIT.failed, 'with piped input: a message was not answered'],
      [EXIT.usage, 'wrong usage, or no such agent or session'],
    ],
    examples: [
      'throughline chat',
      'throughline chat --agent main --session notes',
      "printf 'The word is BASALT.\\nWhat is the word?\\n' | throughline chat",
    ],
  })
}

async function runChat(flags: ChatFlags): Promise<number> {
  const keyboard = Keyboard.find(process.stdin, process.stdout)
  try {
    const { connectChat } = await import('./connect.ts')
    const connection = await connectChat(flags, { isLocal: flags.local === true })
    if (connection.url !== null && flags.set !== undefined) {
      printNotice('note: --set has no effect on a running server; --local runs the agent here.')
    }
    try {
      return await runConversation(connection, flags, keyboard)
    } finally {
      await connection.close()
    }
  } finally {
    keyboard?.close()
  }
}

async function runConversation(
  connection: ChatConnection,
  flags: ChatFlags,
  keyboard: Keyboard | null,
): Promise<number> {
  const conversation = await openConversation(connection.runtime, {
    ...(flags.agent !== undefined && { agent: flags.agent }),
    ...(flags.session !== undefined && { sessionId: await named(connection.sessions, flags) }),
  })
  if (keyboard === null) {
    // An answer may be about a key that is missing here: say who runs the agent.
    if (connection.url === null && flags.local !== true) {
      printNotice('note: no server runs on this store, so this chat runs the agent itself.')
    }
    connection.onPresence((presence) => printNotice(PRESENCE[presence]))
    return await chatFromPipe(conversation)
  }
  // Loaded only here: a pipe and the help need neither an editor nor Markdown.
  const { chatOnTerminal } = await import('./terminal.ts')
  return await chatOnTerminal(conversation, connection, keyboard)
}

/** With an agent, the session may be created, so its id must be complete. */
async function named(sessions: SessionIds, { session = '', agent }: ChatFlags): Promise<SessionId> {
  const known = agent === undefined ? await findNamed(sessions, session) : undefined
  return known ?? sessionId(session)
}

/** Sends one message after another and waits for each answer, as a script expects. */
async function chatFromPipe(first: TerminalConversation): Promise<number> {
  let conversation = first
  let exitCode: number = EXIT.done
  for await (const line of joinedLines(createInterface({ input: process.stdin }))) {
    const typed = readTerminalInput(line)
    switch (typed.kind) {
      case 'nothing':
        break
      case 'unknown':
        printNotice(unknownText(typed.name))
        exitCode = EXIT.failed
        break
      case 'say':
        switch (await answerOne(conversation, typed.text)) {
          case 'answered':
            break
          case 'paused':
            return EXIT.failed
          default:
            exitCode = EXIT.failed
        }
        break
      case 'command':
        if (typed.name === 'quit') return exitCode
        if (typed.name === 'new') conversation = await conversation.startAfresh()
        else {
          const { name, rest } = typed
          const text = await runSlash({ name, rest }, conversation.session, noPaint)
          await writeOutput('-', `${forTerminal(text)}\n`)
        }
        break
      default:
        typed satisfies never
    }
  }
  return exitCode
}

async function answerOne(
  { session }: TerminalConversation,
  text: string,
): Promise<'answered' | 'unanswered' | 'paused'> {
  const message = { source: COMMAND_SOURCE, key: randomUUID() }
  const { mail } = requireAccepted(
    await session.admit({ ...message, parts: [{ type: 'text', text }] }),
    session.id,
  )
  const signal = new AbortController().signal
  const awaited = await awaitReply(session, mail, { signal, onWait: printNotice })
  if (awaited.kind === 'paused') {
    printNotice(`${awaited.text} The message is stored and is answered after that.`)
    return 'paused'
  }
  const { reply } = awaited
  if (reply !== null && reply.text !== '') await writeOutput('-', `${forTerminal(reply.text)}\n`)
  if (reply?.ended === 'answered') return 'answered'
  printNotice(`The turn ended without an answer: ${reply?.ended ?? 'withdrawn'}.`)
  return 'unanswered'
}

/** Joins a line that ends in a backslash to the next one. */
export async function* joinedLines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = ''
  for await (const line of lines) {
    if (line.endsWith('\\')) begun += `${line.slice(0, -1)}\n`
    else {
      yield begun + line
      begun = ''
    }
  }
  if (begun !== '') yield begun
}
