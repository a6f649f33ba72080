import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Anchor, checkAnchor, readAnchor, writeAnchor } from './anchor.ts'

const anchor: Anchor = { storeId: 's', commits: 5, hash: 'h5' }
const store = { id: 's', commits: 7 }
const hashAt = (commit: number) => `h${commit}`

function place(): string {
  return join(mkdtempSync(join(tmpdir(), 'throughline-anchor-')), 'anchor')
}

describe('anchor', () => {
  it('a store that holds the anchored commit is in order [I26]', () => {
    expect(checkAnchor('a', anchor, store, hashAt)).toBeNull()
    expect(checkAnchor('a', undefined, store, hashAt)).toBeNull()
  })

  it('a store behind its anchor has lost acknowledged commits [I19, I26]', () => {
    expect(checkAnchor('a', anchor, { id: 's', commits: 4 }, hashAt)).toMatch(/4 commits .* 5/)
  })

  it('another history and another store are told apart [I26]', () => {
    expect(checkAnchor('a', anchor, store, () => 'x')).toMatch(/another history/)
    expect(checkAnchor('a', anchor, { ...store, id: 'other' }, hashAt)).toMatch(/another store/)
  })

  it('is private, reads back, and never goes back', () => {
    const path = place()
    expect(readAnchor(path)).toBeUndefined()
    writeAnchor(path, anchor)
    writeAnchor(path, { ...anchor, commits: 3, hash: 'h3' })
    expect(readAnchor(path)).toEqual(anchor)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    writeAnchor(path, { ...anchor, commits: 6, hash: 'h6' })
    expect(readAnchor(path)?.commits).toBe(6)
  })

  it('a file that is no anchor fits no store [I26]', () => {
    const path = place()
    writeFileSync(path, 'half a li')
    expect(checkAnchor('a', readAnchor(path), store, hashAt)).not.toBeNull()
  })
})
