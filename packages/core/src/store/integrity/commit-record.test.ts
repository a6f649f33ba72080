import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from './canonical.ts'
import { CommitRecord, checkRecord, readRecord } from './commit-record.ts'

const hashOf = (commit: number) => sha256(`commit ${commit}`)
const place = () => join(mkdtempSync(join(tmpdir(), 'throughline-record-')), 'store.db.commits')

function recorded(...commits: number[]): string {
  const path = place()
  const record = new CommitRecord(path)
  for (const commit of commits) record.add(commit, hashOf(commit))
  record.close()
  return path
}

describe('the record of commits', () => {
  it('returns the furthest commit, whatever order processes wrote in', () => {
    expect(readRecord(place())).toBeUndefined()
    expect(readRecord(recorded())?.commits).toBe(0)
    const path = recorded(7, 9, 8)
    expect(readRecord(path)).toEqual({ commits: 9, hash: hashOf(9).slice(0, 16) })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('ignores a torn or changed line and reads the others', () => {
    const path = recorded(7, 8)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('8 ', '9 '))
    appendFileSync(path, text.slice(0, 9))
    expect(readRecord(path)?.commits).toBe(7)
  })

  it('takes a line that cannot be read for a later commit, and misses it in the store [I26]', () => {
    const [changed, torn, earlier] = [recorded(7, 8), recorded(7, 8), recorded(7, 9, 8)]
    const text = readFileSync(changed, 'utf8')
    writeFileSync(changed, `${text.slice(0, -4)}#${text.slice(-3)}`)
    for (const path of [torn, earlier]) writeFileSync(path, readFileSync(path).subarray(0, -20))
    const check = (path: string, commits: number) =>
      checkRecord(path, readRecord(path), { commits }, hashOf)
    for (const path of [changed, torn]) {
      expect(check(path, 7)).toMatch(/7 commits and .* a later one/)
      expect(check(path, 8)).toBeNull()
    }
    // The line of another process, which was slower.
    expect(check(earlier, 9)).toBeNull()
    expect(check(earlier, 8)).toMatch(/8 commits .* 9: acknowledged ones are lost/)
  })

  it('reports a store without the recorded commit, not one that is ahead of it [I26]', () => {
    const check = (commits: number, hashAt = hashOf) =>
      checkRecord('r', { commits: 5, hash: hashOf(5).slice(0, 16) }, { commits }, hashAt)
    expect(check(5)).toBeNull()
    expect(check(6)).toBeNull()
    expect(check(4)).toMatch(/4 commits .* 5: acknowledged ones are lost/)
    expect(check(6, () => hashOf(1))).toMatch(/another history/)
    expect(checkRecord('r', undefined, { commits: 0 }, hashOf)).toBeNull()
  })

  it('is shortened after many commits to the newest line, for every process', () => {
    const path = place()
    const [record, other] = [new CommitRecord(path), new CommitRecord(path)]
    let commits = 0
    while (!record.isLong()) record.add(++commits, hashOf(1))
    expect(commits).toBeGreaterThan(10_000)
    expect(statSync(path).size).toBeLessThan(2 * 1024 * 1024)
    record.shorten(commits, hashOf(1))
    expect(readRecord(path)?.commits).toBe(commits)
    expect(statSync(path).size).toBeLessThan(100)
    other.reopenIfReplaced()
    other.add(commits + 1, hashOf(2))
    expect(other.sync()).toBe(commits + 1)
    expect(readRecord(path)?.commits).toBe(commits + 1)
    record.add(commits + 2, hashOf(3))
    expect(readRecord(path)?.commits).toBe(commits + 2)
    for (const each of [record, other]) each.close()
  })

  it('is created again after removal, and then only proves its own lines', () => {
    const path = place()
    const record = new CommitRecord(path)
    record.add(5, hashOf(5))
    expect(record.sync()).toBe(5)
    rmSync(path)
    expect(record.sync()).toBe(0)
    expect(readRecord(path)?.commits).toBe(0)
    record.close()
  })
})
