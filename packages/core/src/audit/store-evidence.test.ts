import { beforeAll, describe, expect, it } from 'vitest'
import { auditedStore } from '../../../../test/support/audit/audited.ts'
import { mailNumber } from '../base/ids.ts'
import { StoreFixture } from '../store/contract-suite/bench.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import type { AuditRow, SessionRow } from '../store/tables/rows.ts'
import type { AuditLawName } from './laws/laws.ts'
import { Prover } from './laws/prover.ts'
import type { NewAuditLine } from './log/line.ts'
import { EvidenceCheck } from './store-evidence.ts'

interface Life {
  readonly lines: readonly NewAuditLine[]
  readonly rows: readonly AuditRow[]
  readonly sessions: readonly SessionRow[]
}

/** Two messages, an answer, a compaction: the log that the process wrote, and the store's rows. */
async function liveOnce(): Promise<Life> {
  const lines: NewAuditLine[] = []
  const store = auditedStore(openMemoryStore(), { write: (line) => lines.push(line) })
  const fixture = await StoreFixture.open(store)
  const look = async () => {
    await store.findSession(fixture.id)
    for (const lane of ['user', 'notification'] as const) {
      await store.listMail({ sessionId: fixture.id, lane, state: 'pending', limit: 100 })
    }
  }
  await look()
  await fixture.admit('one')
  await fixture.admit('two')
  await look()
  await fixture.deliver(mailNumber(1), mailNumber(2))
  await look()
  await fixture.reply('said', { ends: 'answered' })
  await look()
  const operation = await fixture.claim(2)
  await look()
  await fixture.commit(operation)
  await look()
  const rows = await store.readAudit({ after: 0, limit: 100 })
  return { lines, rows, sessions: await store.listSessions({ limit: 10 }) }
}

/** The laws that are broken, or cannot be proven, if the store holds this and the log that. */
async function findingsOf({ lines, rows, sessions }: Life) {
  const prover = new Prover()
  for (const [index, facts] of lines.entries()) {
    const line = { ...facts, log: 'log-0', line: index + 1, time: '' }
    prover.read({ line, mark: { file: 0, line: index + 1 } })
  }
  const check = new EvidenceCheck(
    {
      readAudit: async ({ after }) => rows.filter(({ cursor }) => cursor > after),
      listSessions: async ({ after }) => (after === undefined ? sessions : []),
      verify: async () => [],
    },
    prover,
  )
  await check.run(() => {})
  const laws = ['store-sessions', 'store-transcript', 'store-operations', 'store-messages'] as const
  const { findings } = prover
  return {
    broken: laws.filter((law) => findings.count(law) > 0),
    open: laws.filter((law) => findings.unproven.has(law)),
  }
}

let life: Life
beforeAll(async () => {
  life = await liveOnce()
})

const without = (kind: string) => (each: { readonly kind: string }) => each.kind !== kind

describe('a store compared with its logs', () => {
  it('has no findings if both agree', async () => {
    expect(await findingsOf(life)).toEqual({ broken: [], open: [] })
  })

  it('has no findings while a compaction runs', async () => {
    const isBefore = without('compaction committed')
    const sessions = life.sessions.map((row) => ({ ...row, tail: 4 as never }))
    const running = { rows: life.rows.filter(isBefore), lines: life.lines.filter(isBefore) }
    expect(await findingsOf({ ...running, sessions })).toEqual({ broken: [], open: [] })
  })

  it.each(['compaction started', 'compaction committed'])(
    'leaves a law unproven if a process may have died before it wrote “%s”',
    async (kind) => {
      const lines = life.lines.filter(without(kind))
      expect((await findingsOf({ ...life, lines })).open).toEqual(['store-operations'])
    },
  )

  const changes: readonly (readonly [string, AuditLawName, (life: Life) => Partial<Life>])[] = [
    [
      'an older fence',
      'store-sessions',
      ({ sessions }) => ({ sessions: sessions.map((row) => ({ ...row, fence: 0 as never })) }),
    ],
    [
      'fewer entries',
      'store-transcript',
      ({ sessions }) => ({ sessions: sessions.map((row) => ({ ...row, tail: 2 as never })) }),
    ],
    ['no such session', 'store-sessions', () => ({ sessions: [] })],
    [
      'no birth of the session',
      'store-sessions',
      ({ rows }) => ({ rows: rows.filter(without('session created')) }),
    ],
    [
      'no start of a compaction',
      'store-operations',
      ({ rows }) => ({ rows: rows.filter(without('compaction started')) }),
    ],
    [
      'no end of a compaction',
      'store-operations',
      ({ rows }) => ({ rows: rows.filter(without('compaction committed')) }),
    ],
    [
      'no acknowledged message',
      'store-messages',
      ({ rows }) => ({ rows: rows.filter(without('message admitted')) }),
    ],
    [
      'no delivery',
      'store-messages',
      ({ rows }) => ({ rows: rows.filter(without('message delivered')) }),
    ],
    [
      'a message that was passed over',
      'store-messages',
      ({ rows, lines }) => ({
        lines: lines.filter(without('message delivered')),
        rows: rows.map((row) =>
          row.kind === 'message delivered' ? { ...row, facts: { ...row.facts, mail: [2] } } : row,
        ),
      }),
    ],
  ]
  it.each(changes)('is found to have %s: %s', async (_, law, change) => {
    expect((await findingsOf({ ...life, ...change(life) })).broken).toContain(law)
  })
})
