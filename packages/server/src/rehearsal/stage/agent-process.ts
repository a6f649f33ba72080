import { join } from 'node:path'
import { AuditLog } from '#core/audit/log/log'
import { type Clock, systemClock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { sessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import type { Store } from '#core/store/contract'
import { HandoffThread } from '../../runtime/handoff-thread/handoff-thread.ts'
import { type LocalRuntime, openRuntime, type RuntimeOptions } from '../../runtime/open-runtime.ts'
import { keepYoungGenerationSmall } from '../../runtime/young-generation.ts'
import { FaultInjector } from '../fault-injector.ts'
import { FileEdge } from '../file-edge.ts'
import { Observer } from '../observer.ts'
import type { Order, ProcessMessage, Question, Status } from '../process-messages.ts'
import { performAction } from '../session-actions.ts'
import { type AgentOptions, LEASE, type Sabotage, STAGE_LEASE } from '../terms.ts'
import { agentTerms } from './agent-terms.ts'
import { LoopMeter } from './loop-meter.ts'
import { openLocation } from './store-location.ts'

/**
 * One agent of a rehearsal in its own process: a runtime over the shared store, as in `serve`. It
 * obeys its channel, ends in order when told to, and at once if its parent is gone.
 */
const STATUS_MS = 400

keepYoungGenerationSmall()

const meter = new LoopMeter()
const injector = new FaultInjector({
  met: ({ id }) => report({ kind: 'fault met', planned: id }),
  repeated: (planned, outcome) => report({ kind: 'repeated', planned, outcome }),
})
let agent: { runtime: LocalRuntime; store: Store; close(): Promise<void> } | undefined
let edge: FileEdge | undefined
let isResting = false
let aheadMs = 0

process.once('disconnect', () => process.exit(1))
// Ctrl-C at a terminal reaches the whole group; our parent ends us in order.
process.on('SIGINT', () => {})
process.on('message', (order: Order) => {
  obey(order).catch((error: unknown) => {
    const text = `${order.verb}: ${textOf(error)}`
    report({ kind: 'failure', text }, () => {
      if (order.verb === 'begin') process.exit(1)
    })
  })
})

async function obey(order: Order): Promise<void> {
  switch (order.verb) {
    case 'begin':
      agent = await begin(order.options)
      meter.start()
      report({ kind: 'ready' })
      break
    case 'ask':
      await answer(order.id, order)
      break
    case 'freeze':
      meter.pause(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.ms))
      break
    case 'release':
      injector.release(order.planned)
      break
    case 'clock':
      aheadMs = order.aheadMs
      break
    case 'edge':
      edge?.open(order.isOpen)
      break
    case 'end':
      await agent?.close()
      process.exit(0)
  }
}

async function begin(options: AgentOptions) {
  const { folder, location, name, isOnStage } = options
  const { clock: plantClock = sound, ...planted } =
    options.sabotage === null ? {} : await plant(options.sabotage)
  const lease = planted.lease ?? (isOnStage ? STAGE_LEASE : LEASE)
  const observer = new Observer({
    leaseMs: lease.leaseMs,
    clock: systemClock,
    report: (fact) => report({ kind: 'fact', ...fact }),
  })
  const opened = await openLocation(location)
  const store = observer.over(injector.over(restful(opened)))
  edge = isOnStage ? new FileEdge(folder) : undefined
  const reportFailure = (fields: object, text: string) => {
    const error = 'err' in fields ? `: ${textOf(fields.err)}` : ''
    report({ kind: 'failure', text: `${text}${error}` })
  }
  const audit = new AuditLog({
    folder: join(folder, 'audit'),
    clock: systemClock,
    onFailure: (error) => reportFailure({ err: error }, 'audit log cannot be written'),
  })
  const quiet = () => {}
  const handoffThread = new HandoffThread()
  const runtime = await openRuntime({
    store,
    handoffThread,
    ...agentTerms(options, (parcel) =>
      report({ kind: 'effect', parcel, overdueMs: observer.overdueMs }),
    ),
    audit,
    clock: plantClock(CLOCK),
    ...(edge !== undefined && { edges: [edge] }),
    logger: { debug: quiet, info: quiet, warn: quiet, error: reportFailure },
    ...planted,
    lease,
  })
  if (!isOnStage) await runtime.createSession({ agent: name, id: name })
  const stopReporting = new AbortController()
  const message = reportWaits(runtime, stopReporting.signal)
  // Only for display: a busy store is asked again later.
  const show = () =>
    reportStatus(runtime, options).catch((error: unknown) => {
      if (!(error instanceof KnownError && error.retryable)) reportFailure({ err: error }, 'status')
    })
  const timer = isOnStage ? undefined : setInterval(show, STATUS_MS)
  return {
    runtime,
    store: planted.seams?.store?.(store) ?? store,
    async close() {
      clearInterval(timer)
      meter.stop()
      stopReporting.abort()
      await message
      await runtime.close()
      await handoffThread.close()
      audit.close()
      await store.close()
    },
  }
}

interface Planted extends Pick<RuntimeOptions, 'lease' | 'seams'> {
  readonly clock?: (clock: Clock) => Clock
}

const sound = (clock: Clock): Clock => clock

/** Only a clone has this module; its parts replace the correct ones. */
async function plant({ module, name }: Sabotage): Promise<Planted> {
  const { plantSabotage } = await import(module)
  return plantSabotage(name)
}

/** A wall clock that can be set. */
const CLOCK: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs }

function restful(store: Store): Store {
  return {
    ...store,
    readReady: async (query) => (isResting ? [] : await store.readReady(query)),
  }
}

async function answer(id: number, question: Question): Promise<void> {
  try {
    report({ kind: 'answer', id, value: await ask(question) })
  } catch (error) {
    report({ kind: 'refusal', id, problem: textOf(error) })
  }
}

async function ask(question: Question): Promise<JsonValue> {
  if (agent === undefined) throw new Error('The agent has not begun.')
  switch (question.what) {
    case 'inject':
      injector.arm(question.planned)
      return null
    case 'rest':
      isResting = question.isResting
      return null
    default:
      return await performAction(question, agent)
  }
}

async function reportStatus(runtime: LocalRuntime, { name }: AgentOptions): Promise<void> {
  const summary = await runtime.session(sessionId(name)).summary()
  if (summary === undefined) return
  const { contextTokens, waiting, state, isCompacting } = summary
  const status: Status = { contextTokens, waiting, state, isCompacting, loop: meter.figures() }
  report({ kind: 'status', ...status })
}

async function reportWaits(runtime: LocalRuntime, signal: AbortSignal): Promise<void> {
  for await (const event of runtime.events({}, signal)) {
    if (event.type !== 'live' || event.kind !== 'notice' || event.isUpdate) continue
    report({ kind: 'wait', sessionId: event.sessionId, code: event.code })
  }
}

function report(message: ProcessMessage, done: () => void = () => {}): void {
  // After the channel closes no one listens, and this process is about to end.
  if (process.connected) process.send?.(message, undefined, undefined, done)
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
