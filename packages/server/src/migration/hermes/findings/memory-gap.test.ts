import { expect, it } from 'vitest'
import type { HermesRow } from '../read/rows.ts'
import { FINDING_KINDS, type FindingKind, finding } from './finding.ts'
import type { StoreView } from './identity.ts'
import { findDenials } from './memory-gap.ts'

const row = (id: number, role: string, text: string) =>
  ({ id, sessionId: 's', role, text, at: id }) as HermesRow
const ROWS = [row(1, 'user', 'Where are the keys?'), row(2, 'assistant', 'I have no record.')]

/** One session in which the agent denies something at second 2. */
const view = {
  survey: { sessions: new Map([['s', { denials: [{ id: 2, askedId: 1 }] }]]) },
  lineage: { descendantsOf: () => [] },
  read: (id: number) => ROWS.find((each) => each.id === id) ?? null,
} as unknown as StoreView

const fault = (kind: FindingKind, from: number) =>
  finding({
    ...{ kind, severity: 'harm', certainty: 'certain', sessionIds: ['s'], from },
    ...{ title: 'Something happened', explanation: '', advice: '' },
  })

it('a reply of having no record is reported after a loss of messages, and after no other fault', () => {
  const kinds = Object.keys(FINDING_KINDS) as FindingKind[]
  const telling = kinds.filter(
    (kind) => findDenials({ view, faults: [fault(kind, 1)], events: [] }).length > 0,
  )
  expect(telling.toSorted()).toEqual(['destructive-rewrite', 'fork', 'rows-after-closing'])
})

it('a reply of having no record is reported once, and not if the loss came later', () => {
  const found = (...faults: ReturnType<typeof fault>[]) => findDenials({ view, faults, events: [] })
  expect(found(fault('fork', 3))).toEqual([])
  const [told, ...more] = found(fault('fork', 1), fault('destructive-rewrite', 1))
  expect(told).toMatchObject({ kind: 'said-no-record', facts: { saidIn: 2, askedIn: 1 } })
  expect(more).toEqual([])
})
