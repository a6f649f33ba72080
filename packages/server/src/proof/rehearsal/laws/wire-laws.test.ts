import { describe, expect, it } from 'vitest'
import type { Entry } from '#core/store/rows'
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

async function offencesOf(recorded: Readonly<Record<string, Recorded>>) {
  const rows = Object.keys(recorded)
    .sort()
    .map((id) => ({ id, state: 'open', limits: { inputTokens: 900 } }) as never)
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

function end(number: number): Entry {
  return entry(number, 'turn', { ended: 'answered' })
}
