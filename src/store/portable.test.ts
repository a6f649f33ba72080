import { describe, expect, it } from 'vitest'
import { Desk } from '../testing/store/desk.ts'
import { firstHash, hashBody, hashEntry } from './chain.ts'
import { openMemoryStore } from './memory/open.ts'

/** A file whose first entry was given another body, and all hashes anew: no chain tells. */
async function forgedFile(body: string): Promise<string[]> {
  const store = openMemoryStore()
  const desk = await Desk.open(store)
  await desk.exchange('hello', 'hi')
  const lines = []
  for await (const line of store.exportSession(desk.id)) lines.push(JSON.parse(line))
  const [{ session }] = lines
  let prevHash = firstHash(session.id)
  for (const { entry } of lines.filter((line) => 'entry' in line)) {
    if (entry.number === 1) entry.body = body
    entry.bodyHash = hashBody(entry.salt, entry.body)
    entry.prevHash = prevHash
    entry.hash = hashEntry(prevHash, entry, entry.bodyHash)
    prevHash = entry.hash
  }
  session.tailHash = prevHash
  delete lines.at(-1).end.sha256
  return lines.map((line) => JSON.stringify(line))
}

describe('a file with a chain that fits', () => {
  it('is taken', async () => {
    const outcome = await openMemoryStore().importSession(await forgedFile('"hello"'))
    expect(outcome.kind).toBe('imported')
  })

  it('is refused where a body is no JSON, or nested too deep: no search could read it [I26]', async () => {
    for (const body of ['{oops', '['.repeat(5_000) + ']'.repeat(5_000)]) {
      const outcome = await openMemoryStore().importSession(await forgedFile(body))
      expect(outcome).toMatchObject({ kind: 'refused', problem: expect.stringContaining('body') })
    }
  })
})
