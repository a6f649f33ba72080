import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Anchor, checkAnchor, readAnchor, recordCheck, writeAnchor } from './anchor.ts'

const anchor: Anchor = { storeId: 's', commits: 5, hash: 'h5' }
const store = { id: 's', commits: 7 }
const hashAt = (commit: number) => `h${commit}`

function place(): string {
  return join(mkdtempSync(join(tmpdir(), 'throughline-anchor-')), 'anchor')
}

describe('anchor', () => {
  it('accepts a store that has the anchored commit [I26]', () => {
    expect(checkAnchor('a', anchor, store, hashAt)).toBeNull()
    expect(checkAnchor('a', undefined, store, hashAt)).toBeNull()
  })

  it('reports lost commits if the store is behind its anchor [I19, I26]', () => {
    expect(checkAnchor('a', anchor, { id: 's', commits: 4 }, hashAt)).toMatch(/4 commits .* 5/)
  })

  it('distinguishes a different history from a different store [I26]', () => {
    expect(checkAnchor('a', anchor, store, () => 'x')).toMatch(/another history/)
    expect(checkAnchor('a', anchor, { ...store, id: 'other' }, hashAt)).toMatch(/another store/)
  })

  it('is private, reads back, and never moves backwards', () => {
    const path = place()
    expect(readAnchor(path)).toBeUndefined()
    writeAnchor(path, anchor)
    writeAnchor(path, { ...anchor, commits: 3, hash: 'h3' })
    expect(readAnchor(path)).toEqual(anchor)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    writeAnchor(path, { ...anchor, commits: 6, hash: 'h6' })
    expect(readAnchor(path)?.commits).toBe(6)
  })

  it('remembers the furthest length of the commit record', () => {
    const path = place()
    writeAnchor(path, anchor)
    writeAnchor(path, { ...anchor, recorded: 0 })
    expect(readAnchor(path)).toEqual({ ...anchor, recorded: 0 })
    writeAnchor(path, { ...anchor, commits: 4, hash: 'h4', recorded: 4 })
    expect(readAnchor(path)).toEqual({ ...anchor, recorded: 4 })
    writeAnchor(path, { ...anchor, commits: 6, hash: 'h6', recorded: 3 })
    expect(readAnchor(path)).toEqual({ storeId: 's', commits: 6, hash: 'h6', recorded: 4 })
    writeAnchor(path, { storeId: 'other', commits: 0, hash: '', recorded: 0 })
    expect(readAnchor(path)).toMatchObject({ storeId: 'other', recorded: 0 })
  })

  it('reports a commit record that is missing or older than the anchor says [I26, fault 70]', () => {
    const check = (known: Anchor | undefined, commits?: number) => {
      const recorded = commits === undefined ? undefined : { commits, hash: `h${commits}` }
      return recordCheck(known)('r', recorded, store, hashAt)
    }
    for (const recorded of [0, 5]) expect(check({ ...anchor, recorded })).toMatch(/is missing/)
    expect(check({ ...anchor, recorded: 5 }, 4)).toMatch(/ends at 4 .* remembers 5/)
    expect(check({ ...anchor, recorded: 5 }, 5)).toBeNull()
    expect(check({ ...anchor, recorded: 0 }, 0)).toBeNull()
    // Written by an older version, by another store without commits, or absent.
    expect(check(anchor)).toBeNull()
    expect(check({ ...anchor, storeId: 'other', commits: 0, recorded: 0 })).toBeNull()
    expect(check(undefined)).toBeNull()
  })

  it('refuses every store if the file is not an anchor [I26]', () => {
    const path = place()
    writeFileSync(path, 'half a li')
    expect(checkAnchor('a', readAnchor(path), store, hashAt)).not.toBeNull()
  })
})
