import { describe, expect, it } from 'vitest'
import type { MailItem } from '#core/store/queries'
import type { LeaseRecord } from '../watcher.ts'
import { type Asked, type Evidence, judge, type KeptSession, lettersToAsk } from './judge.ts'
import { Findings, LAW_NAMES, type LawName, verdictOf } from './laws.ts'
import type { TrackedMessage } from './ledger.ts'
import type { RehearsedSession } from './transcript-laws.ts'

describe('judge', () => {
  it('finds no broken law if all records agree', () => {
    const { verdicts, tally } = judge(sound())
    expect(verdicts.filter(({ holds, unproven }) => !holds || unproven !== null)).toEqual([])
    expect(verdicts.map(({ law }) => law)).toEqual(LAW_NAMES)
    expect(tally).toEqual({
      ...{ sent: 2, acknowledged: 2, answered: 2, stopped: 0, meanwhile: 1 },
      ...{ asked: 2, lookedUp: 0 },
    })
  })

  it.each<[string, LawName, (evidence: Evidence) => Partial<Evidence>]>([
    ['an acknowledged message that is nowhere', 'kept', () => ({ sessions: [session([1])] })],
    ['a message that is there twice', 'kept', () => ({ sessions: [session([1, 2, 2])] })],
    ['messages in another order', 'kept', () => ({ sessions: [session([2, 1])] })],
    [
      'a message that nobody acknowledged',
      'kept',
      ({ letters }) => ({ letters: letters.slice(0, 1) }),
    ],
    [
      'a message under another number than was acknowledged',
      'kept',
      ({ letters }) => ({ letters: letters.map((each) => ({ ...each, mail: 9 })) }),
    ],
    [
      'a session that nobody made',
      'kept',
      ({ sessions }) => ({ sessions: [...sessions, { ...session([]), agent: 'agent-1x' }] }),
    ],
    ['a session that is gone', 'kept', () => ({ sessions: [] })],
    [
      'a message that no turn has taken',
      'answered',
      ({ sessions: [first] }) => ({ sessions: [{ ...kept(first), entries: withoutTurns(first) }] }),
    ],
    ['a turn that was given up', 'answered', () => ({ sessions: [session([1, 2], 'failed')] })],
    ['a turn without its reply', 'answered', () => ({ sessions: [session([1, 2], 'mute')] })],
    ['a turn stopped by nobody', 'answered', () => ({ sessions: [session([1, 2], 'stopped')] })],
    [
      'a message that no model was shown',
      'shown',
      ({ wire }) => ({ wire: { ...wire, seen: new Set(['agent-1.1']) } }),
    ],
    [
      "a message in another agent's request",
      'shown',
      ({ wire }) => ({ wire: { ...wire, strays: ['a request of agent-2 holds …'] } }),
    ],
    [
      'a request beyond the window',
      'fits',
      ({ wire }) => ({ wire: { ...wire, tokensMax: 8_001 } }),
    ],
    ['a parcel handed over twice', 'effects', () => ({ effects: ['agent-1.1', 'agent-1.1'] })],
    [
      'a false "no record"',
      'remembered',
      ({ asked }) => ({ asked: answering(asked, 0, 'I have no record of it.') }),
    ],
    [
      'a look-up of what stands in the context',
      'remembered',
      ({ asked }) => ({ asked: answering(asked, 0, 'I looked it up: … maple …') }),
    ],
    [
      'a false "idle"',
      'open',
      ({ asked }) => ({ asked: answering(asked, 1, 'I am idle: nothing is open.') }),
    ],
    [
      'an agent that was never compacted',
      'compacted',
      ({ sessions: [first] }) => ({ sessions: [{ ...kept(first), compactions: 0 }] }),
    ],
    [
      'an agent that was told nothing meanwhile',
      'compacted',
      ({ sessions: [first] }) => ({ sessions: [{ ...kept(first), meanwhile: new Set() }] }),
    ],
    [
      'a compaction that was broken off',
      'untorn',
      ({ sessions: [first] }) => ({ sessions: [{ ...kept(first), torn: 1 }] }),
    ],
    [
      'a compaction that an owner abandoned which had only released the session',
      'untorn',
      () => ({ ...abandoned('idle'), lapsed: new Set(['r-1']) }),
    ],
    ['a compaction that its owner abandoned by a crash', 'untorn', () => abandoned('crash')],
    ['a compaction that was abandoned while its owner held on', 'untorn', () => abandoned(null)],
    ['a compaction taken from an owner that lives', 'untorn', () => abandoned('lost')],
    ['a compaction given up by an owner that lives', 'untorn', () => abandoned('shutdown')],
    [
      "an abandoned compaction that was nobody's",
      'untorn',
      () => ({ ...abandoned('lost'), leases: [], lapsed: new Set(['r-1']) }),
    ],
    [
      'a message that was left behind with a compaction whose owner was killed',
      'untorn',
      () => ({ ...abandoned('lost', ['settled', 'settled']), lapsed: new Set(['r-1']) }),
    ],
    [
      'a message that still waits behind a compaction whose owner was killed',
      'untorn',
      () => ({ ...abandoned('lost', ['settled', 'pending']), lapsed: new Set(['r-1']) }),
    ],
    ['a session taken from a process that lives', 'held', () => abandoned('lost')],
    ['something that never rests', 'settled', () => ({ unsettled: ['agent-1: 3 messages wait'] })],
    ['an agent that failed', 'sound', () => ({ failures: ['agent-1: ended by itself (1)'] })],
    ['a held event loop', 'loop', () => ({ loops: loops(31) })],
  ])('sees %s', (_what, law, change) => {
    const evidence = sound()
    const { verdicts } = judge({ ...evidence, ...change(evidence) })
    expect(verdicts.filter(({ holds }) => !holds).map((verdict) => verdict.law)).toContain(law)
  })

  it.each(['lost', 'shutdown'] as const)(
    'calls it no tear that a compaction ended with an owner that was killed, held or late (%s)',
    (ended) => {
      const mails = ['settled', 'withdrawn'] as const
      const evidence = { ...sound(), ...abandoned(ended, mails), lapsed: new Set(['r-1']) }
      expect(judge(evidence).verdicts.filter(({ holds }) => !holds)).toEqual([])
    },
  )

  it('distinguishes a scene that a busy machine did not reach from a broken one', () => {
    const verdictAt = (calibrationMsMax: number) => {
      const findings = new Findings()
      findings.broken('played', 'erasure: nobody was there to erase')
      return verdictOf(judge({ ...sound(), calibrationMsMax }, findings).verdicts)
    }
    expect([verdictAt(120), verdictAt(10)]).toEqual(['not-played', 'broken'])
    expect(verdictOf(judge({ ...sound(), sessions: [], calibrationMsMax: 120 }).verdicts)).toBe(
      'broken',
    )
    expect(verdictOf(judge(sound()).verdicts)).toBe('holds')
  })

  it('reports no blocked event loop if the machine delays idle threads as well', () => {
    const { verdicts } = judge({ ...sound(), loops: loops(80), calibrationMsMax: 120 })
    const verdict = verdicts.find(({ law }) => law === 'loop')
    expect(verdict).toMatchObject({ holds: true, unproven: expect.stringContaining('80 ms') })
  })

  it('counts stopped turns separately from answered ones', () => {
    const evidence = { ...sound(), stops: new Map([['agent-1', 1]]) }
    const { verdicts, tally } = judge({ ...evidence, sessions: [session([1, 2], 'stopped')] })
    expect(verdicts.filter(({ holds }) => !holds)).toEqual([])
    expect(tally).toMatchObject({ answered: 0, stopped: 2 })
  })
})

describe('lettersToAsk', () => {
  const letters = Array.from({ length: 9 }, (_, at) => letter(at + 1))
  const { entries } = session([1, 2, 3, 4, 5, 6, 7, 8, 9])

  it('picks the oldest and the newest fact of the period, each once', () => {
    const meanwhile = new Set([2, 3, 4, 5, 6, 7, 8])
    const asked = lettersToAsk(letters, { agent: 'agent-1', meanwhile, entries }, 9)
    expect(asked.map(({ mail }) => mail)).toEqual([2, 3, 6, 7, 8])
    const few = lettersToAsk(letters, { agent: 'agent-1', meanwhile: new Set([4]), entries }, 9)
    expect(few.map(({ mail }) => mail)).toEqual([4])
  })

  it('takes the first that no compaction covers', () => {
    const meanwhile = new Set([2])
    const asked = lettersToAsk(letters, { agent: 'agent-1', meanwhile, entries }, 4)
    expect(asked.map(({ mail }) => mail)).toEqual([5, 2])
  })
})

/** One agent, two messages, the second during a compaction; all evidence agrees. */
function sound(): Evidence {
  return {
    agents: ['agent-1'],
    letters: [letter(1), letter(2)],
    stops: new Map(),
    sessions: [session([1, 2])],
    wire: {
      seen: new Set(['agent-1.1', 'agent-1.2']),
      ...{ strays: [], requests: 2, summaries: 1, tokensMax: 8_000 },
    },
    windowTokens: 8_000,
    effects: ['agent-1.1', 'agent-1.2'],
    asked: [
      asking({
        letter: letter(2),
        isReproduced: true,
        wanted: 'maple',
        answer: 'I was told: maple',
      }),
      asking({ letter: null, isReproduced: false, wanted: 'parcel', answer: 'I was told: parcel' }),
    ],
    unsettled: [],
    isCutShort: false,
    failures: [],
    loops: loops(30),
    calibrationMsMax: 2,
    ...{ stored: [], lapsed: new Set<string>(), leases: [], recoveredTwice: [], sent: [] },
  }
}

/** A session of the stage whose first mail is an entry and whose compaction was abandoned. */
function abandoned(
  ended: LeaseRecord['ended'],
  mails: readonly MailItem['state'][] = [],
): Pick<Evidence, 'stored' | 'leases'> {
  const row = { id: 'scene-torn', state: 'open', limits: { inputTokens: 99 }, base: 0 }
  const input = { number: 1, kind: 'input', operation: 'w-1', fence: 3, tokens: 1 }
  const entry = { ...input, meta: { lane: 'user', mail: 1, blobs: [] } }
  const mail = mails.map((state, at) => ({ number: at + 1, lane: 'user', state }))
  const operation = { id: 'w-2', fence: 3, state: 'abandoned', result: {}, by: 'model' }
  const stored = { row, entries: [entry], mail, operations: [operation], replies: [] }
  return {
    stored: [stored as unknown as RehearsedSession],
    leases: [{ sessionId: 'scene-torn', fence: 3, runner: 'r-1', ended }],
  }
}

function letter(number: number): TrackedMessage {
  const key = `agent-1.${number}`
  const text = `[${key}] The code word of parcel ${key} is maple.`
  return { key, agent: 'agent-1', lane: 'user', text, word: 'maple', order: number, mail: number }
}

function asking(rest: Omit<Asked, 'agent'>): Asked {
  return { agent: 'agent-1', ...rest }
}

function answering(asked: readonly Asked[], at: number, answer: string): readonly Asked[] {
  return asked.map((each, index) => (index === at ? { ...each, answer } : each))
}

function loops(ownMsMax: number): Evidence['loops'] {
  return new Map([['agent-1', { ownMsMax, delayMsMax: 300 }]])
}

/** The messages as input, one step that saw them all, and the end of its turn. */
function session(
  numbers: readonly number[],
  end: 'answered' | 'stopped' | 'failed' | 'mute' = 'answered',
): KeptSession {
  const inputs = numbers.map((mail, at) => ({
    ...{ number: at + 1, kind: 'input', body: JSON.stringify(letter(mail).text) },
    meta: { lane: 'user', mail, blobs: [] },
  }))
  const upto = numbers.length
  const calls = end === 'mute' ? ['call'] : []
  const reply = { number: upto + 1, kind: 'assistant', body: '""', meta: { upto, calls, turn: 1 } }
  const ended = end === 'mute' ? 'answered' : end
  const turn = { number: upto + 2, kind: 'turn', body: 'null', meta: { turn: 1, ended } }
  return {
    agent: 'agent-1',
    entries: [...inputs, reply, turn] as unknown as KeptSession['entries'],
    ...{ compactions: 1, torn: 0, meanwhile: new Set([2]) },
  }
}

function kept(session: KeptSession | undefined): KeptSession {
  if (session === undefined) throw new Error('there is no session')
  return session
}

function withoutTurns(session: KeptSession | undefined): KeptSession['entries'] {
  return kept(session).entries.filter(({ kind }) => kind !== 'turn')
}
