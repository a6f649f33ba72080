import { describe, expect, it } from 'vitest'
import { eventOf } from '../read/log.ts'
import type { LogEvent } from '../read/log-event.ts'
import { findPoisonedClients } from './client.ts'
import type { Finding } from './finding.ts'
import { findDropped, findPauses, findTornSummaries } from './log-faults.ts'
import { findLogIdentityFaults, type Held } from './log-identity.ts'
import { pairOperations } from './operations.ts'

const OLD = '20260301_080000_0a1b2c3d'
const NEW = '20260301_090030_4e5f60'
const OTHER = '20260301_070000_99887766'

function eventsOf(...lines: string[]): LogEvent[] {
  return lines.flatMap((text, index) => eventOf(text, { path: 'agent.log', line: index + 1 }) ?? [])
}

function judge(events: readonly LogEvent[], held: Held | null = null): Finding[] {
  const operations = pairOperations(events)
  return [
    ...findLogIdentityFaults({
      operations,
      events,
      isSameConversation: () => false,
      heldOf: () => held,
    }),
    ...findTornSummaries(operations.pairs),
    ...findPoisonedClients(events),
    ...findPauses(events),
    ...findDropped(events),
  ]
}

const brief = (findings: readonly Finding[]) =>
  findings.map(({ kind, severity, certainty, sessionIds }) => [
    kind,
    severity,
    certainty,
    ...sessionIds,
  ])

const at = (time: string, tag: string | null, message: string) =>
  `2026-03-01 ${time} INFO${tag === null ? '' : ` [${tag}]`} agent.c: ${message}`
const started = (time: string, tag: string | null, id: string, messages: number) =>
  at(time, tag, `context compression started: session=${id} messages=${messages} tokens=~9`)
const done = (time: string, tag: string | null, id: string, counts: string, rest = 'tokens=~5') =>
  at(time, tag, `context compression done:    session=${id} messages=${counts} ${rest}`)

describe('compactions in the log', () => {
  it('an end belongs to the newest start of its session', () => {
    const events = eventsOf(
      started('08:00:00,000', null, OLD, 40),
      started('08:10:00,000', null, OLD, 50),
      done('08:10:20,000', null, OLD, '50->10'),
    )
    const { pairs } = pairOperations(events)
    expect(pairs.map((pair) => pair.started.fact.messages)).toEqual([50])
  })

  it('a compaction that ends under another id is a change of identity', () => {
    const found = judge(
      eventsOf(started('09:00:00', OLD, OLD, 194), done('09:00:30', OLD, NEW, '194->26')),
    )
    expect(brief(found)).toEqual([['identity-changed', 'harm', 'certain', OLD, NEW]])
    expect(found[0]?.lines.map(({ line }) => line)).toEqual([1, 2])
  })

  it('a change of identity that the gateway followed is only a note', () => {
    const lines = [started('09:00:00', OLD, OLD, 194), done('09:00:30', OLD, NEW, '194->26')]
    const split = at('09:00:31', null, `Session split detected: ${OLD} → ${NEW} (compression)`)
    expect(brief(judge(eventsOf(...lines, split)))).toEqual([
      ['identity-changed', 'note', 'certain', OLD, NEW],
    ])
  })

  it('a foreign bracket means a rewrite in the old format, and only a wrong tag in the new one', () => {
    const rough = 'rough_tokens=~17 awaiting_real_usage=true'
    const old = eventsOf(
      started('09:00:00', OTHER, OLD, 39),
      done('09:00:30', OTHER, OLD, '39->13'),
    )
    const late = eventsOf(
      started('09:00:00', OTHER, OLD, 39),
      done('09:00:30', OTHER, OLD, '39->13', rough),
    )
    expect(brief(judge(old))).toEqual([['foreign-tag', 'harm', 'certain', OLD, OTHER]])
    expect(brief(judge(late))).toEqual([['foreign-tag', 'risk', 'certain', OLD, OTHER]])
  })

  it('tool rows are said to be gone only if the store holds none of the session', () => {
    const lines = [started('09:00:00', OTHER, OLD, 39), done('09:00:30', OTHER, OLD, '39->13')]
    const said = (held: Held | null) =>
      judge(eventsOf(...lines), held)[0]?.explanation.includes('and all tool rows,')
    expect(said(null)).toBe(true)
    expect(said({ isRewritten: true, hasToolRows: false })).toBe(true)
    expect(said({ isRewritten: true, hasToolRows: true })).toBe(false)
    expect(said({ isRewritten: false, hasToolRows: false })).toBe(false)
  })

  it('the bracket of an earlier id of the same conversation is not foreign', () => {
    const found = judge(
      eventsOf(
        started('09:00:00', OLD, OLD, 194),
        done('09:00:30', OLD, NEW, '194->26'),
        started('09:01:00', OLD, NEW, 50),
        done('09:01:30', OLD, NEW, '50->9'),
      ),
    )
    expect(found.map(({ kind }) => kind)).toEqual(['identity-changed'])
  })

  it('simultaneous compactions with equal counts are distinguished by session', () => {
    const found = judge(
      eventsOf(
        started('09:00:00', null, OLD, 50),
        started('09:00:01', null, OTHER, 50),
        done('09:00:20', null, OLD, '50->5'),
        done('09:00:21', null, OTHER, '50->6'),
      ),
    )
    expect(found).toEqual([])
  })

  it('a pairing that could be another is only suspected', () => {
    const found = judge(
      eventsOf(
        started('09:00:00', null, OLD, 50),
        started('09:00:01', null, OTHER, 50),
        done('09:00:30', null, NEW, '50->5'),
      ),
    )
    expect(found.map(({ certainty }) => certainty)).toEqual(['suspected'])
  })

  it('a new id whose start is not in the log is suspected to have been another', () => {
    const found = judge(eventsOf(done('09:00:31', OLD, NEW, '194->26')))
    expect(brief(found)).toEqual([['identity-changed', 'harm', 'suspected', OLD, NEW]])
  })

  it('a failure between start and end is a torn summary, one without an end is not', () => {
    const failure = at('09:00:20', OLD, 'Failed to generate context summary: stream interrupted.')
    const torn = judge(
      eventsOf(started('09:00:00', OLD, OLD, 169), failure, done('09:00:30', OLD, OLD, '169->8')),
    )
    expect(brief(torn)).toEqual([['torn-summary', 'harm', 'certain', OLD]])
    expect(torn[0]?.facts['cause']).toBe('interrupted')
    expect(judge(eventsOf(started('09:00:00', OLD, OLD, 169), failure))).toEqual([])
  })
})

describe('auxiliary clients in the log', () => {
  const using = (time: string) =>
    at(time, OLD, 'Auxiliary compression: using main (m) at https://x/')
  const timeout = at(
    '09:00:20',
    OLD,
    'Failed to generate context summary: exceeded 20.0s total timeout.',
  )
  const refused = (time: string) =>
    at(time, OLD, 'Failed to generate context summary: Connection error..')
  const answered = at('09:03:00', OLD, `Turn ended: reason=x response_len=9 session=${OLD}`)

  it('a timeout, quick connection errors and an answering main model are a poisoned client', () => {
    const found = judge(
      eventsOf(using('09:00:00'), timeout, answered, using('09:05:00'), refused('09:05:01')),
    )
    expect(brief(found)).toEqual([['poisoned-client', 'harm', 'certain', OLD]])
  })

  it('without an answer of the main model it is only suspected', () => {
    const found = judge(
      eventsOf(using('09:00:00'), timeout, using('09:05:00'), refused('09:05:01')),
    )
    expect(found.map(({ certainty }) => certainty)).toEqual(['suspected'])
  })

  it('a timeout that is followed by a written summary poisoned nothing', () => {
    const written = at('09:05:00', OLD, 'Compressed: 90 -> 9 messages (~5 tokens saved, 50%)')
    expect(judge(eventsOf(using('09:00:00'), timeout, written, refused('09:06:00')))).toEqual([])
  })

  it('lines that were quoted without time or logger are recognized too', () => {
    const found = judge(
      eventsOf(
        'Auxiliary compression: using main (m) at https://x/',
        'Failed to generate context summary: stream exceeded 20.0s total timeout. Paused.',
        'Auxiliary flush_memories: using main (m) at https://x/',
        'Some extractor failed: Connection error.',
      ),
    )
    expect(found.map(({ kind }) => kind)).toEqual(['poisoned-client'])
  })
})

describe('other trouble in the log', () => {
  it('three skips without a compaction between them are a session that is stuck', () => {
    const skip = (minute: number) =>
      at(
        `09:0${minute}:00`,
        OLD,
        `Skipping preflight compression: same-session cooldown active (~9 seconds remaining, session ${OLD})`,
      )
    expect(brief(judge(eventsOf(skip(1), skip(2), skip(3))))).toEqual([
      ['stuck-compaction', 'risk', 'certain', OLD],
    ])
    expect(judge(eventsOf(skip(1), skip(2)))).toEqual([])
  })

  it('a message dropped from a full queue is reported', () => {
    const line = at(
      '09:00:00',
      null,
      'Dropping busy-mode follow-up for session agent:k — pending queue at cap (32).',
    )
    expect(judge(eventsOf(line)).map(({ facts }) => facts)).toEqual([
      { key: 'agent:k', messages: 1 },
    ])
  })
})
