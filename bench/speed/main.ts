/**
 * `npm run bench`: what compaction itself costs, model excluded. Machines differ and are noisy, so
 * every line is a ratio within this run; the limit beside it is the promise.
 */
import { assemble } from '../../packages/core/src/compaction/assemble.ts'
import { check } from '../../packages/core/src/compaction/check.ts'
import { compact } from '../../packages/core/src/compaction/compact.ts'
import { writeDigest } from '../../packages/core/src/compaction/digest.ts'
import { positionsFrom } from '../../packages/core/src/compaction/layout.ts'
import { buildLedger } from '../../packages/core/src/compaction/ledger/build.ts'
import { resolveBudget } from '../../packages/core/src/compaction/plan/budget.ts'
import { type CompactPlan, plan } from '../../packages/core/src/compaction/plan/plan.ts'
import { preserveUserMessages } from '../../packages/core/src/compaction/plan/preserve.ts'
import { findSecrets, redact } from '../../packages/core/src/compaction/redact/redact.ts'
import { ALL_DIALECTS } from '../../packages/core/src/message/dialects/all.ts'
import type { Handoff } from '../../packages/core/src/message/handoff/handoff.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { estimateMessage, estimateText } from '../../packages/core/src/tokens/estimate.ts'
import { measure } from '../../packages/core/src/tokens/measure.ts'
import { fastestMs } from '../../test/support/timing.ts'
import { makeConversation } from './conversation.ts'

const countTokens = (text: string) => estimateText(text, 'claude')

/** Enough for the compiler to have done its work before the fastest one. */
const ROUNDS = 30

let misses = 0
function report(what: string, figure: string, isMet: boolean): void {
  if (!isMet) misses++
  console.log(`${isMet ? 'met ' : 'MISS'}  ${what.padEnd(66)} ${figure}`)
}

function stored(messages: readonly Message[]) {
  const counts = new Map(messages.map((message) => [message, estimateMessage(message, 'claude')]))
  return (message: Message) => counts.get(message) ?? estimateMessage(message, 'claude')
}

const SUMMARY = 'Work went on. '.repeat(500)

function calibration(): void {
  const text = JSON.stringify(makeConversation(1_000, 450))
  const ms = fastestMs(() => JSON.parse(text), ROUNDS)
  console.log(`calibration: JSON.parse ${(text.length / 1e3 / ms).toFixed(0)} MB/s\n`)
}

function benchParts(): void {
  const messages = makeConversation(1_000, 450)
  const text = JSON.stringify(messages)
  const parseMs = fastestMs(() => JSON.parse(text), ROUNDS)
  const countMessage = stored(messages)
  const measured = measure(messages, countMessage)
  const budget = resolveBudget()
  const handoff = (planned: CompactPlan): Handoff => ({
    version: 1,
    by: 'model',
    covers: planned.cut,
    kept: messages.length - planned.cut,
    compactions: 1,
    preserved: preserveUserMessages({ messages, plan: planned, countTokens, countMessage })
      .messages,
    tasks: [],
    files: [],
    ledger: [],
    summary: SUMMARY,
  })
  const ownMs = fastestMs(() => {
    const planned = plan(measured, { budget, trigger: 'manual', when: 'always' })
    if (planned.kind !== 'compact') throw new Error('the bench expects something to compact')
    const counters = { countTokens, countMessage }
    const after = assemble({
      messages,
      plan: planned,
      handoff: handoff(planned),
      pins: [],
      ...counters,
    })
    return check({
      before: messages,
      after,
      plan: planned,
      hardTokens: budget.hardTokens,
      dialects: ALL_DIALECTS,
      pins: [],
      finish: 'stop',
      summaryTokensMax: planned.allotment.summary,
      ...counters,
    })
  }, ROUNDS)
  const secretsMs = fastestMs(() => findSecrets(SUMMARY), ROUNDS)
  const countedMs = ownMs - secretsMs
  report(
    'plan + assemble + check of 1,000 messages against JSON.parse of them',
    `${(countedMs / parseMs).toFixed(2)} times (${countedMs.toFixed(2)} ms, ${parseMs.toFixed(2)} ms, ` +
      `redaction of ${secretsMs.toFixed(2)} ms not counted); limit 1`,
    countedMs <= parseMs,
  )
}

/** One plan is too short to be measured. */
const PLANS = 1_000

function benchPlanning(): void {
  const budget = resolveBudget()
  const times = [1_000, 10_000, 100_000].map((count) => {
    const messages = makeConversation(count, 450)
    const measured = measure(messages, () => 150)
    const planOften = () => {
      for (let round = 0; round < PLANS; round++) {
        plan(measured, { budget, trigger: 'background', when: 'always' })
      }
    }
    return fastestMs(planOften, ROUNDS) / PLANS
  })
  const [first = 1, , last = 1] = times
  report(
    'planning at 100,000 messages against 1,000',
    `${(last / first).toFixed(2)} times (${times.map((ms) => `${(ms * 1e3).toFixed(0)} us`).join(', ')}); limit 2`,
    last <= first * 2,
  )
}

async function benchDigest(): Promise<void> {
  const messages = makeConversation(700, 900)
  const tokens = messages.reduce((sum, message) => sum + estimateMessage(message, 'claude'), 0)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 8; round++) {
    const start = performance.now()
    await compact(messages, { family: 'claude' })
    best = Math.min(best, performance.now() - start)
  }
  report(
    `whole digest compaction of ${tokens} tokens`,
    `${best.toFixed(0)} ms; limit 100 for 150,000`,
    best <= (100 * tokens) / 150_000,
  )
}

const HOSTILE: Readonly<Record<string, string>> = {
  'one letter': 'a',
  slashes: '/',
  quotes: '"',
  brackets: '[{(',
  'dotted words': 'a.',
  'key signs': 'sk-',
  assignments: 'password=',
  'at signs': 'a@b:',
  blanks: ' ',
  'line breaks': '\n',
  'url starts': 'https://',
  base64: 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo',
  digits: '1234567890',
  dashes: '-----BEGIN ',
  escapes: '\\"',
}

function benchHostile(): void {
  const tasks: Readonly<Record<string, (text: string) => unknown>> = {
    tokens: countTokens,
    redaction: redact,
    ledger: (text) =>
      buildLedger({
        previous: [],
        head: asHead(text),
        numberOf: positionsFrom(1),
        tokensMax: 2_000,
        countTokens,
      }),
    digest: (text) =>
      writeDigest({
        head: asHead(text),
        numberOf: positionsFrom(1),
        tokensMax: 2_000,
        countTokens,
      }),
  }
  for (const [name, run] of Object.entries(tasks)) {
    let worst = { ratio: 0, kind: '' }
    for (const [kind, unit] of Object.entries(HOSTILE)) {
      const small = unit.repeat(Math.ceil(100_000 / unit.length))
      const large = unit.repeat(Math.ceil(1_000_000 / unit.length))
      const smallMs = fastestMs(() => run(small))
      const ratio = fastestMs(() => run(large)) / Math.max(0.02, smallMs)
      if (ratio > worst.ratio) worst = { ratio, kind }
    }
    report(
      `${name}: hostile strings, 1 MB against 100 kB`,
      `${worst.ratio.toFixed(1)} times (${worst.kind}); limit 15`,
      worst.ratio <= 15,
    )
  }
}

function asHead(text: string): Message[] {
  return [
    { role: 'user', parts: [{ type: 'text', text }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'a', name: 'bash', input: { command: text } }],
    },
    {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', name: 'bash', output: [{ type: 'text', text }] }],
    },
  ]
}

calibration()
benchParts()
benchPlanning()
await benchDigest()
benchHostile()
console.log(misses === 0 ? '\nall limits met' : `\n${misses} limits missed`)
process.exitCode = misses === 0 ? 0 : 1
