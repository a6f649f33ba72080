import { mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WAL_KEPT_BYTES } from './connection.ts'
import { OpenFiles } from './open-files.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-open-files-'))
  path = join(folder, 'store.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function writeWal(salt: number, bytes: number): void {
  const wal = Buffer.alloc(bytes)
  if (salt > 0) wal.writeUInt32BE(0x377f0682, 0)
  wal.writeUInt32BE(salt, 16)
  writeFileSync(`${path}-wal`, wal)
}

describe('the files of an open database', () => {
  it('a moved database is reported before its moved WAL, and the WAL before its index', () => {
    const ends = ['', '-wal', '-shm']
    writeFileSync(path, '')
    writeWal(1, 4_096)
    writeFileSync(`${path}-shm`, '')
    const files = new OpenFiles(path)
    for (const end of ends) renameSync(`${path}${end}`, `${path}${end}.moved`)
    const reported = ends.map((end) => {
      const harm = files.findDamageBefore()
      renameSync(`${path}${end}.moved`, `${path}${end}`)
      return harm
    })
    expect(reported).toEqual([
      expect.stringContaining('the file was moved or replaced'),
      expect.stringContaining('its WAL was removed or replaced'),
      expect.stringContaining('the index of its WAL (-shm) was removed or replaced'),
    ])
    expect(files.findDamageBefore()).toBeNull()
    files.close()
  })

  it('a truncated WAL is reported on every check', () => {
    writeWal(1, 4_096)
    const files = new OpenFiles(path)
    expect(files.findDamageBefore()).toBeNull()
    truncateSync(`${path}-wal`, 2_048)
    expect(files.findDamageBefore()).toMatch(/its WAL was cut/)
    expect(files.findDamageBefore()).toMatch(/its WAL was cut/)
    files.close()
  })

  it('a WAL may be shorter after a restart, or if SQLite keeps no more of it', () => {
    writeWal(1, 4_096)
    const files = new OpenFiles(path)
    const harms = [
      [2, 2_048],
      [3, WAL_KEPT_BYTES + 4_096],
      [3, WAL_KEPT_BYTES],
    ].map(([salt = 0, bytes = 0]) => {
      writeWal(salt, bytes)
      return files.findDamageBefore()
    })
    expect(harms).toEqual([null, null, null])
    writeWal(3, WAL_KEPT_BYTES - 1)
    expect(files.findDamageBefore()).toMatch(/its WAL was cut/)
    files.close()
  })

  it('a WAL may lack a header when opened, but not after a commit', () => {
    writeWal(0, 4_096)
    const files = new OpenFiles(path)
    expect(files.findDamageBefore()).toBeNull()
    expect(files.findDamageAfter()).toMatch(/its WAL was cut/)
    writeWal(1, 4_096)
    expect([files.findDamageAfter(), files.findDamageBefore()]).toEqual([null, null])
    writeWal(0, 4_096)
    expect(files.findDamageBefore()).toMatch(/its WAL was cut/)
    files.close()
  })
})
