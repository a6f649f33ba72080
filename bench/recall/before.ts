import { DatabaseSync } from 'node:sqlite'
import { clip, oneLine } from '../../packages/core/src/base/line.ts'
import { stem } from '../../packages/core/src/store/search/languages/stem.ts'
import type { Entry } from '../../packages/core/src/store/tables/rows.ts'
import { entryLabel, entryText } from '../../packages/server/src/tools/entry-text.ts'

/**
 * The search as it was before passages: whole entries, candidates by FTS5's own order, then BM25 over
 * the candidates; five hits of 600 characters with a neighbour of 200 on each side. Kept unchanged so
 * that every evaluation prints both.
 */
const CANDIDATES_MAX = 100
const WORD = /[\p{L}\p{N}]+/gu

export class EarlierSearch {
  readonly #entries: readonly Entry[]
  readonly #words: readonly (readonly string[])[]
  readonly #index = new DatabaseSync(':memory:')

  constructor(entries: readonly Entry[]) {
    this.#entries = entries
    this.#words = entries.map((entry) =>
      rootsOf(strings(JSON.parse(entry.body ?? '""')).join('\n')),
    )
    this.#index.exec("create virtual table t using fts5 (words, content = '', tokenize = 'ascii')")
    const insert = this.#index.prepare('insert into t (rowid, words) values (?, ?)')
    for (const [index, words] of this.#words.entries()) insert.run(index + 1, words.join(' '))
  }

  find(text: string): readonly number[] {
    const question = [...new Set(rootsOf(text))].slice(0, 32)
    if (question.length === 0) return []
    const match = question.map((word) => `"${word}"`).join(' OR ')
    const sql = 'select rowid as id from t where t match ? order by rank limit ?'
    const ids = this.#index.prepare(sql).all(match, CANDIDATES_MAX) as { id: number }[]
    const documents = ids.map(({ id }) => ({ id, counts: countsOf(this.#words[id - 1] ?? []) }))
    const lengths = documents.map(({ id }) => this.#words[id - 1]?.length ?? 0)
    const mean = lengths.reduce((a, b) => a + b, 0) / Math.max(1, lengths.length)
    const rarity = new Map(
      question.map((word) => {
        const having = documents.filter(({ counts }) => counts.has(word)).length
        return [word, Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))]
      }),
    )
    return documents
      .map(({ id, counts }, index) => {
        const norm = 0.25 + (0.75 * (lengths[index] ?? 0)) / Math.max(1, mean)
        const score = question.reduce((sum, word) => {
          const count = counts.get(word) ?? 0
          return sum + ((rarity.get(word) ?? 0) * count * 2.2) / (count + 1.2 * norm)
        }, 0)
        return { id, score }
      })
      .sort((a, b) => b.score - a.score || b.id - a.id)
      .map(({ id }) => id)
  }

  /** The answer of `recall` as it was, with as many hits as fit. */
  answer(text: string, { hits, characters }: { hits: number; characters: number }) {
    const shown = new Set<number>()
    const blocks: string[] = []
    let left = characters
    for (const id of this.find(text).slice(0, hits)) {
      const near = [id - 1, id, id + 1].filter((each) => this.#entries[each - 1] !== undefined)
      const block = near.map((each) => this.#line(each, each === id, text)).join('\n')
      if (blocks.length > 0 && block.length > left) break
      for (const each of near) shown.add(each)
      blocks.push(block)
      left -= block.length + 2
    }
    return { shown, text: blocks.join('\n\n') }
  }

  #line(number: number, isHit: boolean, query: string): string {
    const entry = this.#entries[number - 1] as Entry
    const text = entryText(entry)
    if (!isHit) return `  ${entryLabel(entry)}: ${clip(oneLine(text), 200)}`
    const roots = new Set(rootsOf(query))
    const [first] = [...text.slice(0, 200_000).matchAll(WORD)].filter(({ 0: word }) =>
      rootsOf(word).some((root) => roots.has(root)),
    )
    const from = Math.max(0, (first?.index ?? 0) - 200)
    return `> ${entryLabel(entry)}: ${clip(oneLine(text.slice(from, from + 1_200)), 600)}`
  }
}

function rootsOf(text: string): string[] {
  const folded = text
    .slice(0, 200_000)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return (folded.match(WORD) ?? []).map((word) => stem(word.slice(0, 64)))
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

const MACHINE = new Set([
  ...['role', 'type', 'data', 'mediaType', 'sealed', 'origin', 'kind', 'at'],
  ...['callId', 'usage', 'provider'],
])

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(strings)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => (MACHINE.has(name) ? [] : strings(item)))
}
