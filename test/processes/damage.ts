import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { KnownError } from '../../packages/core/src/base/errors.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { type LocalRuntime, openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import { byHand } from '../support/sqlite-place.ts'
import { seeded } from './storm.ts'

/** A store as a killed process left it, and what it had acknowledged in each session. */
export interface Left {
  readonly folder: string
  readonly said: ReadonlyMap<string, readonly string[]>
}

/**
 * The result for one damaged copy; `silent`: texts that are neither served nor reported as lost.
 */
export interface DamageEnd {
  readonly damage: string
  readonly isReported: boolean
  readonly acknowledged: number
  readonly served: number
  readonly silent: readonly string[]
}

const SESSIONS = 3
const ENDS = ['', '-wal', '.anchor', '.commits'] as const
/** Files that are removed by hand before the store is opened again. */
export const WITHOUT = {
  /** Leaves the anchor, which shows that there was a record. */
  record: ['.commits'],
  /** Leaves nothing that names the newest commits. */
  memory: ['.anchor', '.commits'],
} as const

/** Kills a writer after as many acknowledgments as the seed says. */
export async function killWriter(seed: number): Promise<Left> {
  const random = seeded(seed)
  const folder = mkdtempSync(join(tmpdir(), 'throughline-damage-'))
  const path = join(folder, 'store.db')
  const script = join(import.meta.dirname, 'children', 'damage-writer.ts')
  const child = spawn(process.execPath, [script, path, `${SESSIONS}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said = new Map<string, string[]>()
  const first = 20 + Math.floor(random() * 150)
  const last = first + 20 + Math.floor(random() * 150)
  let count = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, text } = JSON.parse(line) as { id: string; text: string }
    said.set(id, [...(said.get(id) ?? []), text])
    count += 1
    // From here on some acknowledged commits are in the file and some only in the WAL.
    if (count === first && random() < 0.7) byHand(path, 'pragma wal_checkpoint(passive)')
    if (count === last) child.kill('SIGKILL')
  }
  await ended
  return { folder, said }
}

/** Damages a copy at one place, opens it as a server does, and reads everything. */
export async function harmAndServe(
  left: Left,
  seed: number,
  { without }: { readonly without?: keyof typeof WITHOUT } = {},
): Promise<DamageEnd> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-damaged-'))
  const path = join(folder, 'store.db')
  const removed: readonly string[] = without === undefined ? [] : WITHOUT[without]
  for (const end of ENDS) {
    const from = join(left.folder, `store.db${end}`)
    if (!removed.includes(end) && existsSync(from)) copyFileSync(from, `${path}${end}`)
  }
  const damage = harm(path, seeded(seed))
  try {
    return { damage, ...(await serve(path, left)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function harm(path: string, random: () => number): string {
  const isWal = random() < 0.5
  const file = isWal ? `${path}-wal` : path
  const bytes = readFileSync(file)
  const at = Math.floor(random() * bytes.length)
  const kind = ['cut', 'cut at a page', 'bit', 'bytes', 'sector'][Math.floor(random() * 5)] ?? 'cut'
  const [unit, head] = isWal ? [4_120, 32] : [4_096, 0]
  const page = head + Math.floor(Math.max(0, at - head) / unit) * unit
  if (kind === 'cut') writeFileSync(file, bytes.subarray(0, at))
  else if (kind === 'cut at a page') writeFileSync(file, bytes.subarray(0, page))
  else {
    const length = { bit: 1, bytes: 1 + Math.floor(random() * 64), sector: 512 }[kind] ?? 1
    for (let index = at; index < Math.min(bytes.length, at + length); index++) {
      const old = bytes.readUInt8(index)
      const flipped = old ^ (1 << Math.floor(random() * 8))
      bytes.writeUInt8(kind === 'sector' ? 0 : flipped, index)
    }
    writeFileSync(file, bytes)
  }
  return `${isWal ? 'WAL' : 'database'}: ${kind} at ${at} of ${bytes.length}`
}

async function serve(path: string, { said }: Left): Promise<Omit<DamageEnd, 'damage'>> {
  const acknowledged = [...said.values()].reduce((sum, texts) => sum + texts.length, 0)
  const refused = { isReported: true, acknowledged, served: 0, silent: [] }
  const store = await openSqliteStore({ path }).catch(reported)
  if (store === null) return refused
  try {
    const runtime = await openRuntime({ store, agents: [] }).catch(reported)
    if (runtime === null) return refused
    try {
      return { ...(await ask(runtime, said)), acknowledged }
    } finally {
      await runtime.close()
    }
  } finally {
    await store.close()
  }
}

/**
 * First reads the reported damage, then sends a message, then reads everything acknowledged before.
 */
async function ask(
  runtime: LocalRuntime,
  said: Left['said'],
): Promise<Omit<DamageEnd, 'damage' | 'acknowledged'>> {
  const problems = await runtime.health().then(
    (health) => health.problems,
    (error: unknown) => [String(reported(error))],
  )
  let served = 0
  let isReported = problems.length > 0
  const silent: string[] = []
  for (const [id, texts] of said) {
    const session = runtime.session(sessionId(id))
    const message = { source: 'drill', key: id, parts: [{ type: 'text', text: 'next' }] } as const
    const admission = await session.admit(message).catch(reported)
    const isTaken = admission?.kind === 'admitted'
    const found = await readAll(runtime, id).catch(reported)
    const missing = texts.filter((text) => found?.includes(text) !== true)
    served += texts.length - missing.length
    if (!isTaken) isReported = true
    // Already reported: the whole store, or this session.
    const isNamed = problems.some((line) => !line.startsWith('Session ') || line.includes(id))
    if (isTaken && !isNamed) silent.push(...missing)
  }
  return { isReported, served, silent }
}

async function readAll(runtime: LocalRuntime, id: string): Promise<string> {
  const session = runtime.session(sessionId(id))
  const pages: unknown[] = []
  for (let from = 1; ; from += 500) {
    const page = await session.transcript({ from, to: from + 499 })
    pages.push(page)
    if (page === undefined || page.length < 500) break
  }
  for (let after = 0; ; ) {
    const page = await session.mailbox({ after, limit: 500 })
    pages.push(page)
    const last = page.at(-1)
    if (last === undefined) break
    after = last.number
  }
  return JSON.stringify(pages)
}

/** A store error counts as a report; anything else is a bug. */
function reported(error: unknown): null {
  if (error instanceof KnownError) return null
  throw error
}
