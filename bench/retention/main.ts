import {
  CORPUS_ABSENT,
  corpusConversations,
  corpusDir,
  corpusFiles,
} from '../../test/support/corpus.ts'
import { wordsOf } from './atoms.ts'
import {
  type ContextText,
  contextOf,
  HARDER_KINDS,
  type HarderCase,
  type HarderKind,
  harderCases,
} from './harder.ts'
import { OTHER_AGENTS, otherEvents } from './others.ts'
import { type Score, scoreOf } from './score.ts'
import { type KeptSentences, keptSentences } from './sentences.ts'
import { type Event, longCuts, readSessions, recordedEvents } from './sessions.ts'
import {
  DEFAULTS,
  DIGEST_AND_LEDGER,
  runClearing,
  runCommand,
  runSetting,
  runSuccessive,
  type Setting,
  SUMMARY_AND_LEDGER,
  TAIL_AND_LEDGER,
} from './settings.ts'

/**
 * How much of what the agent goes on to use is still there after a compaction: atoms of
 * its later tool calls that only the compacted part held. It measures presence, not understanding;
 * after a real compaction an agent can only use what it still knew; and one project dominates the
 * recorded sessions. The ledger cuts text into words much as the measure cuts arguments into atoms,
 * so what is tested is which words are worth their room, not how words are found.
 *
 * `--verbose` lists what each setting lost. Needs the corpus, and says so where it is absent.
 */
const isVerbose = process.argv.includes('--verbose')

async function main(): Promise<void> {
  const folder = corpusDir()
  if (folder === undefined) {
    console.log(CORPUS_ABSENT)
    return
  }
  const sessions = readSessions(folder)
  const recorded = recordedEvents(sessions)

  heading('Recorded compactions of Claude Code')
  const summaries = recorded.map((event) => event.summary ?? '')
  print('recorded summary alone', scoreOf(recorded, summaries))
  print('newest text alone', scoreOf(recorded, recorded.map(newestText)), '52.8%: tail 12k')
  await run('summary + ledger', recorded, SUMMARY_AND_LEDGER, '70.6%: summary, ledger 2k')
  await run('digest + ledger', recorded, DIGEST_AND_LEDGER, '65.5%: ledger 4k')
  const command = await runCommand(recorded, 5_000)
  print('the command, 5,000', command.score)
  await run('tail + ledger + digest', recorded, TAIL_AND_LEDGER, '81.4%: tail 12k, ledger 4k')
  await run('defaults', recorded, DEFAULTS)

  const { cleared, compacted } = await runClearing(recorded, 100)
  print('results cleared to 100', cleared.score)
  print('  compacted into that', compacted.score)

  printHarder(recorded, [
    ['cleared to 100', cleared.results],
    ['compacted into that', compacted.results],
    ['recorded summary', summaries],
    ['digest + ledger', (await runSetting(recorded, DIGEST_AND_LEDGER)).results],
    ['summary + ledger', (await runSetting(recorded, SUMMARY_AND_LEDGER)).results],
    ['tail + ledger', (await runSetting(recorded, TAIL_AND_LEDGER)).results],
  ])

  heading('Long stretches of the same sessions, cut at 60%')
  const cuts = longCuts(sessions)
  await run('digest + ledger', cuts, DIGEST_AND_LEDGER, '64.7%: ledger 4k')
  await run('tail + ledger + digest', cuts, TAIL_AND_LEDGER, '86.0%: tail 12k, ledger 4k')

  for (const agent of OTHER_AGENTS) {
    heading(`Other agents, cut at 60%: ${agent}`)
    await run('digest + ledger', otherEvents(agent), DIGEST_AND_LEDGER)
  }

  await printSentences(3_000)

  heading('The recorded histories in portions, each compacted with the result so far')
  for (const times of [1, 2, 5, 10]) {
    const { score, handoffTokens } = await runSuccessive(recorded, times)
    print(`${times} times`, score)
    console.log(`    handoff tokens ${handoffTokens.map((tokens) => tokens.toFixed()).join(' ')}`)
  }
}

async function run(name: string, events: readonly Event[], setting: Setting, prototype = '') {
  const { score, unchanged } = await runSetting(events, setting)
  print(name, score, prototype)
  if (unchanged > 0) console.log(`    ${unchanged} of them were left as they were`)
}

/** Pooled over the events: many have only a few cases of a kind. */
function printHarder(
  events: readonly Event[],
  contexts: readonly (readonly [name: string, texts: readonly string[]])[],
): void {
  const cases = events.map(harderCases)
  const total = (kind: HarderKind) => cases.flat().filter((each) => each.kind === kind).length
  const columns = HARDER_KINDS.map((kind) => `${kind} (${total(kind)})`.padEnd(16)).join('')
  console.log(
    `\nHarder to keep, in the same compactions\n  ${'context'.padEnd(20)}${columns}stale values`,
  )
  for (const [name, texts] of contexts) {
    const read = texts.map(contextOf)
    const count = (test: (each: HarderCase, at: ContextText) => boolean) =>
      cases.reduce(
        (sum, own, at) => sum + own.filter((each) => test(each, read[at] ?? contextOf(''))).length,
        0,
      )
    const shares = HARDER_KINDS.map((kind) => {
      const kept = count((each, at) => each.kind === kind && each.isKept(at))
      return `${((100 * kept) / Math.max(1, total(kind))).toFixed(1)}%`.padEnd(16)
    })
    const stale = count((each, at) => each.isStale?.(at) === true)
    console.log(`  ${name.padEnd(20)}${shares.join('')}${stale}`)
  }
}

async function printSentences(targetTokens: number): Promise<void> {
  const all: KeptSentences[] = []
  for (const session of corpusConversations(corpusFiles('claude-code'))) {
    const kept = await keptSentences(session, targetTokens)
    if (kept?.isCompacted) all.push(kept)
  }
  const print = (name: string, list: readonly KeptSentences[]) => {
    const whole = list.filter(({ lost }) => lost.length === 0)
    const sentences = list.reduce((sum, each) => sum + each.sentences, 0)
    const lost = list.reduce((sum, each) => sum + each.lost.length, 0)
    console.log(
      `  ${name}: ${whole.length} of ${list.length} keep every one; ` +
        `${sentences - lost} of ${sentences} sentences kept`,
    )
  }
  console.log(`\nSentences of the user under 200 characters, at a target of ${targetTokens}`)
  print('all sessions of Claude Code', all)
  print(
    'those with blocks of the host',
    all.filter(({ hasHostBlocks }) => hasHostBlocks),
  )
  for (const { name, characters, lost } of all.filter((each) => each.lost.length > 0)) {
    console.log(
      `    ${name.slice(0, 20)} has ${characters} characters of them, ${lost.length} lost`,
    )
  }
}

function newestText(event: Event): string {
  return event.before.map(wordsOf).join('\n').slice(-48_000)
}

function heading(title: string): void {
  const columns = 'events tokens strict  [95%]           lenient tune    test    prototype'
  console.log(`\n${title}\n  ${'context'.padEnd(23)}${columns}`)
}

function print(name: string, score: Score, prototype = ''): void {
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`.padEnd(8)
  const [low, high] = score.interval
  const line = [
    `  ${name.padEnd(23)}`,
    String(score.events).padEnd(7),
    score.tokens.toFixed().padEnd(7),
    percent(score.strict),
    `[${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)}]`.padEnd(16),
    ...[score.lenient, score.tune, score.test].map(percent),
    prototype,
  ]
  console.log(line.join('').trimEnd())
  if (!isVerbose) return
  for (const { event, atoms } of score.lost) console.log(`    ${event} lost ${atoms.join(' ')}`)
}

await main()
