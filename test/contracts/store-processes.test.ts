import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { create, LIMITS } from '../../packages/core/src/store/contract-suite/bench.ts'
import { readAnchor } from '../../packages/core/src/store/integrity/anchor.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'

const CHILD = join(import.meta.dirname, 'children', 'admit.ts')
const id = sessionId('target')
const limits = { ...LIMITS, laneMailMax: 1_000_000, sourceMailMax: 1_000_000 }
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function place(): Promise<{ folder: string; path: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-processes-'))
  folders.push(folder)
  const path = join(folder, 'store.db')
  await using(path, (store) => create(store, { id, limits }))
  return { folder, path }
}

async function using<Value>(path: string, work: (store: Store) => Promise<Value>): Promise<Value> {
  const store = await openSqliteStore({ path })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Resolves with the first line that the child prints. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (data) => resolve(String(data).trim()))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the child ended with ${code}`)))
  })
}

function ended(child: ChildProcess): Promise<unknown> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', resolve))
}

function readAcks(files: readonly string[]): readonly string[] {
  // One that was killed before its first acknowledgment has left no file; a line without its end was
  // being written, and is none.
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(0, -1))
}

async function checkAcknowledged(path: string, files: readonly string[]): Promise<number> {
  const acks = readAcks(files)
  return using(path, async (store) => {
    const kept = new Map<string, number>()
    for (let after = 0; ; ) {
      const page = await store.listMail({ sessionId: id, after: after as never, limit: 1_000 })
      for (const { key, number } of page) kept.set(key ?? '', number)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.number
    }
    expect([...kept.values()]).toEqual(Array.from(kept, (_, index) => index + 1))
    const lost = acks.filter((line) => {
      const [number, key = ''] = line.split(' ')
      return kept.get(key) !== Number(number)
    })
    expect(lost).toEqual([])
    expect(await store.verify({})).toEqual([])
    return acks.length
  })
}

describe('processes on one file', () => {
  it('kill -9 of two writers at any moment loses nothing acknowledged and leaves no gap [I1, I2, faults 1-3]', async () => {
    const { folder, path } = await place()
    const files: string[] = []
    // A slow disk acknowledges little before each death.
    const isEmpty = () => readAcks(files).length <= 20
    for (let round = 0; round < 2 || (isEmpty() && round < 40); round++) {
      const children = ['a', 'b'].map((writer) => {
        const acks = join(folder, `acks-${round}-${writer}`)
        files.push(acks)
        return spawn(process.execPath, [CHILD, path, acks, `${writer}${round}`, '4'], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
      })
      await Promise.all(children.map(firstLine))
      await new Promise((resolve) => setTimeout(resolve, 60 + 140 * (round % 2)))
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(children.map(ended))
    }
    expect(await checkAcknowledged(path, files)).toBeGreaterThan(20)
  })

  it('a power cut that leaves only synced data loses nothing acknowledged [I1, I26]', async (context) => {
    const { folder, path } = await place()
    const library = join(folder, 'power-cut.so')
    const source = join(import.meta.dirname, 'children', 'power-cut.c')
    const built = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'])
    if (built.status !== 0) return context.skip('not run: no C compiler for Linux here')
    const left = join(folder, 'left')
    mkdirSync(left)
    // Closed in order: all of it is synced.
    cpSync(path, join(left, 'store.db'))
    const acks = join(folder, 'acks')
    const child = spawn(process.execPath, [CHILD, path, acks, 'a', '4'], {
      env: { ...process.env, LD_PRELOAD: library, POWER_CUT_FOLDER: left },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await firstLine(child)
    await expect.poll(() => readAcks([acks]).length, { timeout: 40_000 }).toBeGreaterThan(40)
    // The store writes its anchor once a second, to a draft that it then renames.
    const drafts = () =>
      readdirSync(left).filter((name) => /^store\.db\.anchor\..*\.new$/.test(name))
    const anchored = () => drafts().map((name) => readAnchor(join(left, name))?.recorded ?? 0)
    await expect.poll(() => Math.max(0, ...anchored()), { timeout: 40_000 }).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await ended(child)
    // The last draft that was synced, as if its new name had reached the disk as well.
    const [draft = ''] = drafts()
    renameSync(join(left, draft), join(left, 'store.db.anchor'))
    expect(readAnchor(join(left, 'store.db.anchor'))?.recorded).toBeGreaterThan(0)
    expect(await checkAcknowledged(join(left, 'store.db'), [acks])).toBeGreaterThan(40)
  })

  it('a full disk refuses before acknowledging, and with space again everything continues [I24, fault 63]', async () => {
    const { folder, path } = await place()
    const acks = join(folder, 'acks')
    const command = `ulimit -f 2000; exec "$0" "$@"`
    const script = ['-c', command, process.execPath, CHILD, path, acks, 'full', '4', '8000']
    const child = spawn('sh', script, { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data) => {
      said += String(data)
    })
    await ended(child)
    expect(said).toContain('failed store-full')
    expect(await checkAcknowledged(path, [acks])).toBeGreaterThan(3)
    const more = { to: { sessionId: id }, source: 'later', key: 'k', lane: 'user' } as const
    const outcome = await using(path, (store) => store.admit({ ...more, body: 1, tokens: 1 }))
    expect(outcome.kind).toBe('admitted')
  })

  it('a disk that is full when a store is opened is called full, not damaged [I24, fault 63]', async () => {
    const { folder, path } = await place()
    // Less than the index of a WAL, which is made at every start.
    const script = ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, CHILD, path]
    const child = spawn('sh', [...script, join(folder, 'acks')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    expect(await firstLine(child)).toBe('failed store-full')
    await ended(child)
  })

  it('at the limit of descriptors it reports that or works, and keeps everything acknowledged [I24, fault 78]', async () => {
    const { folder, path } = await place()
    const told = new Set<string>()
    const files: string[] = []
    for (const limit of [28, 32, 34, 48]) {
      const acks = join(folder, `acks-${limit}`)
      files.push(acks)
      writeFileSync(acks, '')
      const script = ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, CHILD, path]
      const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
      const child = spawn('sh', [...script, acks, `few${limit}`, '4'], { stdio })
      const line = await firstLine(child).catch(() => 'did not start')
      // Killed at work: four senders have each sent one.
      if (line === 'ready') await expect.poll(() => readAcks([acks]).length).toBeGreaterThan(3)
      child.kill('SIGKILL')
      await ended(child)
      told.add(line)
    }
    expect(told).toContain('failed store-busy')
    expect(told).toContain('ready')
    expect(
      [...told].filter((line) => !/^(failed store-busy|ready|did not start)$/.test(line)),
    ).toEqual([])
    expect(await checkAcknowledged(path, files)).toBeGreaterThan(3)
  })

  it('without memory, process or thread end as if killed, and everything acknowledged is kept [I24, fault 77]', async () => {
    const { folder, path } = await place()
    const ends = new Set<string>()
    const files: string[] = []
    // Sixty senders at once, a tenth of a megabyte each: too much for the smaller heaps.
    for (const megabytes of [12, 16, 20]) {
      if (megabytes > 16 && readAcks(files).length > 3) break
      const acks = join(folder, `acks-${megabytes}`)
      files.push(acks)
      writeFileSync(acks, '')
      const flood = [CHILD, path, acks, `flood${megabytes}`, '60', '100000']
      const child = spawn(process.execPath, [`--max-old-space-size=${megabytes}`, ...flood], {
        stdio: ['ignore', 'pipe', 'ignore'],
        // It ends by itself, after a second on a machine that has nothing else to do.
        timeout: 25_000,
        killSignal: 'SIGKILL',
      })
      let said = ''
      child.stdout.on('data', (data) => {
        said += String(data)
      })
      await ended(child)
      ends.add(child.signalCode ?? said.replace('ready', '').trim())
    }
    expect([...ends].filter((end) => /SIGABRT|failed outcome-unknown/.test(end))).not.toEqual([])
    expect(await checkAcknowledged(path, files)).toBeGreaterThan(3)
  })

  it('a file or folder that may only be read is refused by name [fault 71]', async (context) => {
    if (process.getuid?.() !== 0) context.skip('not run: needs to change the user')
    const { folder, path } = await place()
    const acks = join(folder, 'acks')
    const run = async () => {
      const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
      const child = spawn(process.execPath, [CHILD, path, acks, 'x'], { uid: 65_534, stdio })
      const line = await firstLine(child)
      await ended(child)
      return line
    }
    chmodSync(folder, 0o755)
    expect(await run()).toBe('failed store-read-only')
    chmodSync(path, 0o644)
    expect(await run()).toBe('failed store-read-only')
    expect(await checkAcknowledged(path, [])).toBe(0)
  })
})
