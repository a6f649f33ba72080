import { hash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { entryNumber, type SessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import type { Entry } from '../../packages/core/src/store/tables/rows.ts'
import { RECALL_CHARACTERS, RECALL_CHARACTERS_MAX } from '../../packages/server/src/tools/recall.ts'
import { recallAnswer } from '../../packages/server/src/tools/recall-answer.ts'
import { CORPUS_ABSENT, corpusDir } from '../../test/support/corpus.ts'
import { EarlierSearch } from './before.ts'
import {
  type Conversation,
  codeAgent,
  inLanguages,
  locomo,
  type Question,
} from './conversations.ts'
import { loadSession } from './load.ts'

/**
 * How much of what is asked for stands in the answer of a search, through the store's own search on
 * SQLite, with the search before passages beside it. R@10: the share of the entries that hold the
 * answer among the first ten hits, then with one neighbour on each side; R@C: among what an answer of
 * at most C characters shows, labels included. Fact: the share of questions whose fact stands in the
 * answer word for word. R@1 and R@3 of small conversations in several languages: whether other forms of
 * a word find it.
 *
 * Each conversation's figures are kept in the temporary folder under the state of the sources, so
 * that a run that was broken off goes on where it stopped. `--kinds` splits the figures by kind.
 */
type Figures = Record<string, number>

interface Measured {
  readonly kind: string
  readonly now: Figures
  readonly before: Figures
}

const BUDGETS = [RECALL_CHARACTERS, RECALL_CHARACTERS_MAX] as const
const HITS_MAX = 100

async function main(): Promise<void> {
  const kept = path.join(tmpdir(), `throughline-eval-recall-${stateOfSources()}`)
  mkdirSync(kept, { recursive: true })
  reportLanguages(await measureAll(inLanguages(), kept))
  const folder = corpusDir()
  if (folder === undefined) {
    console.log(CORPUS_ABSENT)
    return
  }
  report('LoCoMo, half of the conversations', await measureAll(locomo(folder), kept))
  report(
    'Facts a coding agent needed after a compaction',
    await measureAll(codeAgent(folder), kept),
  )
}

/** Figures of other sources are other figures. */
function stateOfSources(): string {
  const folders = ['../../packages/core/src/store/search', '../../packages/server/src/tools', '.']
  const texts = folders.flatMap((folder) => {
    const place = path.join(import.meta.dirname, folder)
    const names = readdirSync(place, { recursive: true, encoding: 'utf8' })
    const sources = names.filter((name) => /\.(ts|txt)$/.test(name))
    return sources.sort().map((name) => readFileSync(path.join(place, name), 'utf8'))
  })
  return hash('sha256', texts.join('\0'), 'hex').slice(0, 16)
}

async function measureAll(
  conversations: readonly Conversation[],
  kept: string,
): Promise<readonly Measured[]> {
  const all: Measured[] = []
  for (const [index, conversation] of conversations.entries()) {
    const file = path.join(kept, `${conversation.name.replaceAll(/\W+/g, '-')}.json`)
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(await measure(conversation)))
    all.push(...(JSON.parse(readFileSync(file, 'utf8')) as Measured[]))
    process.stderr.write(`\r${index + 1} of ${conversations.length} conversations `)
  }
  process.stderr.write('\r')
  return all
}

async function measure({ name, entries, questions }: Conversation): Promise<readonly Measured[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'eval-recall-'))
  const store = await openSqliteStore({ path: path.join(folder, 'store.db') })
  try {
    const id = await loadSession(store, name.replaceAll(/\W+/g, '-'), entries)
    await indexed(store, id)
    const earlier = new EarlierSearch(await readAll(store, id, entries.length))
    const measured: Measured[] = []
    for (const question of questions) {
      measured.push({
        kind: question.kind,
        now: await figuresNow(store, id, question),
        before: figuresBefore(earlier, question),
      })
    }
    return measured
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

/** Until a search reads nothing directly any more: that is what is timed. */
async function indexed(store: Store, sessionId: SessionId): Promise<void> {
  const query = { sessionId, text: 'the', limit: 1, neighbours: 0 }
  let shortest = Number.POSITIVE_INFINITY
  for (let quiet = 0; quiet < 3; ) {
    const started = performance.now()
    await store.search(query)
    const took = performance.now() - started
    quiet = took < shortest * 0.8 ? 0 : quiet + 1
    shortest = Math.min(shortest, took)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function readAll(store: Store, sessionId: SessionId, tail: number): Promise<Entry[]> {
  const entries: Entry[] = []
  while (entries.length < tail) {
    const range = { from: entryNumber(entries.length + 1), to: entryNumber(tail) }
    entries.push(...(await store.readEntries({ sessionId, ...range })))
  }
  return entries
}

async function figuresNow(
  store: Store,
  sessionId: SessionId,
  question: Question,
): Promise<Figures> {
  const query = { sessionId, text: question.text.slice(0, 10_000), limit: HITS_MAX, near: true }
  const started = performance.now()
  const answer = await store.search({ ...query, neighbours: 0 })
  const ms = performance.now() - started
  const first = answer.hits.slice(0, 10).map(({ entry }) => entry.number)
  const figures: Figures = {
    'R@1': shareOf(question, new Set(first.slice(0, 1))),
    'R@3': shareOf(question, new Set(first.slice(0, 3))),
    'R@10': shareOf(question, new Set(first)),
    'with neighbours': shareOf(question, new Set(first.flatMap((at) => [at - 1, at, at + 1]))),
    ms,
  }
  for (const characters of BUDGETS) {
    const { text, shown } = recallAnswer(answer, { characters, skip: 0, here: sessionId })
    figures[`R@${characters}`] = shareOf(question, new Set(shown))
    if (question.fact !== null) figures[`fact@${characters}`] = text.includes(question.fact) ? 1 : 0
  }
  if (question.fact !== null) figures['fact, default'] = figures[`fact@${RECALL_CHARACTERS}`] ?? 0
  return figures
}

function figuresBefore(earlier: EarlierSearch, question: Question): Figures {
  const started = performance.now()
  const first = earlier.find(question.text).slice(0, 10)
  const figures: Figures = {
    'R@1': shareOf(question, new Set(first.slice(0, 1))),
    'R@3': shareOf(question, new Set(first.slice(0, 3))),
    'R@10': shareOf(question, new Set(first)),
    'with neighbours': shareOf(question, new Set(first.flatMap((at) => [at - 1, at, at + 1]))),
    ms: performance.now() - started,
  }
  for (const characters of BUDGETS) {
    const { text, shown } = earlier.answer(question.text, { hits: HITS_MAX, characters })
    figures[`R@${characters}`] = shareOf(question, shown)
    if (question.fact !== null) figures[`fact@${characters}`] = text.includes(question.fact) ? 1 : 0
  }
  if (question.fact !== null) {
    const { text } = earlier.answer(question.text, { hits: 5, characters: RECALL_CHARACTERS_MAX })
    figures['fact, default'] = text.includes(question.fact) ? 1 : 0
  }
  return figures
}

function shareOf({ evidence }: Question, shown: ReadonlySet<number>): number {
  return evidence.filter((number) => shown.has(number)).length / Math.max(1, evidence.length)
}

function reportLanguages(measured: readonly Measured[]): void {
  console.log('\nStatements asked for in other forms of their words')
  console.log(`  ${''.padEnd(18)}${['R@1', 'R@3'].map((name) => name.padEnd(20)).join('')}`)
  console.log(`  ${''.padEnd(18)}${'before    now       '.repeat(2)}`)
  for (const kind of new Set(measured.map((each) => each.kind))) {
    const chosen = measured.filter((each) => each.kind === kind)
    const shown = ['R@1', 'R@3'].flatMap((name) => [
      meanOf(chosen, 'before', name),
      meanOf(chosen, 'now', name),
    ])
    console.log(`  ${kind.padEnd(18)}${shown.map((mean) => mean.toFixed(3).padEnd(10)).join('')}`)
  }
}

function meanOf(chosen: readonly Measured[], of: 'now' | 'before', name: string): number {
  return chosen.reduce((sum, each) => sum + (each[of][name] ?? 0), 0) / chosen.length
}

function report(title: string, measured: readonly Measured[]): void {
  const kinds = process.argv.includes('--kinds')
    ? [...new Set(measured.map(({ kind }) => kind))]
    : []
  for (const kind of [null, ...kinds.sort()]) {
    const chosen = measured.filter((each) => kind === null || each.kind === kind)
    console.log(`\n${title}${kind === null ? '' : `: ${kind}`} (${chosen.length} questions)`)
    console.log(`  ${''.padEnd(18)}before    now`)
    for (const name of Object.keys(chosen[0]?.now ?? {})) {
      const shown = (of: 'now' | 'before') =>
        meanOf(chosen, of, name)
          .toFixed(name === 'ms' ? 2 : 3)
          .padEnd(10)
      console.log(`  ${name.padEnd(18)}${shown('before')}${shown('now')}`)
    }
  }
}

await main()
