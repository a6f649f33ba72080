import { describe, expect, it } from 'vitest'
import { entryNumber } from '../../packages/core/src/base/ids.ts'
import type { CommitVerb, OutcomeOf, RequestOf } from '../../packages/core/src/store/contract.ts'
import { STORE_CONTRACT } from '../../packages/core/src/store/contract-suite/store-contract.ts'
import type { ReplyHead } from '../../packages/core/src/store/retention-commits.ts'
import { RULES, type Rules } from '../../packages/core/src/store/rules/rules.ts'
import type { Rows, Rule, Ruling, StoreChange } from '../../packages/core/src/store/rules/ruling.ts'
import type { SessionRow } from '../../packages/core/src/store/tables/rows.ts'
import { memoryBench } from './benches/memory.ts'

/** Each decision of the protocol, taken back: the contract must notice. */
type Mutation = (rules: Rules) => Partial<Rules>

function replace<Verb extends CommitVerb>(
  verb: Verb,
  make: (rule: Rule<Verb>) => Rule<Verb>,
): Mutation {
  return (rules) => ({ [verb]: make(rules[verb] as Rule<Verb>) }) as Partial<Rules>
}

/** The rule is told another request than the one that was made. */
function asked<Verb extends CommitVerb>(
  verb: Verb,
  change: (request: RequestOf<Verb>, rows: Rows) => RequestOf<Verb>,
): Mutation {
  return replace(verb, (rule) => (rows, request, stamp) => rule(rows, change(request, rows), stamp))
}

/** The rule sees another session row than the one that is there. */
function seeing<Verb extends CommitVerb>(verb: Verb, alter: Partial<SessionRow> | Alter): Mutation {
  const fieldsFor = typeof alter === 'function' ? alter : () => alter
  return replace(verb, (rule) => (rows, request, stamp) => {
    const lent = new Map<string, Partial<SessionRow>>()
    const view = new Proxy(rows, {
      get(target, name) {
        if (name === 'session') {
          return (id: SessionRow['id']) => {
            const row = target.session(id)
            if (row === undefined) return undefined
            lent.set(id, lent.get(id) ?? fieldsFor(row))
            return { ...row, ...lent.get(id) }
          }
        }
        const value = Reflect.get(target, name, target) as unknown
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const ruling = rule(view, request, stamp)
    return changing(ruling, (change) => ({
      ...change,
      sessions: (change.sessions ?? []).map(({ before, after }) => {
        const real = rows.session(after.id)
        if (real === undefined) return { before, after }
        // What the rule only saw, and did not change, is given back as it was.
        const back = Object.entries(lent.get(after.id) ?? {})
          .filter(([name, value]) => after[name as keyof SessionRow] === value)
          .map(([name]) => [name, real[name as keyof SessionRow]])
        return { before: real, after: { ...after, ...Object.fromEntries(back) } }
      }),
    }))
  })
}
type Alter = (row: SessionRow) => Partial<SessionRow>

function changing<Outcome>(
  ruling: Ruling<Outcome>,
  alter: (change: StoreChange) => StoreChange,
): Ruling<Outcome> {
  return ruling.change === undefined ? ruling : { ...ruling, change: alter(ruling.change) }
}

function writing<Verb extends CommitVerb>(
  verb: Verb,
  alter: (change: StoreChange) => StoreChange,
): Mutation {
  return replace(
    verb,
    (rule) =>
      (...all) =>
        changing(rule(...all), alter),
  )
}

function afterwards<Verb extends CommitVerb>(verb: Verb, alter: Alter): Mutation {
  return writing(verb, (change) => ({
    ...change,
    sessions: (change.sessions ?? []).map(({ before, after }) => ({
      before,
      after: { ...after, ...alter(after) },
    })),
  }))
}

function answering<Verb extends CommitVerb>(
  verb: Verb,
  from: string,
  to: Partial<OutcomeOf<Verb>>,
): Mutation {
  return replace(verb, (rule) => (...all) => {
    const ruling = rule(...all)
    return ruling.outcome.kind === from
      ? { ...ruling, outcome: { ...ruling.outcome, ...to } }
      : ruling
  })
}

/** The sweep sees replies as something that they are not. */
function sweeping(alter: Partial<ReplyHead>): Mutation {
  return replace('dropSent', (rule) => (rows, request, stamp) => {
    const repliesAfter: Rows['repliesAfter'] = (after, limit) =>
      rows.repliesAfter(after, limit).map((reply) => ({ ...reply, ...alter }))
    return rule({ repliesAfter } as Rows, request, stamp)
  })
}

/** Whatever fence and tail the caller has, the present ones are taken for his. */
const forged = <Verb extends 'deliver' | 'commitReply' | 'commitResults' | 'commitCompaction'>(
  verb: Verb,
) =>
  asked(verb, (request, rows) => {
    const row = rows.session(request.lease.sessionId)
    if (row?.holder == null || row.runner === null) return request
    const { fence, holder, runner } = row
    return {
      ...request,
      lease: { ...request.lease, fence, holder, runner },
      tail: { number: row.tail, hash: row.tailHash },
    }
  })

const wide = (row: SessionRow, fields: Partial<SessionRow['limits']>) => ({
  limits: { ...row.limits, ...fields },
})

/** By the theme of the contract that must notice. */
const MUTATIONS: Readonly<Record<string, Readonly<Record<string, Mutation>>>> = {
  leases: {
    'no fence at delivery': forged('deliver'),
    'the same fence on re-acquisition': replace('acquire', (rule) => (...all) => {
      const ruling = rule(...all)
      if (ruling.outcome.kind !== 'acquired') return ruling
      const fence = ruling.outcome.lease.fence - 1
      const lease = { ...ruling.outcome.lease, fence }
      const changed = changing(ruling, (change) => ({
        ...change,
        sessions: (change.sessions ?? []).map(({ before, after }) => ({
          before,
          after: { ...after, fence },
        })),
      }))
      return { ...changed, outcome: { ...ruling.outcome, lease } }
    }),
    'acquisition does not abandon': seeing('acquire', { operation: null }),
    'a lease without a look at the fence': asked('acquire', (request, rows) => ({
      ...request,
      fence: rows.session(request.sessionId)?.fence ?? 0,
    })),
    'a live holder is robbed': seeing('acquire', { runner: null, holder: null }),
    'dismissal without a look at the beat': asked('dismissRunner', (request, rows) => ({
      ...request,
      beat: rows.runner(request.runner)?.beat ?? 0,
    })),
    'an idle release tears a turn': asked('release', (request) => ({
      ...request,
      reason: 'shutdown',
    })),
  },
  fences: {
    'no fence at the reply': forged('commitReply'),
    'the tail is not compared': asked('setTasks', (request, rows) => {
      const row = rows.session(request.lease.sessionId)
      return row === undefined
        ? request
        : { ...request, tail: { number: row.tail, hash: row.tailHash } }
    }),
  },
  recovery: {
    'no fence at the results': forged('commitResults'),
    'no cap on poison turns': asked('recover', (request) => ({ ...request, attemptsMax: 1e9 })),
    'no cap on turns that kill their process': asked('recover', (request) => ({
      ...request,
      lossesMax: 1e9,
    })),
    'a lost holder is counted as an attempt': afterwards('acquire', ({ attempts, losses }) => ({
      attempts: attempts + losses,
      losses: 0,
    })),
    'an end in order is counted': asked('release', (request) => ({ ...request, reason: 'crash' })),
    'recovery at every call': seeing('recover', { recovered: -1 }),
    'every open call is repeated': asked('recover', (request, rows) => ({
      ...request,
      repeatable: rows.session(request.lease.sessionId)?.openCalls ?? [],
    })),
  },
  compactions: {
    'no fence at the compaction': forged('commitCompaction'),
    'a compaction covers unseen input': seeing('claimCompaction', (row) => ({ seen: row.tail })),
    'two compactions in flight': seeing('claimCompaction', { operation: null }),
    'a compaction makes a new id': afterwards('commitCompaction', (row) => ({
      id: `${row.id}-2` as never,
    })),
    'a compaction forgets the base': afterwards('commitCompaction', () => ({ base: 0 as never })),
    'a rewrite blocks the way': replace('claimCompaction', (rule) => (rows, request, stamp) => {
      const view = Object.create(rows) as Rows
      view.session = (id) => rows.session(id)
      view.operation = (id) => {
        const row = rows.operation(id)
        return row && { ...row, by: 'model' }
      }
      return rule(view, request, stamp)
    }),
    'a failure without its audit row': writing('failCompaction', (change) => ({
      ...change,
      audit: [],
    })),
  },
  intake: {
    'keys belong to the session': asked('admit', (request, rows) => {
      const session =
        'sessionId' in request.to ? request.to.sessionId : rows.route(request.to.route)?.sessionId
      return { ...request, key: `${session} ${request.key}` }
    }),
    'another body under a known key passes': answering('admit', 'conflict', {
      kind: 'duplicate',
    } as never),
    'a key is forgotten': writing('admit', (change) => ({ ...change, intake: [] })),
    'no limit for a lane': seeing('admit', (row) => wide(row, { laneMailMax: 1e9 })),
    'no limit for a source': seeing('admit', (row) => wide(row, { sourceMailMax: 1e9 })),
    'a stop has no turn': writing('admit', (change) => ({
      ...change,
      mail: (change.mail ?? []).map(({ sessionId, mail }) => ({
        sessionId,
        mail: { ...mail, turnAt: null },
      })),
    })),
    'a stop is settled early': seeing('admit', { turnState: 'idle' }),
  },
  records: {
    'a recorded key is forgotten': writing('recordEntries', (change) => ({
      ...change,
      intake: [],
    })),
    'other words under a recorded key pass': answering('recordEntries', 'conflict', {
      kind: 'duplicate',
    } as never),
    'a turn is recorded into a running one': seeing('recordEntries', { turnState: 'idle' }),
    'a recorded turn counts as unseen': afterwards('recordEntries', () => ({
      seen: entryNumber(0),
    })),
    'a record does not look at the newest entry': asked(
      'recordEntries',
      ({ after, ...request }) => {
        return request
      },
    ),
    'a record is written like a message': writing('recordEntries', (change) => ({
      ...change,
      entries: (change.entries ?? []).map(({ sessionId, entry }) => ({
        sessionId,
        entry: (entry.kind === 'record' ? { ...entry, kind: 'input' } : entry) as never,
      })),
    })),
  },
  withdrawals: {
    'withdrawing what was delivered': replace('withdraw', () => () => ({
      outcome: { kind: 'withdrawn' },
    })),
    'a notification keeps its words': writing('withdraw', (change) => ({
      ...change,
      mail: (change.mail ?? []).map(({ sessionId, mail }) => ({
        sessionId,
        mail: { ...mail, body: mail.body ?? '{}' },
      })),
    })),
    'a message loses its words': writing('withdraw', (change) => ({
      ...change,
      mail: (change.mail ?? []).map(({ sessionId, mail }) => ({
        sessionId,
        mail: { ...mail, body: null },
      })),
    })),
  },
  delivery: {
    'delivery between call and result': seeing('deliver', { openCalls: [] }),
    'unbounded delivery': seeing('deliver', (row) => wide(row, { inputTokens: 1e9 })),
    'the bound counts one delivery only': seeing('deliver', (row) => ({ settled: row.delivered })),
  },
  settings: {
    'unbounded pins': seeing('pin', (row) => wide(row, { pinTokens: 1e9 })),
  },
  steps: {
    'late input is lost with its turn': afterwards('commitReply', (row) =>
      row.turn === 2 && row.openCalls.length === 0 && row.seen < row.tail
        ? { turnState: 'idle', turn: 1 }
        : {},
    ),
    'a step does not count as seen': afterwards('commitReply', () => ({ seen: 0 as never })),
  },
  outbox: {
    'a claim is not written down': writing('claimReply', () => ({})),
    'settling without a look at the attempt': asked('settleReply', (request, rows) => {
      const row = rows.reply(request.sessionId, request.number)
      return { ...request, attempt: row?.attempt ?? 0, claimant: row?.claimant ?? request.claimant }
    }),
    'the sweep takes replies of any age': sweeping({ at: -1 }),
    'the sweep takes the last reply of a session': sweeping({ isLast: false }),
    'the sweep takes replies that were not sent': sweeping({ state: 'sent' }),
  },
  operationalRows: {
    'dropped model calls leave no sums': writing('dropAttempts', ({ usage: _, ...rest }) => rest),
    'a dropped model call stays': writing('dropAttempts', ({ usage = [] }) => ({ usage })),
    'calls of the day to keep are dropped': asked('dropAttempts', (request) => ({
      ...request,
      beforeDay: request.beforeDay + 1,
    })),
  },
  creation: {
    'a route is re-pointed blindly': asked('startAfresh', (request, rows) => ({
      ...request,
      version: rows.route(request.route)?.version ?? 0,
    })),
    'the left session is not stopped': writing('startAfresh', (change) => ({
      ...change,
      mail: [],
    })),
  },
  erasures: {
    'erasure keeps the words': writing('eraseEntries', (change) => {
      const { erase: _kept, ...rest } = change
      return rest
    }),
    'erasure keeps the handoff': writing('eraseEntries', (change) =>
      change.erase === undefined
        ? change
        : {
            ...change,
            erase: change.erase.map((each) => ({ ...each, entries: each.entries.slice(0, 1) })),
          },
    ),
    'a deletion leaves the holder in': afterwards('deleteSession', () => ({ state: 'open' })),
  },
  contexts: {
    'a commit on an old base': seeing('revert', { operation: null }),
    'any compaction may be reverted': asked('revert', (request, rows) => ({
      ...request,
      target: rows.session(request.lease.sessionId)?.effective ?? request.target,
    })),
    'a revert need not fit': asked('revert', (request) => ({ ...request, tokensAfter: 0 })),
    'any append raises the base': afterwards('deliver', (row) => ({ base: row.tail })),
  },
}

/** With a planted bug a case that hangs is one that notices; without one nothing is cut short. */
async function firstBroken(
  theme: string,
  rules: Rules,
  isPlanted: boolean,
): Promise<string | undefined> {
  for (const each of STORE_CONTRACT[theme] ?? []) {
    await using bench = await memoryBench(rules)
    try {
      await (isPlanted ? Promise.race([each.run(bench), late()]) : each.run(bench))
    } catch {
      return each.name
    }
  }
  return undefined
}

function late(): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error('hangs')), 2_000).unref())
}

describe.each(Object.entries(MUTATIONS))('planted bugs that %s must catch', (theme, mutations) => {
  it.each(Object.entries(mutations))('%s', async (_name, mutate) => {
    expect(await firstBroken(theme, { ...RULES, ...mutate(RULES) }, true)).toBeDefined()
  })

  it('nothing is caught without a planted fault', async () => {
    const untouched = asked('createSession', (request) => request)(RULES)
    expect(await firstBroken(theme, { ...RULES, ...untouched }, false)).toBeUndefined()
  })
})
