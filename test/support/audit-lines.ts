import { LOG_LAWS } from '../../packages/core/src/audit/laws/laws.ts'
import { Prover, type Vouching } from '../../packages/core/src/audit/laws/prover.ts'
import type { AuditLine, AuditLineKind } from '../../packages/core/src/audit/log/line.ts'

/** Audit lines as tests write them, and the verdict of the laws about them. */

export type Facts = Partial<AuditLine>
export type Told = readonly [kind: AuditLineKind, facts?: Facts]

/** Two logs: `b` belongs to another process. */
export function judge(lines: readonly Told[], store: Vouching | null = null) {
  const prover = new Prover()
  for (const [at, [kind, facts = {}]] of lines.entries()) {
    const line: AuditLine = {
      ...{ log: 'a', line: at + 1, time: '2026-11-16T00:00:00.000Z', kind },
      ...{ sessionId: 's', ...facts },
    }
    prover.read({ line, mark: { file: line.log === 'a' ? 0 : 1, line: at + 1 } })
  }
  prover.judge(store)
  const { findings } = prover
  const broken = LOG_LAWS.flatMap((law) =>
    findings.kept(law).map(({ problem, sessionId, marks, mail }) => {
      const places = marks.map(({ file, line }) => `${file}:${line}`).join(' ')
      const about = sessionId === 's' ? '' : ` (${sessionId})`
      return `${law}${about}: ${problem} [${places}]${mail === undefined ? '' : ` of ${mail}`}`
    }),
  )
  const unproven = [...findings.unproven].map(
    ([law, { count, first }]) => `${law} ${count} ${first}`,
  )
  return { broken, unproven, figures: prover.figures, prover }
}

export const created: Told = ['session created', { operationId: 'o', entry: 1, reason: 'created' }]
export const acquired = (fence = 1, entry = 1, facts: Facts = {}): Told => [
  'lease acquired',
  { fence, entry, base: 0, ...facts },
]
export const released = (fence = 1, reason = 'released', facts: Facts = {}): Told => [
  'lease lost',
  { fence, reason, ...facts },
]
export const admitted = (from: number, to = from, reason = 'user'): Told => [
  'message admitted',
  { mailbox: { from, to }, reason },
]
export const delivered = (
  entry: number,
  from: number,
  facts: Facts & { to?: number } = {},
): Told => {
  const { to = from, ...rest } = facts
  return ['message delivered', { entry, mailbox: { from, to }, fence: 1, reason: 'user', ...rest }]
}
export const turn = (
  kind: 'started' | 'ended',
  number: number,
  entry: number,
  facts: Facts = {},
): Told => [
  `turn ${kind}`,
  {
    ...{ operationId: `turn-${number}`, entry, fence: 1 },
    ...(kind === 'ended' && { reason: 'answered' }),
    ...facts,
  },
]
export const compaction = (
  kind: 'started' | 'committed' | 'failed' | 'superseded' | 'abandoned',
  facts: Facts = {},
): Told => [
  `compaction ${kind}`,
  { operationId: 'c1', entry: 1, base: 0, fence: 1, trigger: 'manual', ...facts },
]

export const START = [created, acquired()] as const
