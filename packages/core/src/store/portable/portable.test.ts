import { describe, expect, it } from 'vitest'
import { entryNumber } from '../../base/ids.ts'
import { LIMITS, StoreFixture } from '../contract-suite/bench.ts'
import { firstHash, hashBody, hashEntry } from '../integrity/chain.ts'
import { openMemoryStore } from '../memory/open.ts'

/** A file whose first entry has a different body and whose hashes were recomputed to match. */
async function forgedFile(body: string): Promise<string[]> {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('hello', 'hi')
  const lines = []
  for await (const line of store.exportSession(fixture.id)) lines.push(JSON.parse(line))
  const [{ session }] = lines
  let prevHash = firstHash(session.id)
  for (const { entry } of lines.filter((line) => 'entry' in line)) {
    if (entry.number === 1) entry.body = body
    entry.bodyHash = hashBody(entry.salt, entry.body)
    entry.prevHash = prevHash
    entry.hash = hashEntry(prevHash, entry, entry.bodyHash)
    prevHash = entry.hash
  }
  for (const { mail } of lines.filter((line) => 'mail' in line)) mail.body = body
  session.tailHash = prevHash
  delete lines.at(-1).end.sha256
  return lines.map((line) => JSON.stringify(line))
}

/** An exported session with three exchanges, changed by hand, without its checksum. */
async function changedFile(change: (lines: Line[]) => void): Promise<string[]> {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  for (const text of ['one', 'two', 'three']) await fixture.exchange(text, 'hi')
  const limits = { ...LIMITS, hardTokens: 2_000 }
  await store.changeSettings({ ...fixture.fenced(), body: {}, tokens: 1, limits })
  const lines: Line[] = []
  for await (const line of store.exportSession(fixture.id)) lines.push(JSON.parse(line))
  delete lines.at(-1)?.['end']?.['sha256']
  change(lines)
  return lines.map((line) => JSON.stringify(line))
}
type Line = Record<string, Record<string, unknown>>

describe('a file edited by hand', () => {
  const entry = (lines: Line[], number: number) =>
    lines.findIndex((line) => line['entry']?.['number'] === number)
  const session = (fields: object) => (lines: Line[]) => {
    Object.assign(lines[0]?.['session'] ?? {}, fields)
  }
  /** Inserts lines before the end, and counts them there. */
  const insert =
    (...more: object[]) =>
    (lines: Line[]) => {
      lines.splice(-1, 0, ...(more as Line[]))
      Object.assign(lines.at(-1)?.['end'] ?? {}, { lines: lines.length - 1 })
    }
  const refusals: { readonly [problem: string]: (lines: Line[]) => void } = {
    'entry 3 is not in its place: entry 4 is there': (lines) => {
      const at = entry(lines, 3)
      lines.splice(at, 2, lines[at + 1] ?? {}, lines[at] ?? {})
    },
    'entry 3 is missing': (lines) => {
      lines.splice(entry(lines, 3), 1)
      const end = lines.at(-1)?.['end']
      if (end !== undefined) end['lines'] = Number(end['lines']) - 1
    },
    'mail 1 differs from entry 1, which it became': (lines) => {
      const mail = lines.find((line) => line['mail']?.['number'] === 1)?.['mail']
      if (mail !== undefined) mail['body'] = '"something else"'
    },
    'this is not a valid session: title: expected at most 200 characters': (lines) => {
      Object.assign(lines[0]?.['session'] ?? {}, { title: 'x'.repeat(10_000_000) })
    },
    'the session owes erasures out of order': (lines) => {
      const owed = Array.from({ length: 100_000 }, (_, at) => at + 1)
      Object.assign(lines[0]?.['session'] ?? {}, { owed })
    },
    'the session has an open call that no entry made': session({ openCalls: ['c'] }),
    'the session claims entries that do not exist': session({ seen: 99 }),
    'this is not a valid session: id: expected text': session({ id: 5 }),
    'this is not a valid session: pins: expected an object': session({ pins: [] }),
    'this is not a valid session: openCalls: expected a list': session({ openCalls: 'c' }),
    'this is not a valid session: openCalls.1: expected text': session({ openCalls: ['c', 5] }),
    'this is not a valid session: expected an object': (lines) => {
      Object.assign(lines[0] ?? {}, { session: [] })
    },
    'made by a newer program (version 99, known 1)': (lines) => {
      Object.assign(lines[0] ?? {}, { version: 99 })
    },
    'expected a line that says "format": "throughline-session"': (lines) => {
      Object.assign(lines[0] ?? {}, { format: 'x' })
    },
    'expected an object': (lines) => {
      lines.splice(1, 0, [] as never)
    },
    'expected an entry, mail, reply, blob or end': insert({ note: {} }),
    'expected nothing behind the end': (lines) => {
      lines.push({ entry: {} })
    },
    'expected 1 lines before this': (lines) => {
      Object.assign(lines.at(-1)?.['end'] ?? {}, { lines: 1 })
    },
    'the file was cut: its end is missing': (lines) => {
      lines.pop()
    },
    'the file is empty': (lines) => {
      lines.splice(0)
    },
    'session row has other limits than entry 10 set': (lines) => {
      const limits = lines[0]?.['session']?.['limits'] as Record<string, number>
      limits['hardTokens'] = 9_999
    },
  }
  it.each(Object.entries(refusals))(
    'is refused with the reason: %s [I26]',
    async (problem, change) => {
      const outcome = await openMemoryStore().importSession(await changedFile(change))
      expect(outcome).toMatchObject({ kind: 'refused', problem })
    },
  )

  it('is accepted if nothing was changed', async () => {
    const outcome = await openMemoryStore().importSession(await changedFile(() => {}))
    expect(outcome.kind).toBe('imported')
  })
})

describe('the export of a session whose holder was lost', () => {
  const lossesAfter = async (change: (session: Record<string, unknown>) => void) => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    await fixture.hear('work')
    await store.retireRunner({ runner: fixture.lease.runner })
    const lines: Line[] = []
    for await (const line of store.exportSession(fixture.id)) lines.push(JSON.parse(line))
    delete lines.at(-1)?.['end']?.['sha256']
    change(lines[0]?.['session'] ?? {})
    const other = openMemoryStore()
    await other.importSession(lines.map((line) => JSON.stringify(line)))
    return (await other.findSession(fixture.id))?.losses
  }

  it('includes the count of losses [I27]', async () => {
    expect(await lossesAfter(() => {})).toBe(1)
  })

  it('counts no losses if an older version wrote it', async () => {
    const older = (session: Record<string, unknown>) => delete session['losses']
    expect(await lossesAfter(older)).toBe(0)
  })
})

it('no line of an export breaks within a text, whatever ends a line, and the text comes back', async () => {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('one\u2028two\u2029three\r\nfour', 'hi')
  const lines: string[] = []
  for await (const line of store.exportSession(fixture.id)) lines.push(line.slice(0, -1))
  expect(lines.filter((line) => /[\r\n\u2028\u2029]/.test(line))).toEqual([])
  const other = openMemoryStore()
  expect(await other.importSession(lines)).toMatchObject({ kind: 'imported' })
  const range = { sessionId: fixture.id, from: entryNumber(1), to: entryNumber(3) }
  expect(await other.readEntries(range)).toEqual(await store.readEntries(range))
})

describe('a file with a valid chain', () => {
  it('is accepted', async () => {
    const outcome = await openMemoryStore().importSession(await forgedFile('"hello"'))
    expect(outcome.kind).toBe('imported')
  })

  it('is refused if a body is not JSON or is nested too deep for the search [I26]', async () => {
    for (const body of ['{oops', '['.repeat(5_000) + ']'.repeat(5_000)]) {
      const outcome = await openMemoryStore().importSession(await forgedFile(body))
      expect(outcome).toMatchObject({ kind: 'refused', problem: expect.stringContaining('body') })
    }
  })
})
