import { describe, expect, it } from 'vitest'
import type { MailItem } from '#core/store/queries'
import type { LeaseRecord } from '../watcher.ts'
import { type Asked, type Evidence, judge, type KeptSession, lettersToAsk } from './judge.ts'
import { Findings, LAW_NAMES, verdictOf } from './laws.ts'
import type { TrackedMessage } from './ledger.ts'
import type { RehearsedSession } from './transcript-laws.ts'

const END = ['reply 9', 'answered'] as const
const OUT: ReadonlySet<string> = new Set(['r-1'])
const ABANDONED = 'untorn: scene-torn: w-2 was abandoned by r-1, which lives'
const NOBODY = 'untorn: scene-torn: w-2 was abandoned by nobody known'

type Change = (evidence: Evidence) => Partial<Evidence>

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

  it.each<[string, Change]>([
    ['letters listed in another order than they were sent', listedBackwards],
    [
      'a message that was never acknowledged and never came',
      ({ letters }) => ({ letters: [...letters, { ...letter(3), order: null, mail: null }] }),
    ],
    ['a message that still waits', () => ({ sessions: [session('in 1', ...END)], ...one('2') })],
    ['a notification that came before an older message', notifiedEarly],
    [
      'a turn that still runs',
      () => ({ sessions: [session('in 1', 'in 2')], ...one('', 'running') }),
    ],
    ['a turn stopped by a stop', () => ({ ...stoppedTurn(), stops: new Map([['agent-1', 1]]) })],
    ['a turn that another message interrupted', interruptedTurn],
    ['a session of the stage', ({ sessions }) => ({ sessions: [...sessions, staged()] })],
    ['a turn that was told more behind its first reply', () => twoSteps('reply 3', 'answered')],
    ['messages of two turns', twoTurns],
    [
      'a message that no model was shown, since its turn was stopped',
      ({ wire }) => ({
        ...stoppedTurn(),
        stops: new Map([['agent-1', 1]]),
        wire: { ...wire, seen: new Set() },
      }),
    ],
    ['an answer looked up where it had to be', lookedUp],
    ['a rehearsal that was cut short', () => cutShort()],
    ['mail that waits behind an abandoned compaction of a rehearsal cut short', abandonedEarly],
    ['a closed session whose compaction was abandoned', () => abandonedBy('lost', 'closed')],
    ['a lease lost by a process that was killed', () => ({ leases: leases('lost'), lapsed: OUT })],
    ['a request that fills the window', ({ wire }) => ({ wire: { ...wire, tokensMax: 8_000 } })],
    ['a loop held for 30 ms', () => ({ loops: loops(30) })],
  ])('accepts %s', (_what, change) => expect(offencesIn(change)).toEqual([]))

  it.each<[string, readonly string[], Change]>([
    [
      'an acknowledged message that is nowhere',
      ['kept: agent-1.2 was acknowledged and is not in the transcript of agent-1'],
      () => ({ sessions: [session('in 1', ...END)] }),
    ],
    [
      'a message that is there three times',
      ['kept: agent-1.2 is in entries 2,3,4'],
      () => ({ sessions: [session('in 1', 'in 2', 'in 2', 'in 2', ...END)] }),
    ],
    [
      'messages in another order',
      ['kept: agent-1.2 came before one sent earlier'],
      () => ({ sessions: [session('in 2', 'in 1', ...END)] }),
    ],
    [
      'a message that nobody acknowledged',
      [
        'kept: agent-1.2 in agent-1 was never acknowledged',
        'compacted: agent-1 received nothing meanwhile',
      ],
      ({ letters }) => ({ letters: letters.slice(0, 1) }),
    ],
    [
      'a message under another number than was acknowledged',
      ['kept: agent-1.1 was acknowledged as user mail 9 and is user mail 1 in entry 1'],
      ({ letters: [first, ...rest] }) => ({
        letters: [{ ...(first ?? letter(1)), mail: 9 }, ...rest],
      }),
    ],
    [
      'a message in another lane than was acknowledged',
      ['kept: agent-1.2 was acknowledged as user mail 2 and is notification mail 2 in entry 2'],
      () => ({ sessions: [session('in 1', 'note 2', ...END)] }),
    ],
    [
      'a session that nobody made',
      ["kept: agent-1x is nobody's session"],
      ({ sessions }) => ({ sessions: [...sessions, { ...session(), agent: 'agent-1x' }] }),
    ],
    ['a session that is gone', ['kept: agent-1 has no session'], () => ({ sessions: [] })],
    [
      'a message that no turn has taken',
      ['answered: no turn has answered agent-1.1', 'answered: no turn has answered agent-1.2'],
      () => ({ sessions: [session('in 1', 'in 2', 'reply 2')] }),
    ],
    [
      'a message that came behind the last reply of its turn',
      ['answered: no turn has answered agent-1.2'],
      () => ({ sessions: [session('in 1', 'reply 1', 'in 2', 'answered')] }),
    ],
    [
      'a turn that was given up before a model had all of it',
      [
        'answered: the turn of agent-1.1 was given up',
        'answered: the turn of agent-1.2 was given up',
      ],
      () => ({ sessions: [session('in 1', 'reply 1', 'in 2', 'failed')] }),
    ],
    [
      'a turn without its reply',
      [
        'answered: the turn of agent-1.1 ended without a reply',
        'answered: the turn of agent-1.2 ended without a reply',
      ],
      () => ({ sessions: [session('in 1', 'in 2', 'call 2', 'answered')] }),
    ],
    [
      'a turn that ends with the reply of the one before',
      ['answered: the turn of agent-1.2 ended without a reply'],
      () => ({ sessions: [session('in 1', 'in 2', 'reply 1', 'answered', 'call 2', 'answered')] }),
    ],
    [
      'a turn that ends behind the reply of an older one',
      ['answered: the turn of agent-1.2 ended without a reply'],
      () => ({ sessions: [session('in 1', 'reply 9', 'answered', 'in 2', 'answered')] }),
    ],
    [
      'turns stopped by nobody',
      ['answered: agent-1: 2 turns were stopped by 1 stops'],
      () => ({
        sessions: [session('in 1', 'reply 1', 'stopped', 'in 2', 'reply 4', 'stopped')],
        stops: new Map([['agent-1', 1]]),
      }),
    ],
    [
      'a message that no model was shown',
      ['shown: agent-1.2 was never put before the model of agent-1'],
      ({ wire }) => ({ wire: { ...wire, seen: new Set(['agent-1.1']) } }),
    ],
    [
      "a message in another agent's request",
      ['shown: a request of agent-2 holds …'],
      ({ wire }) => ({ wire: { ...wire, strays: ['a request of agent-2 holds …'] } }),
    ],
    [
      'a request beyond the window',
      ['fits: a request of 8001 tokens, window 8000'],
      ({ wire }) => ({ wire: { ...wire, tokensMax: 8_001 } }),
    ],
    [
      'parcels handed over twice',
      ['effects: parcel a was handed over 2 times', 'effects: parcel b was handed over 3 times'],
      () => ({ effects: ['a', 'b', 'c', 'b', 'a', 'b'] }),
    ],
    [
      'a false "no record"',
      [`remembered: agent-1 about agent-1.2: "${'no record. '.repeat(19).slice(0, 200)}"`],
      ({ asked }) => ({ asked: answering(asked, 0, 'no record. '.repeat(19)) }),
    ],
    [
      'a look-up of what stands in the context',
      ['remembered: agent-1 had to look up agent-1.2, which no compaction covers'],
      ({ asked }) => ({ asked: answering(asked, 0, 'I looked it up: … maple …') }),
    ],
    [
      'a false "idle"',
      ['open: agent-1 about what is open: "I am idle: nothing is open."'],
      ({ asked }) => ({ asked: answering(asked, 1, 'I am idle: nothing is open.') }),
    ],
    [
      'an agent that was never compacted',
      ['compacted: agent-1 never was'],
      () => ({ sessions: [{ ...told(), compactions: 0 }] }),
    ],
    [
      'an agent that was told nothing meanwhile',
      ['compacted: agent-1 received nothing meanwhile'],
      () => ({ sessions: [{ ...told(), meanwhile: new Set() }] }),
    ],
    [
      'a compaction that was broken off',
      ['untorn: agent-1: 1 were broken off'],
      () => ({ sessions: [{ ...told(), torn: 1 }] }),
    ],
    [
      'a compaction abandoned by an owner who had only released the session',
      [ABANDONED],
      () => ({ ...abandoned('idle'), lapsed: OUT }),
    ],
    ['a compaction that its owner abandoned by a crash', [ABANDONED], () => abandoned('crash')],
    ['a compaction that was abandoned while its owner held on', [ABANDONED], () => abandoned(null)],
    [
      'a compaction taken from an owner that lives',
      [ABANDONED, 'held: scene-torn was taken from r-1, which lives'],
      () => abandoned('lost'),
    ],
    ['a compaction given up by an owner that lives', [ABANDONED], () => abandoned('shutdown')],
    [
      "an abandoned compaction that was nobody's",
      [NOBODY],
      () => ({ ...abandoned('lost'), leases: [], lapsed: OUT }),
    ],
    [
      'an abandoned compaction of another fence',
      [NOBODY],
      () => ({ ...abandoned('lost'), leases: leases('lost', { fence: 4 }), lapsed: OUT }),
    ],
    [
      'an abandoned compaction of another session',
      [NOBODY],
      () => ({ ...abandoned('lost'), leases: leases('lost', { sessionId: 's' }), lapsed: OUT }),
    ],
    [
      'a message that was left behind with a compaction whose owner was killed',
      ['untorn: scene-torn: mail 2 was left behind by an abandoned compaction'],
      () => ({ ...abandoned('lost', ['settled', 'settled']), isCutShort: true, lapsed: OUT }),
    ],
    [
      'a message that still waits behind a compaction whose owner was killed',
      ['untorn: scene-torn: mail 2 was left behind by an abandoned compaction'],
      () => ({ ...abandoned('lost', ['settled', 'pending']), lapsed: OUT }),
    ],
    [
      'a session taken from a process that lives',
      ['held: scene-torn was taken from r-1, which lives'],
      () => ({ leases: leases('lost') }),
    ],
    [
      'what its rows in the store show',
      ['founded: scene-torn: its base is 0, not 9', 'sent: scene-torn: reply 4 was never sent'],
      () => {
        const entries = [{ number: 9, kind: 'revert', operation: 'w-1', fence: 3 } as never]
        const replies = [{ number: 4, state: 'waiting' } as never]
        return { stored: [{ ...storedOne(), entries, replies }] }
      },
    ],
    [
      'a reply that was sent behind a later one',
      ['sent: s reply 1 was sent behind reply 2'],
      () => ({ sent: ['s 2 1 a', 's 1 1 a'] }),
    ],
    [
      'a turn that was recovered twice',
      ['written: recovered twice: agent-1 under fence 2'],
      () => ({ recoveredTwice: ['agent-1 under fence 2'] }),
    ],
    [
      'something that never rests',
      ['settled: agent-1: 3 messages wait'],
      () => ({ unsettled: ['agent-1: 3 messages wait'] }),
    ],
    [
      'an agent that failed',
      ['sound: agent-1: ended by itself (1)'],
      () => ({ failures: ['agent-1: ended by itself (1)'] }),
    ],
    [
      'a held event loop',
      ['loop: agent-1 for 31 ms'],
      () => ({ loops: loops(31), calibrationMsMax: 50 }),
    ],
  ])('sees %s', (_what, offences, change) => expect(offencesIn(change)).toEqual(offences))

  it.each(['lost', 'shutdown'] as const)(
    'calls it no tear that a compaction ended with an owner that was killed, held or late (%s)',
    (ended) => {
      const mails = ['settled', 'withdrawn'] as const
      expect(offencesIn(() => ({ ...abandoned(ended, mails), lapsed: OUT }))).toEqual([])
    },
  )

  it('distinguishes a scene that a busy machine did not reach from a broken one', () => {
    const verdictAt = (calibrationMsMax: number) => {
      const findings = new Findings()
      findings.broken('played', 'erasure: nobody was there to erase')
      return verdictOf(judge({ ...sound(), calibrationMsMax }, findings).verdicts)
    }
    expect([verdictAt(51), verdictAt(50)]).toEqual(['not-played', 'broken'])
    const busy = { ...sound(), calibrationMsMax: 120 }
    expect(verdictOf(judge({ ...busy, sessions: [] }).verdicts)).toBe('broken')
    expect(verdictOf(judge({ ...busy, sessions: [{ ...told(), compactions: 0 }] }).verdicts)).toBe(
      'not-played',
    )
    expect(verdictOf(judge(sound()).verdicts)).toBe('holds')
  })

  it('reports no blocked event loop if the machine delays idle threads as well', () => {
    const { verdicts } = judge({ ...sound(), loops: loops(80), calibrationMsMax: 51 })
    expect(verdicts.find(({ law }) => law === 'loop')).toMatchObject({
      ...{ holds: true, offences: [] },
      unproven: 'agent-1 for 80 ms, on a machine that is overloaded',
    })
  })

  it('counts what was sent, acknowledged, answered, stopped and looked up', () => {
    const letters = [1, 2, 3, 4].map((number) => letter(number))
    const unsent = { ...letter(5), order: null, mail: null }
    const lost = { ...letter(6), mail: null }
    const ends = ['reply 1', 'answered', 'in 2', 'in 3', 'reply 5', 'stopped', 'in 4']
    const { tally } = judge({
      ...sound(),
      letters: [...letters, unsent, lost],
      sessions: [{ ...session('in 1', ...ends), meanwhile: new Set([2, 4]) }],
      ...lookedUp(sound()),
    })
    expect(tally).toEqual({
      ...{ sent: 5, acknowledged: 4, answered: 1, stopped: 2, meanwhile: 2 },
      ...{ asked: 1, lookedUp: 1 },
    })
  })
})

describe('lettersToAsk', () => {
  const letters = Array.from({ length: 9 }, (_, at) => letter(at + 1))
  const { entries } = session(
    'in 1',
    'in 2',
    'in 3',
    'in 4',
    'in 5',
    'in 6',
    'in 7',
    'in 8',
    'in 9',
  )

  it('picks the two oldest and the three newest facts of the period, each once', () => {
    const meanwhile = new Set([2, 3, 4, 5, 6, 7, 8])
    const asked = lettersToAsk(letters, { agent: 'agent-1', meanwhile, entries }, 9)
    expect(asked.map(({ mail }) => mail)).toEqual([2, 3, 6, 7, 8])
    const few = lettersToAsk(letters, { agent: 'agent-1', meanwhile: new Set([4]), entries }, 9)
    expect(few.map(({ mail }) => mail)).toEqual([4])
  })

  it('takes the first that no compaction covers, and none of another agent', () => {
    const meanwhile = new Set([2])
    const own = { agent: 'agent-1', meanwhile, entries }
    expect(lettersToAsk(letters, own, 4).map(({ mail }) => mail)).toEqual([5, 2])
    expect(lettersToAsk(letters, { ...own, agent: 'agent-2' }, 4)).toEqual([])
    const unsent = letters.map((each) => ({ ...each, mail: null }))
    expect(lettersToAsk(unsent, own, 4)).toEqual([])
  })
})

/** The laws that the changed evidence breaks, and how. */
function offencesIn(change: Change): readonly string[] {
  const evidence = sound()
  const { verdicts } = judge({ ...evidence, ...change(evidence) })
  return verdicts.flatMap(({ law, offences }) => offences.map((each) => `${law}: ${each}`))
}

/** One agent, two messages, the second during a compaction; all evidence agrees. */
function sound(): Evidence {
  return {
    agents: ['agent-1'],
    letters: [letter(1), letter(2)],
    stops: new Map(),
    sessions: [told()],
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

function told(): KeptSession {
  return session('in 1', 'in 2', ...END)
}

/**
 * `in` and `note` with the number of a mail, `call` and `reply` with the entry up to which the model
 * was shown, and the end of a turn.
 */
function session(...steps: readonly string[]): KeptSession {
  const entries = steps.map((step, at) => {
    const [what, of] = step.split(' ')
    const entry = { number: at + 1, body: 'null' }
    switch (what) {
      case 'in':
      case 'note': {
        const lane = what === 'in' ? 'user' : 'notification'
        const body = JSON.stringify(letter(Number(of)).text)
        return { ...entry, kind: 'input', body, meta: { lane, mail: Number(of), blobs: [] } }
      }
      case 'call':
      case 'reply': {
        const calls = what === 'call' ? ['c'] : []
        return { ...entry, kind: 'assistant', meta: { upto: Number(of), calls, turn: 1 } }
      }
      default:
        return { ...entry, kind: 'turn', meta: { turn: 1, ended: what } }
    }
  })
  return {
    agent: 'agent-1',
    entries: entries as unknown as KeptSession['entries'],
    ...{ compactions: 1, torn: 0, meanwhile: new Set([2]) },
  }
}

function listedBackwards({ letters }: Evidence): Partial<Evidence> {
  return { letters: letters.toReversed() }
}

/** Each lane has an order of its own. */
function notifiedEarly({ letters: [first] }: Evidence): Partial<Evidence> {
  const note = { ...letter(2), lane: 'notification' as const }
  return {
    letters: first === undefined ? [] : [first, note],
    sessions: [session('note 2', 'in 1', ...END)],
  }
}

function twoTurns(): Partial<Evidence> {
  return {
    sessions: [session('in 1', 'reply 1', 'answered', 'in 2', 'call 4', 'reply 5', 'answered')],
  }
}

function twoSteps(...end: readonly string[]): Partial<Evidence> {
  return { sessions: [session('in 1', 'call 1', 'in 2', ...end)] }
}

function stoppedTurn(): Partial<Evidence> {
  return { sessions: [session('in 1', 'in 2', 'reply 2', 'stopped')] }
}

/** The policy of this agent lets a message end a turn. */
function interruptedTurn({ letters, wire }: Evidence): Partial<Evidence> {
  const rename = (text: string) => text.replaceAll('agent-1', 'agent-2')
  const { entries, ...rest } = session('in 1', 'in 2', 'reply 2', 'stopped')
  return {
    agents: ['agent-2'],
    letters: letters.map((each) => ({ ...each, agent: 'agent-2', key: rename(each.key) })),
    sessions: [
      {
        ...rest,
        agent: 'agent-2',
        entries: entries.map((entry) => ({ ...entry, body: rename(entry.body ?? '') })),
      },
    ],
    wire,
  }
}

function staged(): KeptSession {
  return { ...session(), agent: 'scene-torn' }
}

function lookedUp({ asked: [first] }: Evidence): Pick<Evidence, 'asked'> {
  const answer = 'I looked it up: maple'
  return { asked: first === undefined ? [] : [{ ...first, isReproduced: false, answer }] }
}

/** Neither compactions nor replies are due. */
function cutShort(): Partial<Evidence> {
  const entry = { number: 1, kind: 'input', operation: 'w-1', fence: 3, tokens: 1, body: null }
  const input = { ...entry, meta: { lane: 'user', mail: 1, blobs: [] } }
  const end = { ...entry, number: 2, kind: 'turn', meta: { turn: 1, ended: 'answered' } }
  const mail = { number: 1, lane: 'user', state: 'settled', body: '{"replyTo":{}}' }
  const stored = { ...storedOne(), entries: [input, end], mail: [mail] }
  return {
    isCutShort: true,
    sessions: [{ ...told(), compactions: 0, meanwhile: new Set() }],
    stored: [stored as unknown as RehearsedSession],
  }
}

function abandonedEarly(): Partial<Evidence> {
  return { ...abandoned('lost', ['settled', 'pending']), isCutShort: true, lapsed: OUT }
}

function abandonedBy(ended: LeaseRecord['ended'], state: string): Partial<Evidence> {
  const { stored, leases } = abandoned(ended, ['settled', 'settled'])
  const [first = storedOne()] = stored
  const row = { ...first.row, state } as RehearsedSession['row']
  return { stored: [{ ...first, row }], leases, lapsed: OUT }
}

/** The session of the agent in the store, with mail of these numbers pending. */
function one(pending: string, turnState = 'idle'): Partial<Evidence> {
  const row = { id: 'agent-1', state: 'open', base: 0, turnState, limits: {} }
  const mail = pending === '' ? [] : [{ number: 2, lane: 'user', state: 'pending' }]
  const stored = { row, entries: [], mail, operations: [], replies: [] }
  return { stored: [stored as unknown as RehearsedSession] }
}

function storedOne(): RehearsedSession {
  const row = { id: 'scene-torn', state: 'open', limits: { inputTokens: 99 }, base: 0 }
  const none = { entries: [], mail: [], operations: [], replies: [] }
  return { row, ...none } as unknown as RehearsedSession
}

/** A session of the stage whose first mail is an entry and whose compaction was abandoned. */
function abandoned(
  ended: LeaseRecord['ended'],
  mails: readonly MailItem['state'][] = [],
): Pick<Evidence, 'stored' | 'leases'> {
  const input = { number: 1, kind: 'input', operation: 'w-1', fence: 3, tokens: 1 }
  const entry = { ...input, meta: { lane: 'user', mail: 1, blobs: [] } }
  const mail = mails.map((state, at) => ({ number: at + 1, lane: 'user', state }))
  const stop = { number: 9, lane: 'control', state: 'settled' }
  const operation = { id: 'w-2', fence: 3, state: 'abandoned', result: {}, by: 'model' }
  const rows = { entries: [entry], mail: [...mail, stop], operations: [operation] }
  const stored = { ...storedOne(), ...rows } as unknown as RehearsedSession
  return { stored: [stored], leases: leases(ended) }
}

function leases(ended: LeaseRecord['ended'], changed: Partial<LeaseRecord> = {}): LeaseRecord[] {
  return [{ sessionId: 'scene-torn', fence: 3, runner: 'r-1', ended, ...changed }]
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
