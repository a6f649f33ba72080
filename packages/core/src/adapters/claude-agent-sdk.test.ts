import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type DurableJournal, openJournal } from '../agent/journal.ts'
import { RECORD_BYTES_MAX } from '../store/bounds.ts'
import type { Store } from '../store/contract.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import {
  type ClaudeSessionEntry,
  type ClaudeSessionKey,
  claudeSessionStore,
} from './claude-agent-sdk.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A store that can be made to refuse every commit, as one behind a broken connection does. */
function open() {
  const spool = mkdtempSync(join(tmpdir(), 'throughline-spool-'))
  const inner = openMemoryStore()
  closing.push(
    () => rmSync(spool, { recursive: true, force: true }),
    () => inner.close(),
  )
  const outage = { refusals: 0 }
  const store: Store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'recordEntries' || outage.refusals === 0) return value.bind(target)
      return async () => {
        outage.refusals -= 1
        throw new Error('connection refused')
      }
    },
  })
  const journal = openJournal({ store, name: 'claude' })
  return { store, journal, outage, spool, open: () => claudeSessionStore(journal, { spool }) }
}

const key: ClaudeSessionKey = { projectKey: '-srv-app', sessionId: 's1' }
const entry = (uuid: string, text = uuid): ClaudeSessionEntry => ({ type: 'user', uuid, text })

/** What the SDK does with a batch: three attempts, then it is dropped. */
async function mirror(append: () => Promise<void>): Promise<'kept' | 'dropped'> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const isKept = await append().then(
      () => true,
      () => false,
    )
    if (isKept) return 'kept'
  }
  return 'dropped'
}

/** The store that one would write first. */
function bareStore(journal: DurableJournal) {
  const list = journal.list('bare', 'entries')
  return {
    append: async (entries: ClaudeSessionEntry[]) => {
      await list.change({ add: JSON.parse(JSON.stringify(entries)) })
    },
    load: () => list.read(),
  }
}

describe('a session store of the Claude Agent SDK', () => {
  it('loses a batch during an outage without the adapter', async () => {
    const { journal, outage } = open()
    const bare = bareStore(journal)
    outage.refusals = 4
    expect(await mirror(() => bare.append([entry('a')]))).toBe('dropped')
    expect(await mirror(() => bare.append([entry('b')]))).toBe('kept')
    expect(await bare.load()).toEqual([entry('b')])
  })

  it('spools every batch of an outage, in order, and delivers it to the store afterwards', async () => {
    const { outage, spool, ...place } = open()
    const store = place.open()
    await store.append(key, [entry('a')])
    outage.refusals = Number.POSITIVE_INFINITY
    for (const uuid of ['b', 'c', 'd']) {
      expect(await mirror(() => store.append(key, [entry(uuid)]))).toBe('kept')
    }
    expect(readdirSync(spool)).toHaveLength(3)
    await expect(store.load(key)).rejects.toThrow('connection refused')
    outage.refusals = 0
    await store.append(key, [entry('e')])
    expect(await store.load(key)).toEqual(['a', 'b', 'c', 'd', 'e'].map((uuid) => entry(uuid)))
    expect(readdirSync(spool)).toEqual([])
    expect(await place.store.verify({})).toEqual([])
  })

  it('delivers spooled batches on its own, including those of an earlier process', async () => {
    const { outage, spool, ...place } = open()
    outage.refusals = Number.POSITIVE_INFINITY
    await place.open().append(key, [entry('a')])
    outage.refusals = 0
    await expect.poll(() => readdirSync(spool), { timeout: 20_000 }).toEqual([])
    outage.refusals = Number.POSITIVE_INFINITY
    const dying = place.open()
    await dying.append(key, [entry('b')])
    outage.refusals = 0
    expect(await place.open().load(key)).toEqual([entry('a'), entry('b')])
  })

  it('stores an entry once per uuid, and entries without one each time, all unchanged', async () => {
    const store = open().open()
    const odd: ClaudeSessionEntry = {
      ...{
        type: 'user',
        uuid: 'u',
        half: '\ud83d',
        deep: JSON.parse('['.repeat(400) + ']'.repeat(400)),
      },
      ...{ $date: 'no date', nothing: null, list: [1, -0.5, { a: [] }] },
    }
    const title: ClaudeSessionEntry = { type: 'custom-title', customTitle: 'One' }
    await store.append(key, [odd, title])
    await store.append(key, [odd, title])
    await store.append(key, [])
    expect(await store.load(key)).toEqual([odd, title, title])
  })

  it('accepts a batch larger than the store’s limit', async () => {
    const store = open().open()
    // Characters of two halves, one of which a cut at a fixed length would split.
    const text = '🙂'.repeat(RECORD_BYTES_MAX / 4)
    await store.append(key, [entry('a', text), entry('b')])
    const [a, b] = (await store.load(key)) ?? []
    expect(a?.['text'] === text).toBe(true)
    expect(b).toEqual(entry('b'))
  })

  it('lists its sessions and their sub-agents, and erases deleted ones', async () => {
    const { journal, ...place } = open()
    const store = place.open()
    const sub = { ...key, subpath: 'subagents/agent-1' }
    const other = { projectKey: 'p'.repeat(300), sessionId: 's2' }
    await store.append(key, [entry('a')])
    await store.append(sub, [entry('b')])
    await store.append(other, [entry('c')])
    expect(await store.load({ ...key, sessionId: 'none' })).toBeNull()
    expect(await store.load(sub)).toEqual([entry('b')])
    expect(await store.listSubkeys(key)).toEqual([sub.subpath])
    const [listed, ...none] = await store.listSessions(key.projectKey)
    expect([listed?.sessionId, none]).toEqual(['s1', []])
    expect(Math.abs(Date.now() - (listed?.mtime ?? 0))).toBeLessThan(600_000)

    await store.delete(sub)
    expect([await store.listSubkeys(key), await store.load(sub)]).toEqual([[], null])
    await store.delete(key)
    expect([await store.load(key), await store.listSessions(key.projectKey)]).toEqual([null, []])
    expect(await store.load(other)).toEqual([entry('c')])
    await store.append(key, [entry('again')])
    expect(await store.load(key)).toEqual([entry('again')])
    expect(await store.listSessions(key.projectKey)).toHaveLength(1)
  })

  it('waits if neither the store nor the disk accepts entries, and reports each attempt', async () => {
    const { journal, outage, spool } = open()
    const errors: unknown[] = []
    const store = claudeSessionStore(journal, {
      spool,
      onError(error) {
        errors.push(error)
        if (errors.length === 2) outage.refusals = 0
        throw new Error('a fault of the program')
      },
    })
    await store.load(key)
    outage.refusals = Number.POSITIVE_INFINITY
    rmSync(spool, { recursive: true })
    await store.append(key, [entry('a')])
    expect(errors).toMatchObject([{ message: 'connection refused' }, { code: 'ENOENT' }])
    expect(await store.load(key)).toEqual([entry('a')])
  })
})
