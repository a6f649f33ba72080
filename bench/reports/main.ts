import { randomUUID } from 'node:crypto'
import { thisHost } from '../../packages/core/src/base/host.ts'
import { operationId, runnerId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { repairPairs } from '../../packages/core/src/message/pairing.ts'
import { handoffWriter } from '../../packages/core/src/session/handoff.ts'
import { limitsFor } from '../../packages/core/src/session/limits.ts'
import { previewCompaction } from '../../packages/core/src/session/preview.ts'
import { SESSION_SETTINGS } from '../../packages/core/src/session/settings.ts'
import {
  type CompactionReport,
  FATES,
  readCompactionReport,
} from '../../packages/core/src/session/view/compaction-report.ts'
import type { AdoptedEntry } from '../../packages/core/src/store/adoption.ts'
import { ADOPT_MAX } from '../../packages/core/src/store/bounds.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { newSession } from '../../packages/core/src/store/rules/create-session.ts'
import { messageCounter } from '../../packages/core/src/tokens/count.ts'
import { estimateText } from '../../packages/core/src/tokens/estimate.ts'
import { CORPUS_ABSENT, corpusConversations, corpusDir } from '../../test/support/corpus.ts'

/**
 * `npm run eval:reports -- --count 300`: conversations of the corpus as sessions, each compacted once
 * by the digest; whether the four classes of its report hold every message exactly once, how many
 * messages each class has, and how many the index finds by their own words.
 */
const WINDOWS = { min: 4_000, max: 200_000 }

const counters = {
  countTokens: (text: string) => estimateText(text, 'generic'),
  countMessage: messageCounter('generic'),
}

async function reportOn(messages: readonly Message[]): Promise<{
  readonly report: CompactionReport
  readonly said: number
  readonly ms: number
} | null> {
  const entries = messages.flatMap(adopted)
  const total = entries.reduce((sum, { tokens }) => sum + tokens, 0)
  const windowTokens = Math.min(WINDOWS.max, Math.max(WINDOWS.min, Math.round(total / 2)))
  const store = openMemoryStore()
  const id = sessionId('report')
  const limits = limitsFor({ windowTokens, fixedTokens: 0 })
  const stamp = { at: Date.now(), seed: '' }
  const session = newSession({ id, agent: 'eval', limits, policy: 'steer' }, 'imported', stamp)
  const nothing = { entries: [], mail: [], replies: [], blobs: [] }
  const operation = () => operationId(randomUUID())
  await store.adoptSession({ session, ...nothing, operation: operation() })
  const runner = runnerId(randomUUID())
  await store.registerRunner({ ...thisHost(), id: runner, startedAt: stamp.at, leaseMs: 600_000 })
  const {
    fence = 0,
    tail: born = session.tail,
    tailHash = '',
  } = (await store.findSession(id)) ?? {}
  const acquired = await store.acquire({ sessionId: id, runner, holder: 'eval', fence })
  if (acquired.kind !== 'acquired') throw new Error(`The session is ${acquired.kind}.`)
  const { lease } = acquired
  let tail = { number: born, hash: tailHash }
  for (let from = 0; from < entries.length; from += ADOPT_MAX) {
    const part = entries.slice(from, from + ADOPT_MAX)
    const outcome = await store.adoptEntries({ lease, tail, operation: operation(), entries: part })
    if (outcome.kind !== 'appended') throw new Error(`Entries were not taken: ${outcome.kind}.`)
    tail = outcome.tail
  }
  const shown = await previewCompaction(
    { store, writer: handoffWriter(counters), settings: SESSION_SETTINGS, sessionId: id },
    new AbortController().signal,
  )
  if (shown.kind !== 'previewed') return null
  const { covers, handoff } = shown
  const own = operation()
  await store.claimCompaction({
    ...{ lease, operation: own, by: 'digest', trigger: 'manual', reason: 'eval', covers },
  })
  const committed = await store.commitCompaction({
    ...{ lease, tail, operation: own, body: handoff as unknown as JsonValue, result: {} },
    tokens: counters.countMessage({ role: 'handoff', handoff }),
  })
  if (committed.kind !== 'committed') throw new Error(`Not committed: ${committed.kind}.`)
  const started = performance.now()
  const report = await readCompactionReport(store, id, committed.entry)
  if (report === undefined) throw new Error('There is no report.')
  return { report, said: entries.length, ms: performance.now() - started }
}

function adopted(message: Message, index: number): readonly AdoptedEntry[] {
  const head = { row: null, at: Date.UTC(2026, 0, 5) + index * 60_000 } as const
  const tokens = counters.countMessage(message)
  switch (message.role) {
    case 'user':
      return [{ ...head, tokens, kind: 'input', lane: 'user', body: { message: json(message) } }]
    case 'assistant': {
      const calls = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
      return [{ ...head, tokens, kind: 'assistant', calls, body: json(message) }]
    }
    case 'tool':
      return message.parts.map((part) => ({
        ...head,
        ...{ kind: 'result', call: part.callId, outcome: 'ok', body: json(part.output) },
        tokens: counters.countMessage({ role: 'tool', parts: [part] }),
      }))
    default:
      return []
  }
}

function json(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue
}

/** Each message once, in one class; the counts add up to all of them. */
function faultIn({ messages, counts, erased }: CompactionReport, said: number): string | null {
  const numbers = new Set(messages.map(({ number }) => number))
  if (numbers.size !== messages.length) return 'a message is in two classes'
  if (messages.length + erased !== said) return `${said - messages.length} messages are in no class`
  const sum = FATES.reduce((all, fate) => all + counts[fate].messages, 0)
  return sum === messages.length ? null : 'the counts do not add up'
}

async function main(): Promise<void> {
  if (corpusDir() === undefined) {
    console.log(CORPUS_ABSENT)
    return
  }
  const at = process.argv.indexOf('--count')
  const wanted = at === -1 ? 300 : Number(process.argv[at + 1])
  const classes = Object.fromEntries(FATES.map((fate) => [fate, 0]))
  let [conversations, short, faults, said, byNumber, time, slowest] = [0, 0, 0, 0, 0, 0, 0]
  for (const { name, conversation } of corpusConversations()) {
    if (conversations >= wanted) break
    const result = await reportOn(repairPairs(conversation.messages).messages)
    if (result === null) {
      short++
      continue
    }
    conversations++
    const { report, ms } = result
    const fault = faultIn(report, result.said)
    if (fault !== null) {
      faults++
      console.log(`${name}: ${fault}`)
    }
    said += result.said
    time += ms
    slowest = Math.max(slowest, ms)
    for (const fate of FATES) classes[fate] = (classes[fate] ?? 0) + report.counts[fate].messages
    byNumber += report.messages.filter(({ recalledBy }) => recalledBy === 'number').length
    if (process.stderr.isTTY) process.stderr.write(`\r${conversations} of ${wanted} `)
  }
  console.log(`${conversations} conversations, ${said} messages (${short} too short to compact)`)
  for (const fate of FATES) {
    const count = classes[fate] ?? 0
    console.log(
      `  ${fate.padEnd(11)}${String(count).padStart(7)}  ${((100 * count) / said).toFixed(1)}%`,
    )
  }
  console.log(`  of the recallable ones, ${byNumber} have no words that the index finds`)
  console.log(
    `  a report took ${(time / conversations).toFixed(0)} ms, the slowest ${slowest.toFixed(0)} ms`,
  )
  console.log(`  ${faults} reports whose classes do not partition the messages`)
  process.exitCode = faults === 0 && classes['gone'] === 0 ? 0 : 1
}

await main()
