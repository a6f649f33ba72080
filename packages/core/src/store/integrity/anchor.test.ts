import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Anchor, checkAnchor, readAnchor, recordCheck, writeAnchor } from './anchor.ts'
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

  it('remembers how far the record of commits had come, and never less of it', () => {
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

  it('a record that is missing or older than its anchor knows is told [I26, fault 70]', () => {
    const check = (known: Anchor | undefined, commits?: number) => {
      const recorded = commits === undefined ? undefined : { commits, hash: `h${commits}` }
      return recordCheck(known)('r', recorded, store, hashAt)
    }
    for (const recorded of [0, 5]) expect(check({ ...anchor, recorded })).toMatch(/is missing/)
    expect(check({ ...anchor, recorded: 5 }, 4)).toMatch(/ends at 4 .* remembers 5/)
    expect(check({ ...anchor, recorded: 5 }, 5)).toBeNull()
    expect(check({ ...anchor, recorded: 0 }, 0)).toBeNull()
    // Of an older program, of another store that had no commit, or none at all.
    expect(check(anchor)).toBeNull()
    expect(check({ ...anchor, storeId: 'other', commits: 0, recorded: 0 })).toBeNull()
    expect(check(undefined)).toBeNull()
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
