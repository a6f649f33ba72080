import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { KnownError } from '#core/base/errors'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { unknownText } from '../../../gateway/chat/commands.ts'
import { PRIVATE_FOLDER_MODE, PRIVATE_MODE, stateFolder } from '../../../host/platform.ts'
import { COMMAND_SOURCE, taken } from '../../admission.ts'
import type { TerminalConversation } from '../../conversation.ts'
import { EXIT } from '../../exit.ts'
import { AnswerDisplay } from '../../terminal/answers.ts'
import { type Paint, paintOn } from '../../terminal/colours.ts'
import { printable } from '../../terminal/printable.ts'
import { TerminalScreen } from '../../terminal/screen.ts'
import { readTerminalInput, runSlash, statusText } from './slash.ts'

/** An interactive chat: answers grow while the person types the next message. */
export async function chatOnTerminal(first: TerminalConversation): Promise<number> {
  const { stdin, stdout } = process
  const lines = createInterface({
    input: stdin,
    output: stdout,
    terminal: true,
    history: [...readHistory()],
    historySize: HISTORY_MAX,
    removeHistoryDuplicates: true,
  })
  lines.on('history', (history) => writeHistory(history))
  const talk = new TerminalTalk(lines, new TerminalScreen(lines, stdout), paintOn(stdout))
  await talk.run(first)
  return EXIT.done
}

class TerminalTalk {
  readonly #lines: Interface
  readonly #screen: TerminalScreen
  readonly #paint: Paint
  #following: { stop(): Promise<void> } = { stop: async () => {} }
  #begun = ''
  #isLeaving = false

  constructor(lines: Interface, screen: TerminalScreen, paint: Paint) {
    this.#lines = lines
    this.#screen = screen
    this.#paint = paint
  }

  async run(first: TerminalConversation): Promise<void> {
    let conversation = first
    // Created before anything is printed, so that no line typed ahead is lost.
    const entered = this.#lines[Symbol.asyncIterator]()
    await this.#enter(conversation)
    this.#lines.on('SIGINT', () => void this.#interrupt(conversation))
    for await (const line of entered) {
      this.#screen.typed()
      this.#isLeaving = false
      if (line.endsWith('\\')) {
        this.#begun += `${line.slice(0, -1)}\n`
        continue
      }
      const next = await this.#obey(this.#begun + line, conversation)
      this.#begun = ''
      if (next === null) break
      if (next !== conversation) await this.#enter(next)
      conversation = next
    }
    await this.#following.stop()
    this.#lines.close()
    process.stdout.write('\n')
  }

  async #enter(conversation: TerminalConversation): Promise<void> {
    await this.#following.stop()
    const { agent, session } = conversation
    const words = `Talking to ${printable(agent)} in session ${session.id}. /help lists commands, Ctrl-D leaves.`
    this.#screen.say(this.#paint('dim', words))
    this.#following = this.#follow(conversation)
    await this.#refresh(conversation)
  }

  /** Null: leave. */
  async #obey(
    text: string,
    conversation: TerminalConversation,
  ): Promise<TerminalConversation | null> {
    try {
      const typed = readTerminalInput(text)
      switch (typed.kind) {
        case 'nothing':
          await this.#refresh(conversation)
          return conversation
        case 'unknown':
          this.#screen.say(unknownText(printable(typed.name)))
          return conversation
        case 'say':
          await this.#send(conversation, typed.text)
          return conversation
        case 'command': {
          const { name, rest } = typed
          if (name === 'quit') return null
          if (name === 'new') return await conversation.startAfresh()
          this.#screen.say(await runSlash({ name, rest }, conversation.session, this.#paint))
          await this.#refresh(conversation)
          return conversation
        }
        default:
          return typed satisfies never
      }
    } catch (error) {
      // A busy store or a full mailbox is reported, and the chat continues.
      if (!(error instanceof KnownError)) throw error
      this.#screen.say(this.#paint('red', printable(error.message)))
      return conversation
    }
  }

  async #send({ session }: TerminalConversation, text: string): Promise<void> {
    const once = { source: COMMAND_SOURCE, key: randomUUID() }
    taken(await session.admit({ ...once, parts: [{ type: 'text', text }] }), session.id)
  }

  #follow(conversation: TerminalConversation): { stop(): Promise<void> } {
    const ending = new AbortController()
    const { session, agent } = conversation
    const answers = new AnswerDisplay(session, {
      ...labelled(this.#screen, this.#paint('cyan', printable(agent))),
    })
    const watch = async () => {
      for await (const event of session.events({}, ending.signal)) {
        await answers.show(event)
        if (changesStatus(event)) await this.#refresh(conversation)
      }
    }
    const watched = watch().catch((error: unknown) => {
      if (!(error instanceof KnownError)) throw error
      this.#screen.say(this.#paint('red', printable(error.message)))
    })
    return {
      stop: async () => {
        ending.abort()
        await watched
      },
    }
  }

  async #refresh({ session }: TerminalConversation): Promise<void> {
    const summary = await session.summary()
    if (summary !== undefined) this.#screen.status(statusText(summary, this.#paint))
  }

  /** Ctrl-C stops the running turn; twice in a row with no turn running, it leaves. */
  async #interrupt({ session }: TerminalConversation): Promise<void> {
    const summary = await session.summary()
    if (summary !== undefined && summary.state !== 'idle') {
      await session.stop({ source: COMMAND_SOURCE, key: randomUUID() })
      this.#screen.say('(stopping)')
      return
    }
    if (this.#isLeaving) {
      this.#lines.close()
      return
    }
    this.#isLeaving = true
    this.#screen.say('(Ctrl-C again leaves, as Ctrl-D does.)')
  }
}

/** Puts the agent's name above each answer. */
function labelled(screen: TerminalScreen, name: string) {
  let isOpen = false
  return {
    stream(text: string) {
      if (text === '') return
      if (!isOpen) screen.say(name)
      isOpen = true
      screen.stream(text)
    },
    endAnswer() {
      isOpen = false
      screen.endAnswer()
    },
    say(text: string) {
      isOpen = false
      screen.say(text)
    },
  }
}

const STATUS_EVENTS: readonly string[] = [
  ...['message admitted', 'turn started', 'turn ended', 'step committed', 'settings changed'],
  ...['compaction started', 'compaction committed', 'compaction failed', 'compaction reverted'],
  ...['compaction superseded', 'compaction abandoned', 'session deleted'],
]

function changesStatus(event: RuntimeEvent): boolean {
  if (event.type === 'live') return event.kind === 'notice'
  return event.type === 'stored' && STATUS_EVENTS.includes(event.kind)
}

/** The input of earlier chats, newest first, as readline expects. */
const HISTORY_MAX = 500

function readHistory(folder = stateFolder()): readonly string[] {
  try {
    const lines = readFileSync(fileIn(folder), 'utf8').split('\n')
    return lines.filter((line) => line !== '').slice(0, HISTORY_MAX)
  } catch {
    return [] // The first chat, or an unreadable file: the chat works without a history.
  }
}

/** Private. If the folder cannot be written, only the history is lost. */
function writeHistory(lines: readonly string[], folder = stateFolder()): void {
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE })
    const text = lines.slice(0, HISTORY_MAX).map((line) => `${line}\n`)
    writeFileSync(fileIn(folder), text.join(''), { mode: PRIVATE_MODE })
  } catch {
    // As above.
  }
}

function fileIn(folder: string): string {
  return join(folder, 'chat-history')
}
