import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../faults.ts'
import type { Frame } from '../protocols/protocol.ts'
import { planWire, type WirePlan } from './wire-plan.ts'

/** The speed of the emulated model, read again for every piece. Absent: no delay. */
export interface Speed {
  readonly firstByteMs?: number
  readonly inputTokensPerSecond?: number
  readonly outputTokensPerSecond?: number
}

export interface PlayedResponse {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** A document is a single frame. */
  readonly frames: readonly Frame[]
  readonly inputTokens: number
  /** The speed that the request asks for; absent: the server's. */
  readonly outputTokensPerSecond?: number
}

// A reset overtakes data sent just before it; this delay lets the client read that first.
const RESET_AFTER_MS = 20

/**
 * Sends an answer, with its fault if it has one. Resolves when nothing more will be sent, with
 * whether the answer was sent completely; rejects when the signal aborts the wait, as for faults
 * that never end.
 */
export async function play(
  response: ServerResponse,
  { status, headers, frames, inputTokens, outputTokensPerSecond }: PlayedResponse,
  { fault, speed, signal }: { fault: Fault | undefined; speed: Speed; signal: AbortSignal },
): Promise<'answered' | 'faulted'> {
  if (fault?.kind === 'latency') await sleep(fault.ms, undefined, { signal })
  const readMs = (inputTokens * 1_000) / (speed.inputTokensPerSecond ?? Number.POSITIVE_INFINITY)
  const firstByteMs = (speed.firstByteMs ?? 0) + readMs
  if (firstByteMs > 0) await sleep(firstByteMs, undefined, { signal })

  const plan = planWire(frames, fault)
  response.writeHead(status, headers)
  response.flushHeaders()
  // The server's speed may change during an answer.
  const pace = outputTokensPerSecond === undefined ? speed : { ...speed, outputTokensPerSecond }
  if (plan.byteMs === undefined) await sendPieces(response, plan, pace, signal)
  else await dripBytes(response, plan, plan.byteMs, signal)
  return await end(response, plan.ending, signal)
}

/** Schedules each piece by the clock, so that a late timer does not slow the whole stream. */
async function sendPieces(
  response: ServerResponse,
  { pieces }: WirePlan,
  speed: Speed,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now()
  let dueMs = 0
  for (const { bytes, tokens } of pieces) {
    dueMs += (tokens * 1_000) / (speed.outputTokensPerSecond ?? Number.POSITIVE_INFINITY)
    const waitMs = startedAt + dueMs - performance.now()
    if (waitMs > 0 && dueMs > 0) await sleep(waitMs, undefined, { signal })
    signal.throwIfAborted()
    if (!response.write(bytes)) await once(response, 'drain', { signal })
  }
}

async function dripBytes(
  response: ServerResponse,
  { pieces }: WirePlan,
  byteMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (const byte of Buffer.concat(pieces.map(({ bytes }) => bytes))) {
    await sleep(byteMs, undefined, { signal })
    response.write(Buffer.of(byte))
  }
}

async function end(
  response: ServerResponse,
  ending: WirePlan['ending'],
  signal: AbortSignal,
): Promise<'answered' | 'faulted'> {
  switch (ending) {
    case 'clean':
      response.end()
      return 'answered'
    case 'fin':
      response.socket?.destroySoon()
      return 'faulted'
    case 'reset':
      await sleep(RESET_AFTER_MS, undefined, { signal })
      response.socket?.resetAndDestroy()
      return 'faulted'
    case 'silence':
      return await silence(signal)
    default:
      return ending satisfies never
  }
}

/** Never resolves: the client leaves, or the server closes. */
export function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}
