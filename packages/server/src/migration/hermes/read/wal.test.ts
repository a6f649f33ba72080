import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { readWalEnd } from './wal.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-wal-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const FRAME_HEADER = 24

/** The log that SQLite keeps of three commits; the second one changes several pages. */
function walOf(pageBytes: number): Buffer {
  const path = join(folder, `store-${pageBytes}.db`)
  const database = new DatabaseSync(path)
  database.exec(`pragma page_size = ${pageBytes}; pragma journal_mode = wal`)
  database.exec('create table t (x)')
  database.exec(`insert into t values (zeroblob(${3 * pageBytes}))`)
  database.exec('insert into t values (1)')
  copyFileSync(`${path}-wal`, join(folder, 'copy'))
  database.close()
  return readFileSync(join(folder, 'copy'))
}

async function lostIn(bytes: Buffer): Promise<number> {
  const path = join(folder, 'wal')
  writeFileSync(path, bytes)
  return (await readWalEnd(path)).lostFrames
}

describe.each([512, 4_096, 65_536])('a write-ahead log with pages of %i bytes', (pageBytes) => {
  const whole = walOf(pageBytes)
  const frameBytes = FRAME_HEADER + pageBytes
  const frames = (whole.length - 32) / frameBytes
  /** Whether a frame ends a commit, as its header says. */
  const ends = Array.from(
    { length: frames },
    (_, at) => whole.readUInt32BE(32 + at * frameBytes + 4) > 0,
  )
  /** Frames behind the last commit among the first ones. */
  const behind = (count: number) => count - 1 - ends.slice(0, count).lastIndexOf(true)
  const upTo = (count: number, more = 0) => whole.subarray(0, 32 + count * frameBytes + more)

  it('has commits of one page and of several', () => {
    expect(ends.filter(Boolean)).toHaveLength(3)
    expect(Math.max(...ends.map((_, at) => behind(at + 1)))).toBeGreaterThan(1)
  })

  it('has lost nothing at the end of a commit, and what follows it elsewhere', async () => {
    const found: number[] = []
    for (let count = 0; count <= frames; count++) found.push(await lostIn(upTo(count)))
    expect(found).toEqual(Array.from({ length: frames + 1 }, (_, count) => behind(count)))
  })

  it('has lost a frame of which only the beginning is there', async () => {
    const pieces = [1, 15, 16, FRAME_HEADER, frameBytes - 1]
    const found: number[] = []
    for (const piece of pieces) found.push(await lostIn(upTo(frames - 1, piece)))
    expect(found).toEqual(pieces.map(() => behind(frames - 1) + 1))
  })

  it('has lost a frame whose content does not fit its checksum, and ends there', async () => {
    for (const at of [4, 16, 20, FRAME_HEADER + 1, frameBytes - 1]) {
      const changed = Buffer.from(whole)
      const place = 32 + (frames - 1) * frameBytes + at
      changed.writeUInt8((changed.readUInt8(place) + 1) % 256, place)
      expect(await lostIn(changed)).toBe(behind(frames - 1) + 1)
    }
  })

  it('ends before a frame of an earlier cycle, which has another salt', async () => {
    for (const at of [8, 15]) {
      const older = Buffer.from(whole)
      const place = 32 + (frames - 1) * frameBytes + at
      older.writeUInt8((older.readUInt8(place) + 1) % 256, place)
      expect(await lostIn(older)).toBe(behind(frames - 1))
    }
  })

  it('may have its checksums in the other byte order', async () => {
    const other = Buffer.from(whole)
    other.writeUInt32BE(other.readUInt32BE(0) ^ 1, 0)
    // Its first frame fits no longer.
    expect(await lostIn(other)).toBe(1)
    let [one, two] = [0, 0]
    const isBig = other.readUInt32BE(0) % 2 === 1
    const add = (bytes: Buffer) => {
      for (let at = 0; at < bytes.length; at += 8) {
        const word = (place: number) =>
          isBig ? bytes.readUInt32BE(place) : bytes.readUInt32LE(place)
        one = (one + word(at) + two) % 2 ** 32
        two = (two + word(at + 4) + one) % 2 ** 32
      }
    }
    add(other.subarray(0, 24))
    for (let at = 32; at < other.length; at += frameBytes) {
      add(other.subarray(at, at + 8))
      add(other.subarray(at + FRAME_HEADER, at + frameBytes))
      other.writeUInt32BE(one, at + 16)
      other.writeUInt32BE(two, at + 20)
    }
    expect(await lostIn(other)).toBe(0)
    expect(await lostIn(other.subarray(0, -1))).toBe(behind(frames - 1) + 1)
  })
})

it('a log without a whole header has lost one frame, and an empty one or another file none', async () => {
  const sizeOf = (pageBytes: number) => {
    const bytes = Buffer.alloc(33)
    bytes.writeUInt32BE(pageBytes, 8)
    return bytes
  }
  expect([await lostIn(Buffer.alloc(0)), await lostIn(Buffer.alloc(31))]).toEqual([0, 1])
  // A byte of a frame behind the header.
  const found: number[] = []
  for (const pageBytes of [511, 512, 65_536, 65_537]) found.push(await lostIn(sizeOf(pageBytes)))
  expect(found).toEqual([0, 1, 1, 0])
})
