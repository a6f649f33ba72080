import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { JsonValue } from '#core/base/json'
import type { PlannedFault } from '../fault-injector.ts'
import type { Fact } from '../observer.ts'
import type { LoopFigures, Order, ProcessMessage, Question, Status } from '../process-messages.ts'
import type { AgentOptions } from '../terms.ts'

/**
 * One agent's process, and after a kill the next one. Requests to a process that dies are rejected,
 * and the caller may ask another one.
 */
export interface ProcessEvents {
  effect(handle: ProcessHandle, effect: Extract<ProcessMessage, { kind: 'effect' }>): void
  wait(sessionId: string, code: string): void
  failure(handle: ProcessHandle, text: string): void
  fact(handle: ProcessHandle, fact: Fact): void
  /** Only for handles with planned faults. */
  faultMet?(handle: ProcessHandle, planned: string): void
  repeated?(handle: ProcessHandle, planned: PlannedFault, outcome: string): void
}

/** The process died before it answered; whether it carried out the request is unknown. */
export class AgentGone extends Error {
  override readonly name = 'AgentGone'
}

/** Child processes that have not ended; all of them are killed when this process exits. */
const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

const READY_MS_MAX = 180_000
const END_MS_MAX = 20_000
const STDERR_KEPT = 2_000

export class ProcessHandle {
  readonly name: string
  readonly #options: AgentOptions
  readonly #env: NodeJS.ProcessEnv
  readonly #events: ProcessEvents
  readonly #waiting = new Map<number, { resolve(value: JsonValue): void; reject(e: Error): void }>()
  #child: ChildProcess | null = null
  #isReady = false
  #isExpected = false
  #questions = 0
  #stderr = ''
  #failure = ''
  #loop: LoopFigures = { delayMsMax: 0, ownMsMax: 0 }
  status: Status | null = null
  kills = 0
  /** The runner ids of its processes, newest last. */
  readonly runners: string[] = []
  /** Runners whose sessions others may take: killed, frozen or late, but not ended in order. */
  readonly lapsed = new Set<string>()

  constructor(options: AgentOptions, env: NodeJS.ProcessEnv, events: ProcessEvents) {
    this.name = options.name
    this.#options = options
    this.#env = env
    this.#events = events
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** Over all its processes. */
  get loop(): LoopFigures {
    return this.#loop
  }

  async start(): Promise<void> {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const file = fileURLToPath(new URL(`./agent-process.${extension}`, import.meta.url))
    const child = fork(file, [], {
      execArgv: [],
      env: this.#env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    living.add(child)
    this.#child = child
    this.#isExpected = false
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(
      () => reject(new Error(`${this.name} did not begin within ${READY_MS_MAX / 1_000} s.`)),
      READY_MS_MAX,
    )
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-STDERR_KEPT)
    })
    child.on('message', (message: ProcessMessage) => {
      if (message.kind === 'ready') {
        this.#isReady = true
        resolve()
      } else this.#hear(message)
    })
    // The channel may break during a send; `exit` reports the rest.
    child.on('error', () => {})
    child.once('exit', (code, signal) => {
      living.delete(child)
      reject(new AgentGone(`${this.name} could not begin: ${this.#failure} ${this.#stderr}`))
      this.#gone(code, signal)
    })
    this.#send({ verb: 'begin', options: this.#options })
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** Rejects with `AgentGone` if the process ends first, otherwise with the error it reports. */
  ask(question: Question): Promise<JsonValue> {
    if (!this.#isReady) return Promise.reject(new AgentGone(`${this.name} is not there.`))
    const id = ++this.#questions
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>()
    this.#waiting.set(id, { resolve, reject })
    this.#send({ verb: 'ask', id, ...question })
    return promise
  }

  freeze(ms: number): void {
    this.lapse()
    this.order({ verb: 'freeze', ms })
  }

  order(order: Exclude<Order, { verb: 'begin' | 'ask' | 'end' }>): void {
    this.#send(order)
  }

  /** Marks the current process as one that may lose its sessions. */
  lapse(): void {
    const runner = this.runners.at(-1)
    if (runner !== undefined) this.lapsed.add(runner)
  }

  /** Like a power cut: the process gets no chance to report anything. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === null) return
    this.kills += 1
    await this.#killed(child)
  }

  /** Ends the process in order; if it takes too long, kills it and reports that. */
  async end(): Promise<void> {
    const child = this.#child
    if (child === null) return
    this.#isExpected = true
    const exit = once(child, 'exit')
    this.#send({ verb: 'end' })
    const timer = setTimeout(() => {
      this.#events.failure(this, `did not end within ${END_MS_MAX / 1_000} s`)
      child.kill('SIGKILL')
    }, END_MS_MAX)
    await exit
    clearTimeout(timer)
  }

  /** For the final clean-up, also after a failure. */
  async remove(): Promise<void> {
    if (this.#child !== null) await this.#killed(this.#child)
  }

  async #killed(child: ChildProcess): Promise<void> {
    this.#isExpected = true
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  #send(order: Order): void {
    this.#child?.send(order, () => {})
  }

  #hear(message: Exclude<ProcessMessage, { kind: 'ready' }>): void {
    switch (message.kind) {
      case 'answer':
        this.#waiting.get(message.id)?.resolve(message.value)
        this.#waiting.delete(message.id)
        break
      case 'refusal':
        this.#waiting.get(message.id)?.reject(new Error(message.problem))
        this.#waiting.delete(message.id)
        break
      case 'status': {
        const { kind: _, ...status } = message
        this.status = status
        const { delayMsMax, ownMsMax } = status.loop
        this.#loop = {
          delayMsMax: Math.max(this.#loop.delayMsMax, delayMsMax),
          ownMsMax: Math.max(this.#loop.ownMsMax, ownMsMax),
        }
        break
      }
      case 'wait':
        this.#events.wait(message.sessionId, message.code)
        break
      case 'effect':
        this.#events.effect(this, message)
        break
      case 'fact':
        this.#note(message)
        break
      case 'fault met':
        this.#events.faultMet?.(this, message.planned)
        break
      case 'repeated':
        this.#events.repeated?.(this, message.planned, message.outcome)
        break
      case 'failure':
        this.#failure = message.text
        this.#events.failure(this, message.text)
    }
  }

  #note(fact: Fact): void {
    if (fact.what === 'runner') this.runners.push(fact.runner)
    else if (fact.what === 'late') this.lapsed.add(fact.runner)
    this.#events.fact(this, fact)
  }

  #gone(code: number | null, signal: NodeJS.Signals | null): void {
    this.#child = null
    this.#isReady = false
    this.status = null
    if (code !== 0) this.lapse()
    const error = new AgentGone(`${this.name} is gone.`)
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
    if (this.#isExpected) return
    this.#events.failure(this, `ended by itself (${signal ?? code}): ${this.#stderr}`)
  }
}
