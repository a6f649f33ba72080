import { type Clock, pause, systemClock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { clip } from '#core/base/line'
import { type Logger, SILENT } from '#core/base/logger'
import { Recent } from '#core/base/recent'
import type { UserPart } from '#core/message/message'
import type { Admission, Runtime } from '../../runtime/runtime.ts'
import { type AllowList, isHeard, isSenderAllowed, strangerText } from './allow.ts'
import { CHAT_DRAWING } from './chat-drawing.ts'
import {
  readTyped,
  runSlashCommand,
  SLASH_COMMANDS,
  type SlashName,
  unknownText,
} from './commands.ts'
import { admitEdit, type Intake } from './edits.ts'
import { errorKind } from './error-kind.ts'
import { Live } from './live.ts'
import { messageText } from './message-text.ts'
import { type ChatRoutes, earlierRoutes, followMove, moveRoutes } from './moves.ts'
import { outboxEdge } from './outbox-edge.ts'
import type { Incoming, Platform } from './platform.ts'
import { type Drafts, ReplyPresenter } from './reply-presenter.ts'

/**
 * One account of a chat platform on a runtime. Each allowed chat and topic has a session: messages
 * are durable in its mailbox before they are acknowledged to the platform, and replies leave
 * through the outbox. Messages from other chats are dropped.
 */
export interface ChatTerms {
  readonly platform: Platform
  readonly runtime: Runtime
  /** The store. */
  readonly drafts: Drafts & ChatRoutes
  /** The agent that answers these chats. */
  readonly agent: string
  readonly allow: AllowList
  /** In groups, take only messages addressed to the bot. */
  readonly needsMention: boolean
  readonly logger?: Logger
  readonly clock?: Clock
}

const KEYS_MAX = 10_000
const SAY_TRIES_MAX = 5
const SAY_WAIT_MS_MAX = 60_000
const DAMAGED_TEXT =
  'The stored data of this conversation is damaged, so your message was not accepted. Tell the operator of this bot, or start another conversation with /new.'

export function openChatGateway(terms: ChatTerms): ChatGateway {
  const gateway = new ChatGateway(terms)
  gateway.start()
  return gateway
}

export class ChatGateway {
  /** Names the channel of its routes, the source of its mail and its outbox edge. */
  readonly name: string
  readonly #terms: ChatTerms
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #presenter: ReplyPresenter
  readonly #live: Live
  readonly #done = new Recent<string, true>(KEYS_MAX)
  readonly #strangers = new Recent<string, true>(KEYS_MAX)
  readonly #closing = new AbortController()
  readonly #owned = new Set<Promise<void>>()
  /** How often handling a message failed, by its id. */
  readonly #failures = new Recent<string, number>(KEYS_MAX)
  readonly #aside = new Recent<string, true>(KEYS_MAX)
  #asideCount = 0
  #problem: string | null = null

  constructor(terms: ChatTerms) {
    const { platform, runtime, drafts, logger = SILENT, clock = systemClock } = terms
    this.name = `${platform.name}:${platform.account}`
    this.#terms = terms
    this.#clock = clock
    this.#logger = logger
    this.#presenter = new ReplyPresenter({ platform, drafts, clock })
    this.#live = new Live({ platform, runtime, presenter: this.#presenter, clock, logger })
  }

  start(): void {
    const { runtime, platform } = this.#terms
    const problems = () => [this.#problem, this.#setAsideText()].filter((each) => each !== null)
    const parts = { name: this.name, presenter: this.#presenter, problems, logger: this.#logger }
    runtime.attach(outboxEdge(parts))
    this.#live.start()
    platform.start({
      receive: (incoming) => this.receive(incoming),
      moved: (chat) => this.#follow(chat),
      setAside: (update) => this.#setAside(update),
      report: (problem) => this.#report(problem),
    })
  }

  /** Accepts nothing more; the runtime continues with the messages that it has. */
  async close(): Promise<void> {
    await this.#terms.platform.close()
    this.#closing.abort()
    await Promise.all(this.#owned)
    await this.#live.close()
  }

  /**
   * Resolves when all effects of the message are durable, or when it was set aside because it can
   * never be handled.
   */
  async receive(incoming: Incoming): Promise<'admitted' | 'other'> {
    const id = `${incoming.address} ${incoming.key} ${incoming.edit ?? ''}`
    try {
      if (!isChecked(incoming)) throw new UnreadableError()
      return await this.#receive(incoming)
    } catch (error) {
      const failures = (this.#failures.get(id) ?? 0) + 1
      this.#failures.set(id, failures)
      if (!isOfMessage(error, failures)) throw error
      this.#setAside({ id, reason: errorKind(error) })
      return 'other'
    }
  }

  async #receive(incoming: Incoming): Promise<'admitted' | 'other'> {
    const version = `${incoming.key} ${incoming.edit ?? ''}`
    if (!isHeard(this.#terms.allow, incoming) || this.#done.has(version)) return 'other'
    if (!isSenderAllowed(this.#terms.allow, incoming) && !(await this.#isMoved(incoming))) {
      this.#turnAway(incoming)
      return 'other'
    }
    if (!this.#isMeant(incoming)) return 'other'
    const reception = await this.#take(incoming)
    this.#done.set(version, true)
    return reception
  }

  /** The allow-list may still name this chat by an earlier id. */
  async #isMoved({ chat: { kind, id: chat } }: Incoming): Promise<boolean> {
    if (kind !== 'group') return false
    const earlier = await earlierRoutes(this.#terms.drafts, this.#routeOf({ address: chat }))
    return earlier.some(({ address }) => this.#terms.allow.chats.includes(address))
  }

  async #follow({ from, to }: { readonly from: string; readonly to: string }): Promise<void> {
    await followMove(this.#terms.drafts, this.#routeOf({ address: from }), to)
    this.#logger.warn({ from, to }, 'chat has another id: put it in the allow-list')
  }

  #isMeant(incoming: Incoming): boolean {
    return isForUs(incoming) || !this.#terms.needsMention
  }

  /** Sent once per chat, and in a group only if the bot is addressed. */
  #turnAway(incoming: Incoming): void {
    const { chat, address, key } = incoming
    if (!isForUs(incoming) || this.#strangers.has(chat.id)) return
    this.#strangers.set(chat.id, true)
    this.#logger.info({ chat: chat.id, sender: incoming.sender.id }, 'chat not allowed')
    this.#say(address, key, strangerText(this.#terms.platform.name, incoming))
  }

  async #take(incoming: Incoming): Promise<'admitted' | 'other'> {
    // Bots cannot run commands.
    if (incoming.sender.isBot) return await this.#admit(incoming, incoming.text)
    const typed = readTyped(incoming.text, SLASH_COMMANDS)
    switch (typed.kind) {
      case 'command':
      case 'unknown':
        // An edited command is not run: the original may have run long ago.
        if (incoming.edit !== undefined) return 'other'
        // Other bots in a group have their own commands.
        if (typed.kind === 'unknown' && !isForUs(incoming)) return 'other'
        this.#say(incoming.address, incoming.key, await this.#run(incoming, typed))
        return 'other'
      case 'nothing':
      case 'say':
        return await this.#admit(incoming, typed.kind === 'say' ? typed.text : '')
      default:
        return typed satisfies never
    }
  }

  async #run(
    incoming: Incoming,
    typed: { readonly name: string; readonly rest?: string },
  ): Promise<string> {
    const { runtime } = this.#terms
    const route = this.#routeOf(incoming)
    const once = { source: this.name, key: incoming.key }
    const { name, rest = '' } = typed
    // Chat apps send `/start` automatically when a person opens a chat with a bot.
    if (name === 'start' || name === 'help') return CHAT_DRAWING.help()
    if (!Object.hasOwn(SLASH_COMMANDS, name)) return unknownText(clip(name))
    if (name === 'new') {
      const earlier = await earlierRoutes(this.#terms.drafts, route)
      const started = await runtime.startAfresh({ ...route, ...once })
      if ('sessionId' in started) await moveRoutes(this.#terms.drafts, earlier, started.sessionId)
      return 'A new session begins with your next message; the old one stays.'
    }
    const id = await runtime.findRoute(route)
    if (id === undefined) return 'There is no session yet; send a message first.'
    const command = { name: name as Exclude<SlashName, 'new'>, rest }
    try {
      return await runSlashCommand(command, runtime.session(id), { once, draw: CHAT_DRAWING })
    } catch (error) {
      // A retry would be refused again and hold up every message behind it.
      if (!(error instanceof KnownError) || error.retryable) throw error
      return error.message
    }
  }

  async #admit(incoming: Incoming, text: string): Promise<'admitted' | 'other'> {
    const { address, key, unsupported, edit, earlier = [] } = incoming
    if (unsupported !== undefined && edit === undefined) this.#say(address, key, unsupported)
    const attached = await incoming.attachments()
    if (text === '' && attached.length === 0) return 'other'
    const before = await Promise.all(
      earlier.map(async (each) => partsOf(each, each.text, await each.attachments())),
    )
    const parts = [...before.flat(), ...partsOf(incoming, text, attached)]
    const intake: Intake = {
      route: this.#routeOf(incoming),
      message: { source: this.name, key, parts, replyTo: { edge: this.name, address } },
    }
    const { runtime } = this.#terms
    let admission: Admission | null
    try {
      admission =
        edit === undefined
          ? await runtime.admit({ ...intake.route, ...intake.message })
          : await admitEdit(runtime, intake, edit)
    } catch (error) {
      // A retry would be refused again and hold up every message behind it.
      if (!(error instanceof KnownError) || error.code !== 'damaged-row') throw error
      this.#say(address, key, DAMAGED_TEXT)
      return 'other'
    }
    if (admission === null) return 'other'
    if (admission.kind === 'admitted' || admission.kind === 'duplicate') {
      this.#live.watch(admission.sessionId, address)
    }
    const refusal = refusalText(admission)
    if (refusal === null) return 'admitted'
    this.#logger.warn({ kind: admission.kind, address }, 'message refused')
    this.#say(address, key, refusal)
    return 'other'
  }

  #routeOf({ address }: Pick<Incoming, 'address'>) {
    return { agent: this.#terms.agent, channel: this.name, address }
  }

  #setAside({ id, reason }: { readonly id: string | null; readonly reason: string }): void {
    // A platform may find the same update again.
    if (id !== null && this.#aside.has(id)) return
    if (id !== null) this.#aside.set(id, true)
    this.#asideCount += 1
    const update = id === null ? null : clip(id)
    this.#logger.error({ gateway: this.name, update, reason }, 'message set aside')
  }

  #setAsideText(): string | null {
    if (this.#asideCount === 0) return null
    const what = this.#asideCount === 1 ? '1 message' : `${this.#asideCount} messages`
    return `${what} of ${this.name} could not be read since the start and got no answer; the log has their ids.`
  }

  #report(problem: string | null): void {
    if (problem === this.#problem) return
    this.#problem = problem
    const { name } = this
    if (problem === null) this.#logger.info({ gateway: name }, 'gateway works again')
    else this.#logger.error({ gateway: name, problem }, 'gateway needs attention')
  }

  /** Sends a reply that is not stored: if it is lost, the person can ask again. */
  #say(address: string, key: string, text: string): void {
    const work = this.#sayUntilHeard(address, key, text).catch((error: unknown) => {
      this.#logger.warn({ address, err: error }, 'answer not sent')
    })
    this.#owned.add(work)
    void work.finally(() => this.#owned.delete(work))
  }

  async #sayUntilHeard(address: string, key: string, text: string): Promise<void> {
    for (let tries = 1; tries <= SAY_TRIES_MAX; tries++) {
      const sent = await this.#presenter.say({ address, text, nonce: `answer-${key}` })
      if (sent.kind === 'sent' || this.#closing.signal.aborted) return
      if (sent.why === 'final') {
        this.#logger.warn({ address, reason: sent.text }, 'answer not sent')
        return
      }
      const delayMs = Math.min(sent.retryAfterMs ?? 2 ** tries * 1_000, SAY_WAIT_MS_MAX)
      await pause(this.#clock, delayMs, this.#closing.signal)
    }
  }
}

class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

/** A platform checks what it reads; this is the last look before the values are used. */
function isChecked({
  key,
  edit = '',
  address,
  chat,
  sender,
  text,
  answers = '',
}: Incoming): boolean {
  const texts: readonly unknown[] = [
    ...[key, edit, address, chat.id, sender.id, sender.name, text, answers],
  ]
  return texts.every((each) => typeof each === 'string')
}

const REFUSED: ReadonlySet<string> = new Set(['invalid-body', 'invalid-request', 'invalid-id'])
const OF_VALUES = [TypeError, RangeError, SyntaxError, ReferenceError]
const FAILURES_MAX = 3

/**
 * Whether the message itself is the reason, so that every later attempt would fail as well. Any other
 * error, such as a store that cannot be reached, is waited out.
 */
function isOfMessage(error: unknown, failures: number): boolean {
  if (error instanceof UnreadableError) return true
  if (error instanceof KnownError) return REFUSED.has(error.code)
  return failures >= FAILURES_MAX && OF_VALUES.some((kind) => error instanceof kind)
}

function isForUs({ chat }: Incoming): boolean {
  return chat.kind === 'private' || chat.isAddressed
}

function partsOf(
  incoming: Incoming,
  text: string,
  attached: readonly UserPart[],
): readonly UserPart[] {
  const said = { type: 'text', text: messageText(incoming, text) } as const
  return said.text === '' ? attached : [said, ...attached]
}

/** Why the message was refused, for its sender; null: it was accepted, now or before. */
function refusalText(admission: Admission): string | null {
  switch (admission.kind) {
    case 'admitted':
    case 'duplicate':
    case 'conflict':
      return null
    case 'full':
      return `Your message was not accepted: ${admission.limit} are queued already. Please send it again later.`
    case 'too-large':
      return `Your message was not accepted: it has ${admission.bytes} bytes; the limit is ${admission.limit}.`
    case 'unknown-agent':
    case 'unknown':
    case 'gone':
      return 'Your message was not accepted: its agent or session no longer exists.'
    default:
      return admission satisfies never
  }
}
