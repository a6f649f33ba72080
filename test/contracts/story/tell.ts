import {
  type EntryNumber,
  entryNumber,
  mailNumber,
  operationId,
  runnerId,
  type SessionId,
  sessionId,
} from '../../../packages/core/src/base/ids.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import { LIMITS } from '../../../packages/core/src/store/contract-suite/bench.ts'
import { Story } from './story.ts'

const text = (words: string) => ({ role: 'user', parts: [{ type: 'text', text: words }] })

/** The whole story; the lines tell what happened. */
export async function tellStory(store: Store): Promise<readonly string[]> {
  const story = new Story(store)
  const [one, two, three] = ['one', 'two', 'three'].map((id) => story.watch(sessionId(id))) as [
    SessionId,
    SessionId,
    SessionId,
  ]
  const [ann, bob] = [runnerId('ann'), runnerId('bob')]
  const route = { agent: 'ada', channel: 'chat', address: 'x' }
  const other = { agent: 'ada', channel: 'chat', address: 'y' }
  const born = { limits: LIMITS, policy: 'steer' } as const
  const tell = (verb: string, said: Promise<unknown>) => story.tell(verb, said)
  const operation = () => story.operation()
  const fenced = async (id: SessionId, runner = ann) => {
    const row = await store.findSession(id)
    const tail = { number: row?.tail ?? entryNumber(0), hash: row?.tailHash ?? '' }
    return { lease: story.lease(id, runner), tail, operation: operation() }
  }
  const admit = (key: string, lane: 'user' | 'notification' | 'control', more: object = {}) =>
    tell(
      `admit ${key}`,
      store.admit({
        ...{ to: { sessionId: one }, source: 'chat', key, lane, body: text(key), tokens: 10 },
        ...(lane === 'control' && { control: 'stop' }),
        ...more,
      }),
    )
  const deliver = async (...mail: number[]) =>
    tell(`deliver ${mail}`, store.deliver({ ...(await fenced(one)), mail: mail.map(mailNumber) }))
  const step = (upto: number, calls: string[], more: object = {}) => ({
    ...{ upto: entryNumber(upto), renderer: 'r1', calls, body: text('reply'), tokens: 7, ...more },
  })
  const reply = async (turn: number, rest: object) =>
    tell('commitReply', store.commitReply({ ...(await fenced(one)), turn, ...rest }))
  const outgoing = (key: string) => ({ edge: 'chat', address: 'x', key, body: { text: key } })
  const numbers = (...entries: number[]): EntryNumber[] => entries.map(entryNumber)

  // Two runners, two sessions, a route.
  for (const id of [ann, bob, ann]) {
    const host = { boot: 'b', process: 7, startedAt: 1, leaseMs: 30_000 }
    await tell('registerRunner', store.registerRunner({ id, ...host }))
  }
  await tell(
    'createSession',
    store.createSession({ id: one, agent: 'ada', ...born, operation: operation(), route }),
  )
  await tell(
    'createSession',
    store.createSession({ id: one, agent: 'ada', ...born, operation: operation() }),
  )
  await tell(
    'createSession',
    store.createSession({ id: two, agent: 'ada', ...born, operation: operation(), route }),
  )
  await tell(
    'createSession',
    store.createSession({
      ...{ id: two, agent: 'ada', policy: 'queue', operation: operation() },
      limits: { ...LIMITS, hardTokens: 999 },
    }),
  )
  const afresh = { id: two, ...born, source: 'chat', key: 'new', route, operation: operation() }
  await tell('startAfresh', store.startAfresh({ ...afresh, version: 0 }))
  await tell('startAfresh', store.startAfresh({ ...afresh, version: 1 }))
  await tell('startAfresh', store.startAfresh({ ...afresh, version: 1 }))
  await tell('pointRoute', store.pointRoute({ route: other, sessionId: two, version: 0 }))
  await tell('pointRoute', store.pointRoute({ route: other, sessionId: one, version: 0 }))
  await tell('pointRoute', store.pointRoute({ route, sessionId: one, version: 2 }))
  await tell('setTitle', store.setTitle({ sessionId: one, title: 'Boats' }))
  await tell('setTitle', store.setTitle({ sessionId: three, title: 'Boats' }))

  // Mail, a lease, a turn with a call, and its answer.
  await tell(
    'stageBlob',
    store.stageBlob({ sessionId: one, mediaType: 'image/png', bytes: new Uint8Array([1]) }),
  )
  await admit('m1', 'user')
  await admit('m1', 'user')
  await admit('m1', 'user', { body: text('other words') })
  await admit('m2', 'notification', { to: { route } })
  await admit('m3', 'user', { blobs: ['none'] })
  await admit('m4', 'control')
  await admit('m5', 'user', { to: { sessionId: three } })
  await deliver(1)
  const claim = { sessionId: one, runner: ann, holder: 'h1', fence: 0 }
  await tell('acquire', store.acquire({ ...claim, runner: runnerId('none') }))
  await tell('acquire', store.acquire(claim))
  await tell('acquire', store.acquire({ ...claim, runner: bob, holder: 'h2' }))
  await tell('acquire', store.acquire({ ...claim, runner: bob, holder: 'h2', fence: 1 }))
  await tell('setWake', store.setWake({ lease: story.lease(one, ann), wakeAt: 500 }))
  await tell(
    'settleControl',
    store.settleControl({
      lease: story.lease(one, ann),
      mail: [mailNumber(3)],
      refused: { why: 'no-room', tokensAfter: 9, limit: 8 },
    }),
  )
  await admit('m6', 'user')
  await deliver(4)
  await deliver(1, 2)
  await deliver(1)
  await reply(1, { step: step(2, ['c1', 'c2']) })
  await reply(1, { step: step(2, []) })
  await deliver(4)
  const result = { outcome: 'ok', body: text('result'), tokens: 5 } as const
  await tell(
    'commitResults',
    store.commitResults({ ...(await fenced(one)), results: [{ call: 'c1', ...result }] }),
  )
  await tell(
    'commitResults',
    store.commitResults({
      ...(await fenced(one)),
      results: [
        { call: 'c1', ...result },
        { call: 'c2', ...result, outcome: 'error' },
      ],
    }),
  )
  await admit('m7', 'control')
  await tell('withdraw', store.withdraw({ sessionId: one, mail: mailNumber(4) }))
  await tell('withdraw', store.withdraw({ sessionId: one, mail: mailNumber(4) }))
  await tell('withdraw', store.withdraw({ sessionId: one, mail: mailNumber(99) }))
  await reply(2, { step: step(5, []) })
  await reply(1, {
    step: step(5, []),
    ends: { how: 'answered', replies: [outgoing('r1'), outgoing('r2')] },
    attempt: {
      ...{ id: operation(), sessionId: one, task: 'turn', modelRoute: 'm', outcome: 'ok' },
      inputTokens: 5,
      outputTokens: 2,
      at: 3,
    },
  })

  // The outbox.
  await tell('claimReply', store.claimReply({ edge: 'mail', claimant: ann, at: 0 }))
  const settle = { sessionId: one, number: 1, attempt: 1, claimant: ann } as const
  const later = Number.MAX_SAFE_INTEGER
  await tell('claimReply', store.claimReply({ edge: 'chat', claimant: ann, at: later }))
  await tell(
    'settleReply',
    store.settleReply({ ...settle, claimant: bob, result: { kind: 'sent', receipt: 'x' } }),
  )
  await tell(
    'settleReply',
    store.settleReply({ ...settle, result: { kind: 'failed', retryAt: 77, attemptsMax: 2 } }),
  )
  await tell('claimReply', store.claimReply({ edge: 'chat', claimant: ann, at: later }))
  await tell('claimReply', store.claimReply({ edge: 'chat', claimant: bob, at: later }))
  await tell(
    'settleReply',
    store.settleReply({
      ...settle,
      attempt: 2,
      result: { kind: 'failed', retryAt: 99, attemptsMax: 2 },
    }),
  )
  await tell(
    'settleReply',
    store.settleReply({
      ...settle,
      number: 2,
      claimant: bob,
      result: { kind: 'sent', receipt: 'x' },
    }),
  )

  // Pins, tasks, settings.
  const pin = { name: 'p', change: 'set', body: text('pin'), tokens: 60 } as const
  await tell('pin', store.pin({ ...(await fenced(one)), ...pin }))
  await tell('pin', store.pin({ ...(await fenced(one)), ...pin, name: 'q' }))
  await tell('pin', store.pin({ ...(await fenced(one)), ...pin, name: 'q', change: 'removed' }))
  await tell('setTasks', store.setTasks({ ...(await fenced(one)), body: [], tokens: 1 }))
  const limits = { ...LIMITS, pinTokens: 90 }
  await tell(
    'changeSettings',
    store.changeSettings({ ...(await fenced(one)), body: {}, tokens: 0, limits, policy: 'queue' }),
  )
  await tell(
    'changeSettings',
    store.changeSettings({
      ...(await fenced(one)),
      body: {},
      tokens: 0,
      limits: { ...limits, hardTokens: 9 },
    }),
  )

  // A compaction that fails, one that is joined, one that is undone.
  const plan = { trigger: 'manual', reason: 'asked' }
  const covering = async (by: 'model' | 'digest' | 'rewrite', covers: number) =>
    tell(
      `claimCompaction ${by}`,
      store.claimCompaction({
        lease: story.lease(one, ann),
        operation: operation(),
        by,
        ...plan,
        covers: entryNumber(covers),
      }),
    )
  const running = async () => (await store.findSession(one))?.operation ?? operationId('none')
  const handoff = { body: { summary: 'so far' }, tokens: 20, result: { tokensAfter: 20 } }
  await covering('model', 99)
  await covering('rewrite', 2)
  await covering('model', 5)
  await covering('model', 5)
  const first = await running()
  await tell(
    'failCompaction',
    store.failCompaction({ operation: first, fence: 1, state: 'failed', reason: 'no model' }),
  )
  await tell(
    'failCompaction',
    store.failCompaction({ operation: first, fence: 1, state: 'failed', reason: 'no model' }),
  )
  await covering('digest', 5)
  await tell(
    'commitCompaction',
    store.commitCompaction({ ...(await fenced(one)), operation: await running(), ...handoff }),
  )
  await covering('model', 5)
  await covering('rewrite', 5)
  await tell(
    'commitCompaction',
    store.commitCompaction({ ...(await fenced(one)), operation: await running(), ...handoff }),
  )
  const undo = async (target: number, tokensAfter: number) =>
    tell(
      'revert',
      store.revert({ ...(await fenced(one)), target: entryNumber(target), tokensAfter }),
    )
  const { effective = 0 } = (await store.findSession(one)) ?? {}
  await undo(1, 50)
  await undo(effective, 5_000)
  await undo(effective, 50)

  // A turn that is lost, taken over and given up.
  await admit('m8', 'user')
  await deliver(6)
  await reply(2, { step: step((await store.findSession(one))?.tail ?? 0, ['c3']) })
  await tell('release', store.release({ lease: story.lease(one, ann), reason: 'idle' }))
  await tell('release', store.release({ lease: story.lease(one, ann), reason: 'crash', wakeAt: 9 }))
  await tell('acquire', store.acquire({ ...claim, runner: bob, holder: 'h3', fence: 1 }))
  const recover = async (attemptsMax: number, repeatable: string[]) =>
    tell(
      'recover',
      store.recover({
        ...(await fenced(one)),
        repeatable,
        attemptsMax,
        lossesMax: 3,
        failureReplies: [outgoing('f')],
        reason: 'too often',
      }),
    )
  await recover(5, ['c3'])
  await recover(5, ['c3'])
  await tell('dismissRunner', store.dismissRunner({ runner: bob, beat: 9 }))
  const beat = (await store.listRunners()).find(({ id }) => id === bob)?.beat ?? 0
  await tell('dismissRunner', store.dismissRunner({ runner: bob, beat }))
  await tell('acquire', store.acquire({ ...claim, holder: 'h4', fence: 2 }))
  await recover(1, [])

  await story.rows()

  // Reminders, notes, tokens, drafts.
  const schedule = { id: 'w', sessionId: one, dueAt: 5, repeat: 'daily', body: { a: 1 }, tokens: 2 }
  await tell('putSchedule', store.putSchedule(schedule))
  await tell('putSchedule', store.putSchedule({ ...schedule, sessionId: two }))
  await tell('putSchedule', store.putSchedule({ ...schedule, from: 6 }))
  await tell('fireSchedule', store.fireSchedule({ id: 'w', dueAt: 4, nextDueAt: 9 }))
  await tell('fireSchedule', store.fireSchedule({ id: 'w', dueAt: 5, nextDueAt: 9 }))
  await tell('fireSchedule', store.fireSchedule({ id: 'w', dueAt: 9, nextDueAt: null }))
  await tell('fireSchedule', store.fireSchedule({ id: 'none', dueAt: 9, nextDueAt: null }))
  await tell('putSchedule', store.putSchedule({ ...schedule, dueAt: 9 }))
  await tell('cancelSchedule', store.cancelSchedule({ id: 'w' }))
  await tell('cancelSchedule', store.cancelSchedule({ id: 'none' }))
  const note = {
    agent: 'ada',
    scope: 'one',
    id: 'n',
    text: 'Three boats.',
    origin: { sessionId: one, number: entryNumber(3) },
  }
  await tell('putNote', store.putNote({ ...note, replaces: true }))
  await tell('putNote', store.putNote(note))
  await tell('removeNote', store.removeNote(note))
  await tell('removeNote', store.removeNote(note))
  const token = {
    id: 't',
    hash: 'a'.repeat(64),
    principal: 'p',
    scopes: ['read'],
    label: 'l',
    createdAt: 1,
    expiresAt: 2,
  }
  await tell('putToken', store.putToken(token))
  await tell('putToken', store.putToken(token))
  await tell('removeToken', store.removeToken({ id: 'none' }))
  const draft = { sessionId: one, key: 'r2', ids: ['9', '8'] }
  await tell('putDraft', store.putDraft(draft))
  await tell('findDraft', store.findDraft(draft))
  await tell('putDraft', store.putDraft({ ...draft, sessionId: sessionId('none') }))

  // Erasure of an entry, a fork, what another program did, and deletion.
  const erase = async (entries: number[], more: object = {}) =>
    tell(
      'eraseEntries',
      store.eraseEntries({
        ...(await fenced(one)),
        entries: numbers(...entries),
        reason: 'asked',
        ...more,
      }),
    )
  await erase([99])
  await erase([1])
  await erase([1], { replacement: { body: { summary: 'less' }, tokens: 4 } })
  const fork = { id: three, from: one, source: 'chat', key: 'f1' }
  await tell('fork', store.fork({ ...fork, at: entryNumber(99), operation: operation() }))
  await tell('fork', store.fork({ ...fork, at: entryNumber(6), operation: operation() }))
  await tell('fork', store.fork({ ...fork, at: entryNumber(6), operation: operation() }))
  await tell('fork', store.fork({ ...fork, at: entryNumber(5), operation: operation() }))
  const record = { sessionId: two, source: 'agent', operation: operation() }
  const steps = [
    { kind: 'input', body: text('asked'), tokens: 3 },
    { kind: 'assistant', calls: ['c1'], body: text('calling'), tokens: 3 },
    { kind: 'result', call: 'c1', outcome: 'ok', body: text('found'), tokens: 3 },
    { kind: 'assistant', calls: [], body: text('answered'), tokens: 3 },
  ] as const
  await tell(
    'recordEntries',
    store.recordEntries({ ...record, key: 'k1', what: { kind: 'turn', steps } }),
  )
  await tell(
    'recordEntries',
    store.recordEntries({ ...record, key: 'k1', what: { kind: 'turn', steps } }),
  )
  await tell(
    'recordEntries',
    store.recordEntries({ ...record, key: 'k1', what: { kind: 'records', bodies: [{}] } }),
  )
  await tell(
    'recordEntries',
    store.recordEntries({
      ...record,
      key: 'k2',
      operation: operation(),
      after: entryNumber(1),
      what: { kind: 'records', bodies: [{}] },
    }),
  )
  await tell(
    'recordEntries',
    store.recordEntries({
      ...record,
      key: 'k2',
      operation: operation(),
      what: { kind: 'records', bodies: [{ a: 1 }, { b: 2 }] },
    }),
  )
  const gone = { sessionId: one, operation: operation(), reason: 'asked' }
  await tell('deleteSession', store.deleteSession(gone))
  await tell('deleteSession', store.deleteSession({ ...gone, forks: 'keep' }))
  await tell('deleteSession', store.deleteSession({ ...gone, forks: 'keep' }))
  await tell(
    'eraseRetained',
    store.eraseRetained({
      sessionId: one,
      entries: numbers(2),
      operation: operation(),
      reason: 'asked',
    }),
  )
  await tell('eraseSome', store.eraseSome({ sessionId: one, limit: 3 }))
  await tell('eraseSome', store.eraseSome({ sessionId: one, limit: 999 }))
  await tell('eraseSome', store.eraseSome({ sessionId: two, limit: 3 }))
  await admit('m9', 'user')
  await story.rows()
  await tell('retireRunner', store.retireRunner({ runner: ann }))
  await tell('retireRunner', store.retireRunner({ runner: ann }))
  return story.lines
}
