import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MailNumber } from '#core/base/ids'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { FailedError } from '../../../host/errors.ts'
import type { CompactionView, SessionSummary } from '../../../runtime/runtime.ts'
import { COMMAND_SOURCE, requireAccepted } from '../../admission.ts'
import type { ChatSession } from '../../conversation.ts'
import type { ServerRequests } from '../../server-client/requests.ts'
import { bodyOf, type ServerSession } from '../../server-client/server-session.ts'
import { AnswerDisplay, type Screen } from '../../terminal/answers.ts'
import type { Paint } from '../../terminal/colours.ts'
import { grouped } from '../../terminal/format.ts'
import { drawFill } from '../../terminal/usage-bar.ts'
import { type DemoServer, startDemoServer } from './demo-server.ts'
import { FACT, SLOW_QUESTION, shortMessage, workMessage } from './story.ts'

/** Far more than fit the window: without a compaction, the tour ends with a reason. */
const WORK_MESSAGES_MAX = 40
/** Pieces of the slow answer that are shown before the server is killed. */
const PIECES_BEFORE_KILL = 12

const SHORT_MESSAGE_EVERY_MS = 250
const ANSWER_LINES_MAX = 2
const LINE_MAX = 140

export interface TourOptions {
  readonly store: string
  readonly server: DemoServer
  readonly requests: ServerRequests
  readonly session: ServerSession
  /** 1: at reading speed; 0: without pauses. */
  readonly pace: number
  readonly paint: Paint
  write(text: string): void
}

/** The tour: each method is one scene, and shows what the product really did. */
export class Tour {
  readonly #options: TourOptions
  #server: DemoServer

  constructor(options: TourOptions) {
    this.#options = options
    this.#server = options.server
  }

  async run(): Promise<void> {
    try {
      await this.#conversation()
      await this.#kill()
      await this.#recall()
      await this.#undo()
    } finally {
      await this.#server.kill()
    }
  }

  /** Sends messages until a background compaction ends; shows how long each answer took. */
  async #conversation(): Promise<void> {
    await this.#title('1. A long conversation plays in')
    await this.#say(FACT)
    let summary = await this.#summary()
    for (let index = 0; summary.compaction === null; index++) {
      if (index >= WORK_MESSAGES_MAX && !summary.isCompacting) {
        throw new FailedError('No compaction happened.')
      }
      // A person does not write faster, and the window would fill before the compaction ends.
      if (summary.isCompacting) await sleep(SHORT_MESSAGE_EVERY_MS)
      const startedAt = performance.now()
      await this.#ask(summary.isCompacting ? shortMessage(index) : workMessage(index))
      const took = Math.round(performance.now() - startedAt)
      summary = await this.#summary()
      const behind = summary.isCompacting ? '   a compaction runs in the background' : ''
      this.#line(
        `   message ${String(index + 2).padStart(2)}  ${this.#fill(summary)}  answered in ${String(took).padStart(4)} ms${behind}`,
      )
      await this.#pause(250)
    }
    await this.#title('2. It was compacted in the background, without a pause')
    const made = await this.#compactionInEffect()
    if (made === undefined) throw new FailedError('The compaction is not listed.')
    const sizes = `${grouped(made.tokensBefore ?? 0)} -> ${grouped(made.tokensAfter ?? 0)} tokens`
    this.#line(`   A handoff replaces entries 1 to ${made.covers}: ${sizes}.`)
    this.#line(`   Turns waited ${made.waitMs} ms for it. Session id: still ${summary.id}.`)
    await this.#pause(4_000)
  }

  async #kill(): Promise<void> {
    await this.#title('3. The server is killed in the middle of an answer')
    const screen = new TourScreen(this.#options)
    const ending = new AbortController()
    const { session, store } = this.#options
    const display = new AnswerDisplay(session, screen)
    const { promise: isFollowed, resolve: followed } = Promise.withResolvers<void>()
    const { promise: isSpeaking, resolve: speaking } = Promise.withResolvers<void>()
    const { promise: isAnswered, resolve: answered } = Promise.withResolvers<void>()
    let pieces = 0
    const watch = async () => {
      for await (const event of session.events({}, ending.signal)) {
        if (event.type === 'caught-up') followed()
        await display.show(event)
        if (isPiece(event) && ++pieces === PIECES_BEFORE_KILL) speaking()
        if (event.type === 'stored' && event.kind === 'turn ended') answered()
      }
    }
    const watched = watch()
    await isFollowed
    await this.#admit(SLOW_QUESTION)
    await Promise.race([isSpeaking, watched])
    const { pid, url } = this.#server
    screen.say(this.#options.paint('red', `   kill -9 ${pid}`))
    await this.#server.kill()
    this.#server = await startDemoServer(store, { port: new URL(url).port })
    screen.say(this.#options.paint('green', `   serve again, process ${this.#server.pid}`))
    await Promise.race([isAnswered, watched])
    ending.abort()
    await watched
    await this.#pause(3_000)
  }

  async #recall(): Promise<void> {
    await this.#title('4. A fact from the compacted part is recalled')
    await this.#say(`use recall {"query": "heron-7 backup"}`)
    await this.#pause(3_000)
  }

  async #undo(): Promise<void> {
    await this.#title('5. The compaction is undone')
    const before = await this.#summary()
    const { session, requests } = this.#options
    const path = `/v1/sessions/${session.id}/compactions/${before.compaction}/revert`
    const answer = await requests.send({ method: 'POST', path, key: randomUUID() })
    const mail = bodyOf<{ mail: number }>(answer).mail as MailNumber
    const end = await session.controlOutcome(mail, AbortSignal.timeout(60_000))
    if (end?.kind !== 'done') throw new FailedError('The compaction was not undone.')
    const after = await this.#summary()
    this.#line(`   before  ${this.#fill(before)}`)
    this.#line(`   after   ${this.#fill(after)}   every message is back, word for word`)
    await this.#pause(3_000)
  }

  async #summary(): Promise<SessionSummary> {
    const summary = await this.#options.session.summary()
    if (summary === undefined) throw new FailedError('The session of the tour is gone.')
    return summary
  }

  async #compactionInEffect(): Promise<CompactionView | undefined> {
    const { session, requests } = this.#options
    const path = `/v1/sessions/${session.id}/compactions`
    const answer = await requests.send({ method: 'GET', path })
    const { compactions } = bodyOf<{ compactions: readonly CompactionView[] }>(answer)
    return compactions.find(({ isInEffect }) => isInEffect)
  }

  async #admit(text: string): Promise<MailNumber> {
    const { session } = this.#options
    const said = { source: COMMAND_SOURCE, key: randomUUID() }
    this.#line(this.#options.paint('bold', `   > ${text}`))
    const parts = [{ type: 'text', text }] as const
    return requireAccepted(await session.admit({ ...said, parts }), session.id).mail
  }

  async #ask(text: string): Promise<string> {
    const { session } = this.#options
    const said = { source: COMMAND_SOURCE, key: randomUUID() }
    const parts = [{ type: 'text', text }] as const
    const { mail } = requireAccepted(await session.admit({ ...said, parts }), session.id)
    return await replyText(session, mail)
  }

  async #say(text: string): Promise<void> {
    this.#line(this.#options.paint('bold', `   > ${text}`))
    const lines = (await this.#ask(text)).split('\n')
    for (const line of lines.slice(0, ANSWER_LINES_MAX)) this.#line(`   ${clip(line)}`)
    await this.#pause(1_500)
  }

  async #title(text: string): Promise<void> {
    this.#line(`\n${this.#options.paint('cyan', text)}`)
    await this.#pause(1_500)
  }

  #fill({ contextTokens, windowTokens }: SessionSummary): string {
    const { text, colour } = drawFill({ tokens: contextTokens, windowTokens })
    return this.#options.paint(colour, text.padEnd(15))
  }

  #line(text: string): void {
    this.#options.write(`${text}\n`)
  }

  async #pause(ms: number): Promise<void> {
    const { pace } = this.#options
    if (pace > 0) await sleep(ms * pace)
  }
}

/** Prints answers among the tour's own lines as they arrive. */
class TourScreen implements Screen {
  readonly #write: (text: string) => void
  #isOpen = false

  constructor({ write }: Pick<TourOptions, 'write'>) {
    this.#write = write
  }

  stream(text: string): void {
    this.#write(`${this.#isOpen ? '' : '   '}${text.replaceAll('\n', '\n   ')}`)
    this.#isOpen = true
  }

  endAnswer(): void {
    if (this.#isOpen) this.#write('\n')
    this.#isOpen = false
  }

  say(text: string): void {
    this.endAnswer()
    this.#write(`${text.startsWith('(') ? '   ' : ''}${text}\n`)
  }
}

function clip(line: string): string {
  return line.length <= LINE_MAX ? line : `${line.slice(0, LINE_MAX - 1)}…`
}

function isPiece(event: RuntimeEvent): boolean {
  return event.type === 'live' && event.kind === 'delta'
}

async function replyText(session: ChatSession, mail: MailNumber): Promise<string> {
  const reply = await session.reply(mail, AbortSignal.timeout(120_000))
  if (reply?.ended !== 'answered') throw new FailedError('A message of the tour was not answered.')
  return reply.text
}
