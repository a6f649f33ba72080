import { randomUUID } from 'node:crypto'
import { KnownError } from '#core/base/errors'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { COMPACTED, unknownText } from '../../../gateway/chat/commands.ts'
import type { SessionSummary } from '../../../runtime/runtime.ts'
import { COMMAND_SOURCE, requireAccepted } from '../../admission.ts'
import type { TerminalConversation } from '../../conversation.ts'
import { EXIT } from '../../exit.ts'
import { ServerAwayError } from '../../server-client/requests.ts'
import { AnswerDisplay } from '../../terminal/answers.ts'
import { type Paint, paintOn } from '../../terminal/colours.ts'
import { completeCommand, EMPTY_DRAFT, edit, type InputDraft } from '../../terminal/editor.ts'
import { type Key, KeyReader } from '../../terminal/keys.ts'
import { printable } from '../../terminal/printable.ts'
import { TerminalScreen } from '../../terminal/screen.ts'
import type { ChatConnection } from './connect.ts'
import { SentHistory } from './history.ts'
import type { Keyboard } from './keyboard.ts'
import { recentLines } from './recent.ts'
import {
  AWAY_STATUS,
  PRESENCE,
  readTerminalInput,
  runnerText,
  runSlash,
  statusText,
  TERMINAL_COMMANDS,
} from './slash.ts'

/** An interactive chat: answers grow while the person types the next message. */
export async function chatOnTerminal(
  first: TerminalConversation,
  connection: ChatConnection,
  keyboard: Keyboard,
): Promise<number> {
  const { stdout } = process
  const screen = new TerminalScreen(stdout, paintOn(stdout))
  const talk = new TerminalTalk(screen, paintOn(stdout), connection)
  const keys = new KeyReader()
  const onResize = () => talk.redraw()
  stdout.on('resize', onResize)
  try {
    const ended = talk.run(first)
    keyboard.read(
      (piece) => {
        for (const key of keys.read(piece)) talk.press(key)
      },
      () => talk.leave(),
    )
    await ended
  } finally {
    stdout.off('resize', onResize)
  }
  return EXIT.done
}

interface Following {
  stop(): Promise<void>
  forgetNotices(): void
}

class TerminalTalk {
  readonly #screen: TerminalScreen
  readonly #paint: Paint
  readonly #connection: ChatConnection
  readonly #history = new SentHistory()
  /** Sent and not yet processed, oldest first; null: leave. */
  readonly #sent: (string | null)[] = []
  #wake: () => void = () => {}
  #following: Following = { stop: async () => {}, forgetNotices: () => {} }
  #conversation: TerminalConversation | null = null
  /** As the status line shows it. */
  #summary: SessionSummary | null = null
  #draft: InputDraft = EMPTY_DRAFT
  #isLeaving = false

  constructor(screen: TerminalScreen, paint: Paint, connection: ChatConnection) {
    this.#screen = screen
    this.#paint = paint
    this.#connection = connection
    connection.onPresence((presence) => this.#notePresence(presence))
  }

  #notePresence(presence: keyof typeof PRESENCE): void {
    this.#screen.say(this.#paint('dim', PRESENCE[presence]))
    if (presence === 'away') {
      const summary = this.#summary
      if (summary !== null) this.#screen.status(statusText(summary, this.#paint, AWAY_STATUS))
    } else if (this.#conversation !== null) {
      // The chat may be left, or the server gone again, before this is answered.
      this.#refresh(this.#conversation).catch(() => {})
    }
  }

  async run(first: TerminalConversation): Promise<void> {
    let conversation = first
    await this.#enter(conversation)
    for (let text = await this.#next(); text !== null; text = await this.#next()) {
      const next = await this.#obey(text, conversation)
      if (next === null) break
      if (next !== conversation) await this.#enter(next)
      conversation = next
    }
    await this.#following.stop()
    this.#screen.close()
  }

  press(key: Key): void {
    const edited = edit(this.#draft, key)
    if (edited.kind !== 'interrupt') this.#isLeaving = false
    switch (edited.kind) {
      case 'draft':
        this.#show(edited.draft)
        break
      case 'submit':
        this.#draft = EMPTY_DRAFT
        this.#history.add(edited.text)
        this.#screen.sent(edited.text)
        this.#send(edited.text)
        break
      case 'history': {
        const text = this.#history.go(edited.step, this.#draft.text)
        if (text !== null) this.#show({ text, cursor: text.length })
        break
      }
      case 'complete': {
        const { draft, choices } = completeCommand(this.#draft, Object.keys(TERMINAL_COMMANDS))
        if (choices.length > 0) this.#screen.say(this.#paint('dim', choices.join('  ')))
        this.#show(draft)
        break
      }
      case 'interrupt':
        void this.#interrupt()
        break
      case 'leave':
        this.leave()
        break
      case 'redraw':
        this.#screen.redraw({ isCleared: true })
        break
      default:
        edited satisfies never
    }
  }

  leave(): void {
    this.#send(null)
    this.#connection.giveUp()
  }

  redraw(): void {
    this.#screen.redraw()
  }

  #show(draft: InputDraft): void {
    this.#draft = draft
    this.#screen.draft(draft)
  }

  #send(text: string | null): void {
    this.#sent.push(text)
    this.#wake()
  }

  async #next(): Promise<string | null> {
    while (this.#sent.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#sent.shift() ?? null
  }

  async #enter(conversation: TerminalConversation): Promise<void> {
    await this.#following.stop()
    const { agent, session } = conversation
    this.#conversation = conversation
    this.#screen.speaker = this.#paint('cyan', printable(agent))
    const style = { columns: this.#screen.columns, paint: this.#paint, agent }
    for (const line of await recentLines(session, style)) this.#screen.say(line)
    const words = `Talking to ${printable(agent)} in session ${session.id}. /help lists commands, Ctrl-D leaves.`
    this.#screen.say(this.#paint('dim', words))
    this.#screen.say(this.#paint('dim', runnerText(this.#connection)))
    const { isFollowed, ...following } = this.#follow(conversation)
    this.#following = following
    // Otherwise the answer to an earlier message would not be shown.
    await isFollowed
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
          await this.#admit(conversation, typed.text)
          return conversation
        case 'command': {
          const { name, rest } = typed
          if (name === 'quit') return null
          if (name === 'new') return await conversation.startAfresh()
          if (name === 'continue') this.#following.forgetNotices()
          const outcome = await runSlash({ name, rest }, conversation.session, this.#paint)
          // The notice of the compaction says more.
          if (outcome !== COMPACTED) this.#screen.say(outcome)
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

  async #admit({ session }: TerminalConversation, text: string): Promise<void> {
    const once = { source: COMMAND_SOURCE, key: randomUUID() }
    requireAccepted(await session.admit({ ...once, parts: [{ type: 'text', text }] }), session.id)
  }

  #follow(conversation: TerminalConversation): Following & { readonly isFollowed: Promise<void> } {
    const ending = new AbortController()
    const followed = Promise.withResolvers<void>()
    const { session } = conversation
    const answers = new AnswerDisplay(session, this.#screen)
    const watch = async () => {
      for await (const event of session.events({}, ending.signal)) {
        if (event.type === 'caught-up') followed.resolve()
        await answers.show(event)
        if (changesStatus(event)) await this.#refresh(conversation)
      }
    }
    const watched = watch()
      .catch((error: unknown) => {
        if (!(error instanceof KnownError)) throw error
        // The person leaves while no server is there.
        if (error instanceof ServerAwayError) return
        this.#screen.say(this.#paint('red', printable(error.message)))
      })
      .finally(followed.resolve)
    return {
      isFollowed: followed.promise,
      forgetNotices: () => answers.forgetNotices(),
      stop: async () => {
        ending.abort()
        await watched
      },
    }
  }

  async #refresh({ session }: TerminalConversation): Promise<void> {
    const summary = await session.summary()
    if (summary === undefined) return
    this.#summary = summary
    this.#screen.status(statusText(summary, this.#paint))
  }

  /** Ctrl-C clears the draft, or stops the running turn; with neither, twice in a row leaves. */
  async #interrupt(): Promise<void> {
    if (this.#draft.text !== '' || this.#isLeaving) {
      if (this.#draft.text === '') this.leave()
      else this.#show(EMPTY_DRAFT)
      return
    }
    const session = this.#conversation?.session
    if (session !== undefined && (this.#summary?.state ?? 'idle') !== 'idle') {
      this.#screen.say('(stopping)')
      await session.stop({ source: COMMAND_SOURCE, key: randomUUID() }).catch((error: unknown) => {
        if (!(error instanceof KnownError)) throw error
        this.#screen.say(this.#paint('red', printable(error.message)))
      })
      return
    }
    this.#isLeaving = true
    this.#screen.say('(Ctrl-C again leaves, as Ctrl-D does.)')
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
