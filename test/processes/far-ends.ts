import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Handoff } from '../../packages/core/src/message/handoff/handoff.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import type { HandoffWriter } from '../../packages/core/src/session/handoff.ts'
import type { Edge } from '../../packages/core/src/session/sender.ts'
import type { StepRunner, ToolRunner } from '../../packages/core/src/session/step.ts'
import { pass } from './failpoints.ts'

/**
 * A scripted model, its tools, the writer of handoffs and an edge, for agents in processes of their
 * own. Each leaves a line in a file outside the store, so that a checker can compare.
 *
 * The model keeps a promise that can be checked: its last reply of a turn names the key of every
 * message that it has not answered yet, and what it knows about messages behind a handoff it knows
 * from the handoff alone. An agent that forgets leaves a message unanswered; one that is handed a
 * message twice answers twice.
 */
export interface Paces {
  readonly stepMs: number
  readonly toolMs: number
  readonly handoffMs: number
  /** One handoff in this many fails; 0: none. */
  readonly handoffFailures: number
}

export const LOGS = ['views', 'effects', 'sends', 'outcomes', 'crashes'] as const

export function note(folder: string, file: (typeof LOGS)[number], line: string): void {
  appendFileSync(join(folder, file), `${line}\n`)
}

/** A key ends with its session, so that a message in the wrong session is evident. */
const KEY = /^[a-z0-9]+-[0-9]+@[A-Za-z0-9_-]+/

function keyOf(message: Message): string | null {
  if (message.role !== 'user') return null
  const [part] = message.parts
  return part?.type === 'text' ? (KEY.exec(part.text)?.[0] ?? null) : null
}

/** The keys that the model has not answered yet, according to this context. */
function openKeys(messages: readonly Message[]): readonly string[] {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'handoff') {
      open = message.handoff.summary.split('\n')[1]?.split(' ').filter(Boolean) ?? []
    }
    const key = keyOf(message)
    if (key !== null) open.push(key)
    if (message.role === 'assistant' && !message.parts.some((part) => part.type === 'tool-call')) {
      open = []
    }
  }
  return open
}

function hashOf(text: string): number {
  let hash = 0
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003
  return hash
}

/** While this file exists, no model finishes a handoff. */
export const HOLD = 'hold-handoffs'

async function pause(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(delayMs, undefined, { signal })
    return true
  } catch {
    return false
  }
}

export function scriptedSteps(folder: string, { stepMs }: Paces): StepRunner {
  return {
    async run({ sessionId, turn, upto, context }, signal) {
      const keys = context.map(keyOf).filter((key) => key !== null)
      note(folder, 'views', [sessionId, upto, turn, ...keys].join(' '))
      pass('step')
      const isDone = await pause(stepMs, signal)
      if (!isDone) return { kind: 'interrupted', message: null, tokens: 0 }
      const last = context.at(-1)
      const key = last === undefined ? null : keyOf(last)
      const names =
        key === null ? [] : ([['effect'], ['read', 'effect'], []][hashOf(key) % 3] ?? [])
      const calls = names.map((name, index) => ({
        type: 'tool-call' as const,
        id: `call-${upto}-${index}`,
        name,
        input: {},
      }))
      const text = calls.length > 0 ? 'one moment' : `answers: ${openKeys(context).join(' ')}`
      const parts = [{ type: 'text' as const, text }, ...calls]
      return { kind: 'replied', message: { role: 'assistant', parts }, tokens: 40 }
    },
  }
}

export function scriptedTools(folder: string, { toolMs }: Paces): ToolRunner {
  return {
    isRepeatable: (name) => name === 'read',
    async run({ call, key }, signal) {
      if (!(await pause(toolMs, signal))) {
        return { outcome: 'interrupted', output: 'interrupted', tokens: 4 }
      }
      if (call.name === 'effect') {
        pass('effect.before')
        note(folder, 'effects', key)
        pass('effect.after')
      }
      return { outcome: 'ok', output: `done ${key}`, tokens: 60 }
    },
  }
}

export function scriptedWriter(
  by: Handoff['by'],
  folder: string,
  { handoffMs, handoffFailures }: Paces,
): HandoffWriter {
  return {
    async write({ operation, messages, cut, open }, signal) {
      pass('handoff')
      if (by === 'model') {
        let isDone = await pause(handoffMs, signal)
        while (isDone && existsSync(join(folder, HOLD))) isDone = await pause(20, signal)
        if (!isDone) return { kind: 'failed', reason: 'aborted' }
      }
      const isFailure = handoffFailures > 0 && hashOf(operation.id) % handoffFailures === 0
      if (by === 'model' && isFailure) return { kind: 'failed', reason: 'scripted' }
      // Unanswered messages of the head follow the handoff in full (I34).
      const head = messages.slice(0, cut).filter((_, index) => !open.includes(index))
      const known = head.map(keyOf).filter((key) => key !== null)
      const summary = [known.slice(-8).join(' '), openKeys(head).join(' ')].join('\n')
      const handoff: Handoff = {
        version: 1,
        by,
        covers: operation.covers,
        kept: messages.length - cut,
        compactions: 1,
        preserved: [],
        tasks: [],
        files: [],
        ledger: [],
        summary,
      }
      pass('handoff.written')
      return { kind: 'written', handoff, tokens: 60 }
    },
  }
}

/** Accepts every reply and logs its runner and attempt. */
export function fileEdge(folder: string): Edge {
  return {
    name: 'edge',
    async send({ sessionId, number, address, attempt, claimant }) {
      pass('send.before')
      note(folder, 'sends', [sessionId, number, address, attempt, claimant].join(' '))
      pass('send.after')
      return { kind: 'sent', receipt: `${number}` }
    },
  }
}
