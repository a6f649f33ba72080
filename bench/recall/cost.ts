import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import type { SessionId } from '../../packages/core/src/base/ids.ts'
import { readRange } from '../../packages/core/src/session/context/source.ts'
import type { AdoptedEntry } from '../../packages/core/src/store/adoption.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import type { Search } from '../../packages/core/src/store/queries.ts'
import { spellingsIn } from '../../packages/core/src/store/search/spellings/spellings.ts'
import { searchedText, wordsIn } from '../../packages/core/src/store/search/words.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { CORPUS_ABSENT, corpusDir } from '../../test/support/corpus.ts'
import { type AppendCost, measureAppends } from './append.ts'
import { EarlierSearch } from './before.ts'
import { codeAgent, locomo } from './conversations.ts'
import { loadSession } from './load.ts'

/**
 * `npm run bench:recall [-- --entries N --sessions N]`: what a search costs, in milliseconds of
 * processor of the whole process, so that others on the machine count little. Real entries, repeated
 * until there are enough; questions of up to ten content words, of 32, and names as they are
 * written. Every question is asked once before it is measured: a server has searched before. The search before passages
 * runs in the same process over the first 10,000 entries, and so does the one of today. Many sessions
 * are searched by their store and agent; the hits are compared with those of a search that
 * ranks every passage of every session.
 */
const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    sessions: { type: 'string', default: '10000' },
  },
})
const QUESTIONS = 40
const EARLIER_ENTRIES = 10_000
const APPENDED = 5_000

async function main(): Promise<void> {
  const corpus = corpusDir()
  if (corpus === undefined) {
    console.log(CORPUS_ABSENT)
    return
  }
  const conversations = [...locomo(corpus), ...codeAgent(corpus)]
  const real = conversations.flatMap(({ entries }) => entries)
  const short = spread(
    conversations.flatMap(({ questions }) => questions.map(({ text }) => firstWords(text, 10))),
  )
  const ofCode = codeAgent(corpus).flatMap(({ questions }) => questions)
  const long = spread(ofCode.map(({ text }) => text))
  const names = spread(
    ofCode.flatMap(({ fact }) => (fact !== null && spellingsIn(fact).length > 0 ? [fact] : [])),
  )
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-recall-'))
  try {
    const asked = { short, long, names }
    printAppends(measureAppends(folder, repeated(real, APPENDED)))
    await oneSession(folder, repeated(real, EARLIER_ENTRIES), { ...asked, isCompared: true })
    await oneSession(folder, repeated(real, Number(values.entries)), {
      ...asked,
      isCompared: false,
    })
    await manySessions(folder, real, asked)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function printAppends({ commits, background, ratios }: AppendCost): void {
  const more = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} % more (at most 5 %)`
  console.log('\nAppending one entry: what a writer waits for')
  print('a commit without the index', commits.plain)
  print('a commit with a mark for the indexer', commits.marked, more(ratios.marked))
  print('a commit while entries are indexed', commits.indexed, more(ratios.indexed))
  print('afterwards, in the background', background)
}

interface Asked {
  readonly short: readonly string[]
  readonly long: readonly string[]
  readonly names: readonly string[]
  readonly isCompared: boolean
}

async function oneSession(
  folder: string,
  entries: readonly AdoptedEntry[],
  asked: Asked,
): Promise<void> {
  const file = path.join(folder, `${entries.length}.db`)
  const store = await openSqliteStore({ path: file })
  const started = process.cpuUsage()
  const id = await loadSession(store, 'long', entries)
  await indexed(file, 1)
  console.log(`\n${entries.length} entries in one session`)
  print('appending and indexing an entry', cpuSince(started) / entries.length)
  print('a search, up to 10 words', await costOf(store, id, asked.short), 5)
  print('a search, 32 words', await costOf(store, id, asked.long), 15)
  print('a search for an identifier or path', await costOf(store, id, asked.names))
  print('a search with 50 excerpts', await costOf(store, id, asked.short, 50))
  printSize(file)
  const { tail = 0 } = (await store.findSession(id)) ?? {}
  const stored = asked.isCompared ? await readRange(store, id, 0, tail) : []
  await store.close()
  if (!asked.isCompared) return
  const earlier = new EarlierSearch(stored)
  const before = process.cpuUsage()
  for (const text of asked.short) earlier.find(text)
  print('before: ranking alone, up to 10 words', cpuSince(before) / asked.short.length)
}

/** So many sessions are written at once: the store commits them together. */
const WRITTEN_AT_ONCE = 32
const AGENTS = 10

async function manySessions(
  folder: string,
  real: readonly AdoptedEntry[],
  { short, long }: Pick<Asked, 'short' | 'long'>,
): Promise<void> {
  const file = path.join(folder, 'many.db')
  const store = await openSqliteStore({ path: file })
  const count = Number(values.sessions)
  const started = process.cpuUsage()
  const ids: SessionId[] = []
  for (let at = 0; at < count; at += WRITTEN_AT_ONCE) {
    const some = Array.from(
      { length: Math.min(WRITTEN_AT_ONCE, count - at) },
      (_, each) => at + each,
    )
    ids.push(
      ...(await Promise.all(
        some.map((number) => {
          const from = (number * 7) % (real.length - 10)
          const entries = real.slice(from, from + 10)
          return loadSession(store, `many-${number}`, entries, `agent-${number % AGENTS}`)
        }),
      )),
    )
  }
  await indexed(file, count)
  console.log(`\n${count} sessions of 10 entries`)
  print('appending and indexing an entry', cpuSince(started) / (10 * count))
  const [one = ids[0] as SessionId] = ids
  print('a search in one of them', await costOf(store, one, short))
  print('a search in all, up to 10 words', await costOf(store, {}, short), 5)
  print('a search in all, 32 words', await costOf(store, {}, long), 15)
  print('a search in all, with 50 excerpts', await costOf(store, {}, short, 50))
  print('a search of an agent, up to 10 words', await costOf(store, { agent: 'agent-3' }, short), 5)
  printSize(file)
  for (const [name, texts] of [
    ['up to 10 words', short],
    ['32 words', long],
  ] as const) {
    const agreed = await agreement(store, ids, texts.slice(0, COMPARED))
    console.log(
      `  of the first ten, also first when all are ranked, ${name}: ${agreed.toFixed(1)} %`,
    )
  }
  await store.close()
}

const COMPARED = 10

/** How many of the ten best of the store are among the ten best of all its sessions, in percent. */
async function agreement(
  store: Store,
  ids: readonly SessionId[],
  texts: readonly string[],
): Promise<number> {
  const best = async (sessionId: Search['sessionId'], text: string) => {
    const { hits } = await store.search({ sessionId, text, limit: 10, neighbours: 0, near: true })
    // The same entry is in several sessions here, so the texts are compared.
    return hits.map(({ excerpt }) => excerpt)
  }
  let [same, all] = [0, 0]
  for (const text of texts) {
    const [wanted, found] = [await best(ids, text), await best({}, text)]
    const left = [...wanted]
    for (const each of found) {
      const at = left.indexOf(each)
      if (at >= 0) left.splice(at, 1)
    }
    same += wanted.length - left.length
    all += wanted.length
  }
  return (100 * same) / Math.max(1, all)
}

async function costOf(
  store: Store,
  sessionId: Search['sessionId'],
  texts: readonly string[],
  limit = 1,
): Promise<number> {
  const ask = (text: string) => store.search({ sessionId, text, limit, neighbours: 0, near: true })
  const costs: number[] = []
  for (const text of texts) await ask(text)
  for (const text of texts) {
    const started = process.cpuUsage()
    await ask(text)
    costs.push(cpuSince(started))
  }
  costs.sort((a, b) => a - b)
  return costs[Math.floor(costs.length / 2)] ?? 0
}

function cpuSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}

async function indexed(file: string, sessions: number): Promise<void> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  const done = database.prepare(
    `select count(*) as n from session join indexed on indexed.session = session.n
     where upto = tail and (select runs from word_runs) not glob '*"into":[0-9]*'`,
  )
  while (Number(done.get()?.['n']) < sessions)
    await new Promise((resolve) => setTimeout(resolve, 500))
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  database.close()
}

function printSize(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true })
  const tables =
    "'word_page', 'word_page_key', 'word_runs', 'word_total', 'passage_block', 'indexed'"
  const { size } = database
    .prepare(`select sum(pgsize) as size from dbstat where name in (${tables})`)
    .get() as { size: number }
  let text = 0
  for (const { body } of database.prepare('select body from entry').iterate()) {
    text += Buffer.byteLength(searchedText({ body: body as string }))
  }
  const share = ((100 * size) / text).toFixed(1)
  console.log(
    `  index ${(size / 1e6).toFixed(1)} MB of ${(text / 1e6).toFixed(1)} MB of text: ${share} %`,
  )
  database.close()
}

function print(name: string, ms: number, limit?: number | string): void {
  const most = typeof limit === 'number' ? `(at most ${limit} ms)` : limit
  const beside = most === undefined ? '' : ` ${most}`
  console.log(`  ${name.padEnd(40)}${ms.toFixed(2)} ms${beside}`)
}

function repeated<T>(items: readonly T[], count: number): readonly T[] {
  return Array.from({ length: count }, (_, at) => items[at % items.length] as T)
}

function spread(texts: readonly string[]): readonly string[] {
  return Array.from(
    { length: QUESTIONS },
    (_, at) => texts[Math.floor((at * texts.length) / QUESTIONS)] ?? '',
  )
}

function firstWords(text: string, count: number): string {
  return wordsIn(text).slice(0, count).join(' ')
}

await main()
