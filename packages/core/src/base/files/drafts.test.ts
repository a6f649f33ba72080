import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { draftOf, sweepDrafts } from './drafts.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-drafts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('drafts of a file', () => {
  it('of a killed writer are removed by the next one; others stay', (context) => {
    if (process.platform !== 'linux')
      return context.skip('not run: only Linux proves a process gone')
    const path = join(folder, 'file')
    const killed = draftBy(path, spawnSync(process.execPath, ['-e', '']).pid)
    const alive = draftBy(path, process.ppid)
    const elsewhere = killed.replace(/-[0-9a-f]{8}-/, '-00000000-')
    const [aged, unnamed] = [`${path}.7-00000000-0000000a.new`, `${path}.7-0000000a.new`]
    const kept = [alive, draftOf(path), elsewhere, `${path}.new`, `${path}.7-0000000b.new`]
    const gone = [killed, `${killed}-journal`, aged, unnamed]
    for (const each of [...kept, ...gone]) writeFileSync(each, '')
    for (const each of [aged, unnamed]) utimesSync(each, 0, 0)
    sweepDrafts(path)
    expect(readdirSync(dirname(path)).sort()).toEqual(kept.map((each) => basename(each)).sort())
  })

  it('of a writer whose process cannot be checked are removed once they are older than an hour', () => {
    const place = mkdtempSync(join(folder, 'old-'))
    const draft = join(place, 'file.7-0000000a.new')
    writeFileSync(draft, '')
    utimesSync(draft, 10_000, 10_000)
    sweepDrafts(join(place, 'file'), 10_000_000 + 3_600_000)
    expect(readdirSync(place)).toHaveLength(1)
    sweepDrafts(join(place, 'file'), 10_000_000 + 3_600_001)
    expect(readdirSync(place)).toEqual([])
  })
})

function draftBy(path: string, process: number): string {
  return `${path}.${draftOf('').replace(/^\.\d+/, String(process))}`
}
