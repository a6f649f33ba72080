import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Anchor, checkAnchor, readAnchor, writeAnchor } from './anchor.ts'
import { anchorDraft, sweepAnchorDrafts } from './anchor-drafts.ts'

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

describe('drafts of an anchor', () => {
  it('go with the first open behind a writer that was killed; those of others stay', (context) => {
    if (process.platform !== 'linux')
      return context.skip('not run: only Linux proves a process gone')
    const path = place()
    const killed = draftOf(path, spawnSync(process.execPath, ['-e', '']).pid)
    const alive = draftOf(path, process.ppid)
    const elsewhere = killed.replace(/-[0-9a-f]{8}-/, '-00000000-')
    const [aged, unnamed] = [`${path}.7-00000000-0000000a.new`, `${path}.7-0000000a.new`]
    const kept = [alive, anchorDraft(path), elsewhere, `${path}.new`, `${path}.7-0000000b.new`]
    for (const each of [...kept, killed, aged, unnamed]) writeFileSync(each, '')
    for (const each of [aged, unnamed]) utimesSync(each, 0, 0)
    sweepAnchorDrafts(path)
    expect(readdirSync(dirname(path)).sort()).toEqual(kept.map((each) => basename(each)).sort())
  })
})

function draftOf(path: string, process: number): string {
  return `${path}.${anchorDraft('').replace(/^\.\d+/, String(process))}`
}
