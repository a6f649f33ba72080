import { describe, expect, it } from 'vitest'
import type { Entry } from '#core/store/tables/rows'
import { CAST } from '../terms.ts'
import { Findings } from './laws.ts'
import { judgeWire } from './wire-laws.ts'

const [FIRST = '', SECOND = ''] = Object.keys(CAST)
const LAST = Object.keys(CAST).at(-1) ?? ''

describe('judgeWire', () => {
  it('finds nothing broken if every request contains its messages', async () => {
    expect(await offencesOf({ [FIRST]: conversation() })).toEqual([])
  })

  it('finds a message that was not sent', async () => {
    const requests = ['"One."', '"Two."']
    expect(await offencesOf({ [FIRST]: { ...conversation(), requests } })).toEqual([
      `${FIRST}: the step at 4 was not sent all that it is about`,
    ])
  })

  it('checks the stage with any number of other agents', async () => {
    const others = Array.from({ length: 200 }, (_, at) => `agent-${at + 1}`)
    const crowd = Object.fromEntries(others.map((name) => [name, conversation()]))
    const stage = { ...crowd, [LAST]: { ...conversation(), requests: [] } }
    expect(await offencesOf(stage)).toHaveLength(2)
  })

  it('does not require messages that a compaction covers, or that are too large to be shown whole', async () => {
    const book = 'Page after page.'
    const entries = [
      said(1, 'One.'),
      answer(2, 1),
      end(3),
      entry(4, 'compaction', { covers: 3 }),
      said(5, book, 1_000),
      said(6, 'Two.'),
      answer(7, 6),
      end(8),
    ]
    expect(await offencesOf({ [FIRST]: { entries, requests: ['"One."', '"Two."'] } })).toEqual([])
    const undone = [...entries.slice(0, 4), entry(5, 'revert', { previous: 0 }), said(6, 'Two.')]
    const wire = { entries: [...undone, answer(7, 6), end(8)], requests: ['"One."', '"Two."'] }
    expect(await offencesOf({ [FIRST]: wire })).toEqual([
      `${FIRST}: the step at 6 was not sent all that it is about`,
    ])
  })

  it('finds an unanswered message that a compaction inside its turn left out [I34]', async () => {
    const entries = [
      said(1, 'One.'),
      answer(2, 1),
      entry(3, 'result', { call: 'c', outcome: 'ok' }),
      entry(4, 'compaction', { covers: 1 }),
      said(5, 'Two.'),
      answer(6, 5),
      end(7),
    ]
    expect(await offencesOf({ [FIRST]: { entries, requests: ['"One."', '"Two."'] } })).toEqual([
      `${FIRST}: the step at 5 was not sent all that it is about`,
    ])
  })

  it('requires messages below nine tenths of the bound, in each step that was answered', async () => {
    const entries = [
      ...[said(1, 'One.', 809), said(2, 'Two.', 810), answer(3, 2), entry(4, 'result', {})],
      ...[said(5, 'Three.'), answer(6, 5), end(7, 'stopped'), said(8, 'Four.'), answer(9, 8)],
    ]
    const missed = (...texts: readonly string[]) =>
      offencesOf({ [FIRST]: { entries, requests: texts } })
    expect(await missed('"One."', '"Four."')).toEqual([])
    expect(await missed('"Two."', '"Three."')).toEqual([
      `${FIRST}: the step at 2 was not sent all that it is about`,
    ])
  })

  it('requires nothing that was given up, covered behind an erasure, or erased itself', async () => {
    const missing = async (...entries: readonly Entry[]) =>
      (await offencesOf({ [FIRST]: { entries, requests: ['"One."', '"Two."'] } })).length
    const givenUp = [said(1, 'One.'), end(2, 'failed'), entry(3, 'compaction', { covers: 2 })]
    expect(await missing(...givenUp, said(4, 'Two.'), answer(5, 4), end(6))).toBe(0)
    const covered = [said(1, 'One.'), answer(2, 1), end(3), entry(4, 'compaction', { covers: 3 })]
    const behind = [said(6, 'Two.'), answer(7, 6), end(8)]
    const erased = (replaces: object | null) => entry(5, 'erasure', { replaces })
    expect(await missing(...covered, erased(null), ...behind)).toBe(0)
    expect(await missing(...covered, erased({ covers: 3 }), ...behind)).toBe(0)
    expect(await missing(...covered, erased({ covers: 0 }), ...behind)).toBe(1)
    expect(await missing(...covered, entry(5, 'revert', { previous: 4 }), ...behind)).toBe(0)
    const gone = { ...said(1, 'One.'), body: null } as Entry
    expect(await missing(gone, answer(2, 1), end(3), said(4, 'Two.'), answer(5, 4), end(6))).toBe(0)
  })

  it('looks at the open sessions of the stage', async () => {
    const broken = { ...conversation(), requests: [] }
    expect(await offencesOf({ 'agent-1': broken })).toEqual([])
    expect(await offencesOf({ [FIRST]: broken }, 'closed')).toEqual([])
  })

  it('requires no text of a message that has none', async () => {
    const bodies = ['null', '[]', '{}', '{"message":{}}', '{"message":{"parts":[]}}']
    bodies.push('{"message":{"parts":[null]}}', '{"message":{"parts":[{"text":7}]}}')
    for (const body of bodies) {
      const entries = [{ ...said(1, ''), body } as Entry, answer(2, 1), end(3)]
      expect(await offencesOf({ [FIRST]: { entries, requests: ['x'] } })).toEqual([])
    }
  })

  it('finds a handoff with the facts of another session', async () => {
    const { entries, requests } = conversation()
    const handoff = { ...entry(7, 'compaction', { covers: 3 }), body: `${SECOND} page 1` } as Entry
    const wire = { entries: [...entries, handoff], requests }
    expect(await offencesOf({ [FIRST]: wire })).toEqual([`${FIRST}: handoff 7 tells of ${SECOND}`])
  })
})

interface Recorded {
  readonly entries: readonly Entry[]
  readonly requests: readonly string[]
}

async function offencesOf(recorded: Readonly<Record<string, Recorded>>, state = 'open') {
  const rows = Object.keys(recorded)
    .sort()
    .map((id) => ({ id, state, limits: { inputTokens: 900 } }) as never)
  const findings = new Findings()
  const stage = {
    store: { listSessions: async ({ limit }: { limit: number }) => rows.slice(0, limit) },
    model: { requestsOf: (name: string) => recorded[name]?.requests ?? [] },
    entries: async (name: string) => recorded[name]?.entries ?? [],
  }
  await judgeWire(stage, findings)
  return findings.verdicts().flatMap(({ offences }) => offences)
}

/** Two messages and their answers; the second request contains both. */
function conversation(): Recorded {
  const entries = [said(1, 'One.'), answer(2, 1), end(3), said(4, 'Two.'), answer(5, 4), end(6)]
  return { entries, requests: ['"One."', '"One.", "Two."'] }
}

function entry(number: number, kind: string, meta: object): Entry {
  return { number, kind, meta, tokens: 10, body: '{}' } as never
}

function said(number: number, text: string, tokens = 10): Entry {
  const body = JSON.stringify({ message: { parts: [{ type: 'text', text }] } })
  return { ...entry(number, 'input', { mail: number }), tokens, body } as Entry
}

function answer(number: number, upto: number): Entry {
  return entry(number, 'assistant', { upto })
}

function end(number: number, ended = 'answered'): Entry {
  return entry(number, 'turn', { ended })
}
