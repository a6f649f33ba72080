import { existsSync } from 'node:fs'
import { type CompactOptions, compact } from '../../src/compaction/compact.ts'
import { writeEnvelope } from '../../src/message/envelope.ts'
import type { Message } from '../../src/message/message.ts'
import { textOf } from './atoms.ts'
import { otherEvents } from './others.ts'
import { type Score, score } from './score.ts'
import { corpusFolder, type Event, longCuts, readSessions, recordedEvents } from './sessions.ts'

/**
 * How much of what the agent goes on to use is still there after a compaction. It measures presence,
 * not understanding, and after a real compaction an agent can only use what it still knew.
 *
 * `--verbose` lists what each setting lost. Needs the corpus; says so where it is absent.
 */
const folder = corpusFolder()
const isVerbose = process.argv.includes('--verbose')

/** The measure's own tokens, so that a setting's limit and the table speak of the same thing. */
const countTokens = (text: string): number => Math.ceil(text.length / 4)

type Setting = (event: Event) => CompactOptions

const given: Setting = (event) => ({
  summaryBy: 'given',
  summarize: () => Promise.resolve({ text: event.summary ?? '', finish: 'stop' }),
})
const SUMMARY_AND_LEDGER: Setting = (event) => ({
  ...given(event),
  budget: { keepTokens: 0, userTokens: 0, ledgerTokens: 610 },
})
const DIGEST_AND_LEDGER: Setting = () => ({ budget: { keepTokens: 0, targetTokens: 5_000 } })
const TAIL_AND_LEDGER: Setting = () => ({
  budget: { keepTokens: 9_000, ledgerTokens: 3_000, targetTokens: 15_000 },
})

async function main(): Promise<void> {
  if (!existsSync(folder)) {
    console.log(`not run: corpus absent (${folder}); set THROUGHLINE_CORPUS`)
    return
  }
  const sessions = readSessions(folder)
  const recorded = recordedEvents(sessions)

  heading('Recorded compactions of Claude Code', 'prototype')
  print(
    'recorded summary alone',
    score(
      recorded,
      recorded.map((event) => event.summary ?? ''),
    ),
    '',
  )
  print('newest 12,000 tokens alone', score(recorded, recorded.map(newestText)), '52.8% @ 12,000')
  await run('summary + ledger', recorded, SUMMARY_AND_LEDGER, '70.6% @ 5,000 (ledger 2k)')
  await run('digest + ledger', recorded, DIGEST_AND_LEDGER, '65.5% @ 4,000 (ledger 4k)')
  await run(
    'tail + ledger + digest',
    recorded,
    TAIL_AND_LEDGER,
    '81.4% @ 15,000 (tail 12k, ledger 4k)',
  )
  await run('defaults', recorded, () => ({}), '')

  heading('Long stretches cut at 60%', 'prototype')
  const cuts = longCuts(sessions)
  await run('digest + ledger', cuts, DIGEST_AND_LEDGER, '64.7% @ 4,000 (ledger 4k)')
  await run('tail + ledger + digest', cuts, TAIL_AND_LEDGER, '86.0% @ 15,000 (tail 12k, ledger 4k)')

  for (const { name, events } of otherEvents(folder)) {
    heading(`Other agents: ${name}, cut at 60%`, 'prototype')
    await run('digest + ledger', events, DIGEST_AND_LEDGER, '')
  }

  console.log('\nSuccessive compactions of one history (digest + ledger, 5,000 tokens)')
  for (const times of [1, 2, 5, 10]) await runSuccessive(recorded, times)
}

async function run(name: string, events: readonly Event[], setting: Setting, prototype: string) {
  const results: string[] = []
  let unchanged = 0
  for (const event of events) {
    const compacted = await compact(event.before, { countTokens, ...setting(event) })
    if (compacted.outcome !== 'compacted') unchanged++
    results.push(contextText(compacted.messages))
  }
  print(name, score(events, results), prototype)
  if (unchanged > 0) console.log(`    ${unchanged} of them were left as they were`)
}

/** The history arrives in equal portions; each compaction works on the result of the one before. */
async function runSuccessive(events: readonly Event[], times: number): Promise<void> {
  const results: string[] = []
  const fixedTokens = new Array<number>(times).fill(0)
  for (const event of events) {
    let context: readonly Message[] = []
    for (let time = 0; time < times; time++) {
      const from = Math.floor((event.before.length * time) / times)
      const to = Math.floor((event.before.length * (time + 1)) / times)
      const messages = [...context, ...event.before.slice(from, to)]
      const setting = { countTokens, ...DIGEST_AND_LEDGER(event) }
      context = (await compact(messages, setting)).messages
      const fixed = context.filter((message) => message.role === 'handoff')
      fixedTokens[time] = (fixedTokens[time] ?? 0) + contextText(fixed).length / 4 / events.length
    }
    results.push(contextText(context))
  }
  print(`${times} times`, score(events, results), '')
  console.log(`    handoff tokens: ${fixedTokens.map((tokens) => tokens.toFixed(0)).join(' ')}`)
}

/** All that a model would read, the envelope included. */
function contextText(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      if (message.role !== 'handoff') return textOf(message)
      const { parts } = writeEnvelope(message.handoff)
      return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    })
    .join('\n')
}

function newestText(event: Event): string {
  return event.before.map(textOf).join('\n').slice(-48_000)
}

function heading(title: string, last: string): void {
  console.log(`\n${title}`)
  console.log(
    `  ${'context'.padEnd(27)} events  tokens  strict [95%]         lenient  tune    test    ${last}`,
  )
}

function print(name: string, result: Score, prototype: string): void {
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`.padEnd(7)
  const [low, high] = result.interval
  const columns = [
    `  ${name.padEnd(27)}`,
    String(result.events).padEnd(7),
    result.tokens.toFixed(0).padEnd(7),
    `${percent(result.strict)}[${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)}]`.padEnd(20),
    `${percent(result.lenient)} `,
    percent(result.tune),
    percent(result.test),
    prototype,
  ]
  console.log(columns.join(' ').trimEnd())
  if (!isVerbose) return
  for (const { event, atoms } of result.lost) console.log(`    ${event} lost: ${atoms.join(' ')}`)
}

await main()
