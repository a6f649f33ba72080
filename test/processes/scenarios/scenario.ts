import { expect } from 'vitest'
import type { AuditRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type AgentOptions, leaseFor, PACES } from '../agent-options.ts'
import { findingsOf, judge } from '../checker.ts'
import { Host, type Life, until } from '../host.ts'
import { readAudit } from '../kept.ts'
import { readAcks } from '../sending-client.ts'

/** Processes start slowly on a busy machine. */
export const TEST_MS_MAX = 240_000

export type Finish = (end: () => Promise<void>) => void

export async function makeHost(sessions: readonly string[], onTestFinished: Finish): Promise<Host> {
  const host = await Host.make(sessions)
  onTestFinished(() => host.remove())
  return host
}

type Fields = Partial<Omit<AgentOptions, 'folder' | 'place'>>

export async function startAgent(host: Host, name: string, fields: Fields = {}): Promise<Life> {
  const plain = { name, agents: ['main'], lease: leaseFor(13), paces: PACES }
  const life = host.start({ ...plain, ...fields })
  await life.ready
  return life
}

/** What the outside checker counts once all is at rest; it finds nothing. */
export async function settle(host: Host) {
  const verdict = await judge(host)
  expect(findingsOf(verdict)).toEqual([])
  return verdict.counts
}

export function compactionsIn(rows: readonly AuditRow[], id: string) {
  return rows.filter((row) => row.sessionId === id && row.kind.startsWith('compaction '))
}

export function isCommit({ kind }: AuditRow): boolean {
  return kind === 'compaction committed'
}

/** The agents form a ring: each writes to the next one while it is compacted itself. */
export async function crossTogether(count: number, onTestFinished: Finish): Promise<void> {
  const sessions = Array.from({ length: count }, (_, index) => `a${index}-0`)
  const host = await makeHost(sessions, onTestFinished)
  const names = sessions.map((id) => id.slice(0, -2))
  await Promise.all(
    names.map((name, index) => {
      const sends = { sessions: [`a${(index + 1) % count}-0`], paceMs: 25, count: 28 }
      return startAgent(host, name, { agents: [name], lease: leaseFor(count), sends })
    }),
  )
  await host.using(async (store) => {
    await until(
      'everything was sent',
      () => names.every((name) => readAcks(host.folder, name).length === 28),
      { withinMs: 120_000, everyMs: 100 },
    )
    const { acknowledged } = await settle(host)
    expect(acknowledged).toBe(count * 28)
    const rows = await readAudit(store)
    const firsts = sessions.map(
      (id) => compactionsIn(rows, id).find(({ kind }) => kind === 'compaction started')?.at ?? 0,
    )
    expect(Math.min(...firsts)).toBeGreaterThan(0)
    expect(Math.max(...firsts) - Math.min(...firsts)).toBeLessThan(60_000)
    expect(new Set(rows.filter(isCommit).map(({ sessionId: id }) => id)).size).toBe(count)
  })
}
