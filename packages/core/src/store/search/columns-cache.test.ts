import { describe, expect, it } from 'vitest'
import { type SessionId, sessionId } from '../../base/ids.ts'
import type { Block } from './blocks.ts'
import { ColumnsCache } from './columns-cache.ts'
import { planErasure } from './erase.ts'
import { type IndexState, indexBatch, NO_INDEX } from './index-state.ts'
import { perform } from './lookup.ts'

const ID = sessionId('one')

/** An index as an engine stores it, with a count of the blocks read from it. */
class Index {
  state: IndexState = NO_INDEX
  blocks: Block[] = []
  entries: { number: never; kind: 'input'; at: number; meta: object; body: string | null }[] = []
  blocksRead = 0

  add(count: number): this {
    const from = this.entries.length
    for (let at = from + 1; at <= from + count; at++) {
      const body = JSON.stringify({ text: `word${at} again. `.repeat(1 + (at % 40)) })
      this.entries.push({ number: at as never, kind: 'input', at: at * 1_000, meta: {}, body })
    }
    this.#index(from)
    return this
  }

  #index(from: number): void {
    const last = this.blocks[Math.floor(from / 512)] ?? null
    const batch = indexBatch(this.state, last, this.entries.slice(from))
    for (const [number, block] of batch.blocks) this.blocks[number] = block
    this.state = batch.state
  }

  erase(number: number): void {
    const { state, blocks } = planErasure(this.state, [this.entries[number - 1] as never], {
      block: (each) => this.blocks[each] as Block,
      firstSlot: (each) =>
        this.blocks.slice(0, each).reduce((sum, { lengths }) => sum + lengths.length / 2, 0),
    })
    this.state = state
    for (const [each, block] of blocks) this.blocks[each] = block
    ;(this.entries[number - 1] as { body: string | null }).body = null
  }

  buildAgain(): void {
    this.state = NO_INDEX
    this.blocks = []
    this.#index(0)
  }

  columns(cache: ColumnsCache, id: SessionId = ID) {
    const columns = perform(cache.columnsOf(id, 0, this.state), (lookup) => {
      if (lookup.want !== 'blocks') throw new Error(lookup.want)
      const blocks = this.blocks.slice(lookup.from)
      this.blocksRead += blocks.length
      return [blocks]
    })
    const { slots, entries, lengths, entryOf, counts, seconds, speakers } = columns
    return [
      [...lengths.subarray(0, slots * 2)],
      [...entryOf.subarray(0, slots)],
      ...[counts, seconds, speakers].map((column) => [...column.subarray(0, entries)]),
    ]
  }
}

function expectSame(index: Index, cache: ColumnsCache): void {
  expect(index.columns(cache)).toEqual(index.columns(new ColumnsCache()))
}

describe('columns of a session that was searched before', () => {
  it('are read once, and grow by the blocks that were added', () => {
    const [index, cache] = [new Index().add(1_100), new ColumnsCache()]
    expectSame(index, cache)
    index.blocksRead = 0
    index.columns(cache)
    expect(index.blocksRead).toBe(0)
    index.add(3).columns(cache)
    expect(index.blocksRead).toBe(1)
    expectSame(index.add(600), cache)
  })

  it('leave out entries that an earlier search added before they were indexed', () => {
    const [index, cache] = [new Index().add(20), new ColumnsCache()]
    const columns = perform(cache.columnsOf(ID, 0, index.state), () => [index.blocks])
    const { blocks } = indexBatch(NO_INDEX, null, index.entries.slice(0, 5))
    columns.add([...blocks.values()])
    expectSame(index, cache)
  })

  it('follow an erasure, and an index that was rebuilt after it', () => {
    const [index, cache] = [new Index().add(700), new ColumnsCache()]
    index.columns(cache)
    index.erase(39)
    expectSame(index, cache)
    index.buildAgain()
    expectSame(index, cache)
    index.erase(79)
    index.buildAgain()
    expectSame(index.add(9), cache)
  })

  it('stay within their bound, the least recently searched going first', () => {
    const [index, cache] = [new Index().add(600), new ColumnsCache(40_000)]
    for (const name of ['a', 'b', 'a', 'c', 'd']) {
      index.columns(cache, sessionId(name))
      expect(cache.bytes).toBeLessThanOrEqual(40_000)
    }
    index.blocksRead = 0
    index.columns(cache, sessionId('d'))
    expect(index.blocksRead).toBe(0)
    index.columns(cache, sessionId('b'))
    expect(index.blocksRead).toBe(2)
  })
})
