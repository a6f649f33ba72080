import { createHash } from 'node:crypto'
import { DAY_MS } from '../../../packages/core/src/base/clock.ts'
import {
  entryNumber,
  mailNumber,
  operationId,
  sessionId,
} from '../../../packages/core/src/base/ids.ts'
import type { RecordAttempt } from '../../../packages/core/src/store/commits.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import {
  create,
  expectKind,
  newOperation,
  register,
  StoreFixture,
  said,
} from '../../../packages/core/src/store/contract-suite/bench.ts'
import { linesOf, tryFork } from '../../../packages/core/src/store/contract-suite/forks/forks.ts'
import type { SumAttempts } from '../../../packages/core/src/store/operational-rows.ts'
import type { Search } from '../../../packages/core/src/store/queries.ts'
import { packVectors } from '../../../packages/core/src/store/search/meaning/packed-vectors.ts'

/** Rows of every kind, and every question about them: two engines give the same answers. */
const [one, two, other, fork, leaf, left, gone, idle, due] = [
  ...['one', 'two', 'other', 'fork', 'leaf', 'removed', 'gone', 'idle', 'due'],
].map((name) => sessionId(name)) as [...[Id, Id, Id, Id, Id, Id, Id, Id, Id]]
type Id = ReturnType<typeof sessionId>
const LATER = Number.MAX_SAFE_INTEGER
const MODEL = 'meanings'
const FILE = new Uint8Array([1, 0, 255])
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
/** Characters that an engine might change on their way. */
const odd = 'Ünï\u0000c💧'

export async function fill(store: Store): Promise<void> {
  const runner = await register(store, 'runner-b')
  await register(store, 'runner-a')
  const open = async (id: Id, fields: Parameters<typeof create>[1] = {}) => {
    await create(store, { ...fields, id })
    return await StoreFixture.acquire(store, id, runner)
  }
  const at = (address: string, agent = 'ada') => ({ agent, channel: 'chat', address })

  const first = await open(one, { route: at('x') })
  await store.pointRoute({ route: at(odd), sessionId: one, version: 0 })
  await store.pointRoute({ route: at('a', 'bob'), sessionId: one, version: 0 })
  const { hash } = expectKind(
    await store.stageBlob({ sessionId: one, mediaType: 'a/b', bytes: FILE }),
    'staged',
  )
  await store.stageBlob({ sessionId: one, mediaType: 'a/c', bytes: new Uint8Array([9]) })
  await first.deliver(await first.admit(said('where is the red orchid'), { blobs: [hash] }))
  const reply = (edge: string, address: string, key: string) => ({
    edge,
    address,
    key,
    body: { key },
  })
  await first.reply('in the "old greenhouse", see src/plants/orchid.ts', {
    ends: 'answered',
    replies: [reply('chat', 'x', 'k1'), reply('chat', odd, 'k2'), reply('mail', 'x', 'k3')],
  })
  await first.hear('water it with readCan please', 'and the palm')
  const call = (id: string, name: string) => ({
    type: 'tool-call',
    id,
    name,
    input: { file: 'can' },
  })
  const { turn } = await first.row()
  const step = expectKind(
    await store.commitReply({
      ...first.fenced(),
      turn,
      step: {
        ...{ upto: first.tail.number, renderer: 'r1', calls: ['c1', 'c2'], tokens: 9 },
        body: { role: 'assistant', parts: [call('c1', 'read'), call('c2', 'write')] },
      },
    }),
    'committed',
  )
  first.tail = step.tail
  await first.results('c1', 'c2')
  await first.reply('the orchid is watered', {
    ends: 'answered',
    replies: [reply('chat', 'x', 'k4'), reply('chat', 'x', 'k5')],
  })
  await first.pin('rule', 'be kind', 5)
  await first.compact(3)
  const tasks = await store.setTasks({ ...first.fenced(), body: ['water'], tokens: 2 })
  first.tail = expectKind(tasks, 'appended').tail
  await first.hear('thanks for the orchid')
  await first.reply('you are welcome', { ends: 'answered' })
  await first.claim(8)
  for (const [source, lane] of [
    ...[
      ['b', 'user'],
      ['a', 'notification'],
      [odd, 'user'],
      ['a', 'user'],
    ],
  ] as const) {
    await first.admit(said(`waits ${source}`), {
      source: `${source}`,
      lane: lane as 'user',
      key: `${source}${lane}`,
    })
  }
  await first.stop()
  await store.withdraw({ sessionId: one, mail: mailNumber((await first.row()).mail - 1) })
  await store.setTitle({ sessionId: one, title: `Plants ${odd}` })

  const second = await open(two, { agent: 'bob', scope: 'one', policy: 'queue' })
  await second.exchange('an orchid in another house', 'wo ist die Orchidee')
  await second.exchange('der Hund ist nicht hier', 'the dog is there')
  const third = await open(other)
  await third.exchange('no plants here', 'none at all')
  await create(store, { id: idle, agent: 'bob', route: at('y', 'bob') })
  await store.admit({
    ...{ to: { route: at('y', 'bob') }, source: 'chat', key: 'k', lane: 'user', tokens: 3 },
    body: said('who answers'),
  })
  const timed = await open(due, { agent: 'ada' })
  await store.release({ lease: timed.lease, reason: 'idle', wakeAt: 5_000 })

  // Forks, of a fork as well, and of a session that is deleted.
  const forked = async (id: Id, from: Id, upto: number) => {
    expectKind(await tryFork(store, from, upto, { id, key: id, source: 'test' }), 'forked')
    return await StoreFixture.acquire(store, id, runner)
  }
  const branch = await forked(fork, one, 8)
  await branch.exchange('a fork about cactus', 'it has thorns')
  const twig = await forked(leaf, fork, branch.tail.number)
  await twig.exchange('a leaf of the cactus', 'green')
  const deleted = await open(left)
  await deleted.exchange('soon gone', 'yes', [reply('chat', 'z', 'k6')])
  await store.deleteSession({ sessionId: left, operation: newOperation(), reason: 'asked' })
  const empty = await open(gone)
  await empty.exchange('gone', 'yes')
  await store.deleteSession({ sessionId: gone, operation: newOperation(), reason: 'asked' })
  while (expectKind(await store.eraseSome({ sessionId: gone, limit: 5 }), 'erased').left) {}
  expectKind(await third.erase([entryNumber(2)]), 'erased')

  // The outbox.
  const claim = async (edge: string, time = LATER) => {
    const outcome = await store.claimReply({ edge, claimant: runner, at: time })
    return expectKind(outcome, 'claimed').reply
  }
  const settle = async (edge: string, result: Parameters<Store['settleReply']>[0]['result']) => {
    const { sessionId: of, number, attempt } = await claim(edge)
    await store.settleReply({ sessionId: of, number, attempt, claimant: runner, result })
  }
  await settle('chat', { kind: 'sent', receipt: odd })
  await settle('chat', { kind: 'failed', retryAt: 77, attemptsMax: 1 })
  await settle('mail', { kind: 'failed', retryAt: 99, attemptsMax: 5 })
  await claim('chat')
  await store.putDraft({ sessionId: one, key: 'k4', ids: ['7', odd] })
  await store.putDraft({ sessionId: one, key: 'k5', ids: ['8'] })
  await store.putDraft({ sessionId: one, key: 'k5', ids: [] })

  // What is beside the transcripts.
  const schedule = { sessionId: one, repeat: null, body: said('water'), tokens: 4 }
  for (const [id, fields] of Object.entries({
    b: { dueAt: 2_000, repeat: 'every 1d' },
    a: { dueAt: 3_000 },
    d: { dueAt: 1_000 },
    c: { dueAt: 1_000, sessionId: two },
    e: { dueAt: 4_000 },
  })) {
    expectKind(await store.putSchedule({ ...schedule, ...fields, id }), 'scheduled')
  }
  expectKind(await store.fireSchedule({ id: 'b', dueAt: 2_000, nextDueAt: 9_000 }), 'fired')
  expectKind(await store.fireSchedule({ id: 'd', dueAt: 1_000, nextDueAt: null }), 'fired')
  await store.cancelSchedule({ id: 'e' })
  const origin = (of: Id, number: number) => ({ sessionId: of, number: entryNumber(number) })
  for (const [agent, scope, id, from] of [
    ['ada', 'one', 'tea', origin(one, 1)],
    ['ada', 'one', 'drink', null],
    ['ada', '', 'tea', null],
    ['bob', 'one', 'tea', origin(two, 1)],
  ] as const) {
    const note = { agent, scope, id, text: `${id} ${odd}`, origin: from }
    expectKind(await store.putNote(note), 'noted')
  }
  await store.putNote({ agent: 'ada', scope: 'one', id: 'drink', text: 'water', origin: null })
  for (const [id, expiresAt] of [
    ['t2', 99],
    ['t1', null],
  ] as const) {
    const hash = hashOf(id)
    const token = { id, hash, principal: 'ann', scopes: ['send', 'read'], label: odd }
    expectKind(await store.putToken({ ...token, createdAt: 5, expiresAt }), 'done')
  }
  let count = 0
  const record = async (fields: Partial<RecordAttempt>) => {
    count += 1
    await store.recordAttempt({
      ...{ id: operationId(`call-${count}`), sessionId: one, task: 'turn', modelRoute: 'main' },
      ...{ outcome: 'ok', inputTokens: 100, outputTokens: 10, cachedTokens: 4, at: count },
      ...fields,
    })
  }
  await record({ cost: 5, host: 'h1', turn: 1, step: 2 })
  await record({ cost: 7, host: 'h2', at: DAY_MS - 1 })
  await record({ task: 'summary', modelRoute: 'small', outcome: 'failed', at: DAY_MS + 1 })
  await record({ sessionId: two, cost: 11, at: DAY_MS + 2, turn: 1, step: 3 })
  await store.dropAttempts({ beforeDay: 2, limit: 3 })
  await record({ cost: 13, host: 'h1', turn: 2, step: 4, at: 2 * DAY_MS + 5 })
  await record({ cost: 17, turn: 2, step: 9, at: 2 * DAY_MS + 3_600_000, sessionId: other })
  await record({ task: 'title', modelRoute: 'small', at: 3 * DAY_MS })

  for (const [id, upto] of [
    [one, 3],
    [two, 6],
  ] as const) {
    const vectors = Array.from({ length: upto }, (_, each) => ({
      number: entryNumber(each + 1),
      bytes: packVectors([vectorOf(each)], 64),
    })).filter(({ number }) => number !== 3)
    const put = { model: MODEL, dimension: 64, after: entryNumber(0), upto: entryNumber(upto) }
    expectKind(await store.putVectors({ sessionId: id, ...put, vectors }), 'done')
  }
}

/** Each turned a little further from the first. */
function vectorOf(turns: number): Float32Array {
  return Float32Array.from({ length: 64 }, (_, at) => (at % 7 < turns ? -1 : 1))
}

const searches: readonly Partial<Search>[] = [
  { text: 'orchid' },
  { text: 'orchid', neighbours: 2 },
  { text: 'orchid', limit: 1, skip: 1 },
  { text: 'orchid', before: entryNumber(4) },
  { text: 'orchids', sessionId: [one, two, other] },
  { text: 'orchid', sessionId: [two, one], before: entryNumber(2) },
  { text: 'cactus orchid', sessionId: leaf, neighbours: 1 },
  { text: 'cactus orchid', sessionId: leaf, before: entryNumber(5) },
  { text: 'orchid', sessionId: {} },
  { text: 'the', sessionId: {}, limit: 50 },
  { text: 'Orchidee Hund', sessionId: { agent: 'bob' } },
  { text: 'orchid cactus', sessionId: { agent: 'ada' }, neighbours: 1 },
  { text: 'orchid cactus', sessionId: { scope: 'one' } },
  { text: 'orchid cactus', sessionId: { scope: 'one', agent: 'bob' } },
  { text: 'orchid', sessionId: { scope: 'one', here: one }, before: entryNumber(3) },
  { text: 'orchid', sessionId: { agent: 'nobody' } },
  { text: 'orhcid', sessionId: {} },
  { text: 'orhcid' },
  { text: 'old greenhouse', exact: true, sessionId: {} },
  { text: '"old greenhouse"' },
  { text: 'readCan', sessionId: {} },
  { text: 'result', tool: 'read' },
  { text: 'result', tool: 'write' },
  { text: 'orchid', path: 'src/plants/orchid.ts' },
  { text: 'the orchid', speaker: 'person' },
  { text: 'the orchid', speaker: 'agent', sessionId: {} },
  { text: 'result', speaker: 'tool' },
  { text: 'orchid', since: LATER },
  { text: 'orchid', until: 1 },
  { text: 'thorns', near: true, sessionId: leaf },
  { text: 'nothing of this' },
  { text: 'thorns', meaning: { model: MODEL, vector: vectorOf(0) } },
  { text: 'thorns', meaning: { model: MODEL, vector: vectorOf(2) }, sessionId: {} },
  { text: 'thorns', meaning: { model: MODEL, vector: vectorOf(0) }, sessionId: { agent: 'bob' } },
  { text: 'orchid', meaning: { model: 'another', vector: vectorOf(0) }, sessionId: [two, leaf] },
]

const costs: readonly SumAttempts[] = [
  ...[{ since: 0 }, { since: DAY_MS }, { since: 2 * DAY_MS }, { since: 2 * DAY_MS + 6 }],
  ...[
    { since: 0, sessionId: one },
    { since: 0, agent: 'bob' },
    { since: 0, turn: 2 },
  ],
  ...[
    { since: 0, modelRoute: 'small' },
    { since: 0, task: 'turn' },
    { since: 0, host: 'h1' },
  ],
  { since: 0, isAuxiliary: true },
]
const calls = [
  ...[
    { since: 0, limit: 2 },
    { since: 2 * DAY_MS + 5, limit: 9 },
    { since: 2 * DAY_MS + 6, limit: 9 },
  ],
  ...[
    { since: 0, sessionId: other, limit: 9 },
    { since: 0, modelRoute: 'small', limit: 9 },
    { since: 0, task: 'turn', limit: 9 },
  ],
]

type Question = readonly [asked: string, read: () => Promise<unknown>]
const ask = (name: string, query: unknown, read: () => Promise<unknown>): Question => [
  `${name} ${JSON.stringify(query)}`,
  read,
]
const range = (from: number, to: number) => ({ from: entryNumber(from), to: entryNumber(to) })

/** Everything about each session. */
function ofSessions(store: Store): readonly Question[] {
  const all = [one, two, other, fork, leaf, left, gone, idle, due, sessionId('nobody')]
  return all.flatMap((id) => {
    const of = { sessionId: id }
    return [
      ask('session', id, () => store.findSession(id)),
      ask('look', id, () => store.look({ ...of, known: null, limit: 2 })),
      ask('context', id, () => store.readContext(of)),
      ask('mail', id, () => store.listMail({ ...of, limit: 99 })),
      ask('operations', id, () => store.listOperations({ ...of, limit: 9 })),
      ask('replies', id, () => store.listReplies({ ...of, limit: 9 })),
      ask('routes', id, () => store.listRoutes(of)),
      ask('audit', id, () => store.readAudit({ ...of, after: 0, limit: 99 })),
      ask('schedules', id, () => store.listSchedules({ ...of, limit: 9 })),
      ask('entries', id, () => store.readEntries({ ...of, ...range(1, 99) })),
    ]
  })
}

/** What is beside the sessions. */
function ofOthers(store: Store): readonly Question[] {
  const byId = (rows: readonly { readonly id: string }[]) =>
    rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const keys = ['k4', 'k5'] as const
  const agents = ['ada', 'bob'] as const
  return [
    ask('runners', {}, async () => byId(await store.listRunners())),
    ask('tokens', {}, () => store.listTokens()),
    ...['t1', 't3'].map((name) =>
      ask('token', name, () => store.findToken({ hash: hashOf(name) })),
    ),
    ...keys.map((key) => ask('draft', key, () => store.findDraft({ sessionId: one, key }))),
    ...agents.map((agent) => ask('notes', agent, () => store.listNotes({ agent, limit: 9 }))),
    ask('attempts', {}, () => store.readAttempts({ since: 0, limit: 99 })),
    ask('sum', {}, () => store.sumAttempts({ since: 0 })),
    ask('unembedded', {}, () => store.readUnembedded({ model: MODEL, limit: 9 })),
  ]
}

function ofEntries(store: Store): readonly Question[] {
  const kinds = ['pin', 'compaction', 'revert', 'settings', 'task', 'erasure'] as const
  const uptos = [1, 3, 9, 12, 14].map(entryNumber)
  return [one, two, other, fork, leaf, left, gone, idle].flatMap((id) => {
    const of = { sessionId: id }
    return [
      ...[range(2, 5), range(5, 5), range(6, 5), range(9, 11)].map((part) =>
        ask('entries', [id, part], () => store.readEntries({ ...of, ...part })),
      ),
      ...kinds.map((kind) =>
        ask('entries', [id, kind], () => store.readEntries({ ...of, ...range(1, 99), kind })),
      ),
      ask('entries', [id, 'few'], () =>
        store.readEntries({ ...of, ...range(12, 12), kind: 'pin' }),
      ),
      ...uptos.map((upto) => ask('context', [id, upto], () => store.readContext({ ...of, upto }))),
    ]
  })
}

function ofLooks(store: Store): readonly Question[] {
  const known = (tail: number, base: number, operation: string | null) => ({
    ...{ tail: entryNumber(tail), base: entryNumber(base) },
    operation: operation === null ? null : operationId(operation),
  })
  return [known(0, 0, null), known(12, 0, 'old'), known(14, 12, null), known(99, 99, null)].flatMap(
    (before) =>
      [one, leaf].map((id) => {
        const query = { sessionId: id, known: before, limit: 9 }
        return ask('look', query, () => store.look(query))
      }),
  )
}

function ofExports(store: Store): readonly Question[] {
  const whole = (id: Id) =>
    linesOf(store.exportSession(id)).then(
      (lines) => lines.map((line) => JSON.parse(line) as unknown),
      ({ code }) => code as string,
    )
  return [
    ...[one, other, leaf, left, gone].map((id) => ask('export', id, () => whole(id))),
    ...[undefined, one, leaf, left].map((id) =>
      ask('verify', id, () => store.verify(id === undefined ? {} : { sessionId: id })),
    ),
  ]
}

function ofMail(store: Store): readonly Question[] {
  const mail = (
    [
      { lane: 'user', limit: 9 },
      { lane: 'control', limit: 9 },
      { state: 'pending', limit: 9 },
      { state: 'withdrawn', limit: 9 },
      { state: 'delivered', limit: 1 },
      { state: 'settled', after: mailNumber(1), limit: 9 },
      { lane: 'user', state: 'pending', after: mailNumber(4), limit: 1 },
    ] as const
  ).map((query) => ask('mail', query, () => store.listMail({ sessionId: one, ...query })))
  const replies = (
    [
      ...[{}, { state: 'waiting' }, { state: 'sent' }, { state: 'dead' }, { limit: 2 }],
      ...[
        { sessionId: one, after: 2 },
        { sessionId: one, state: 'waiting', limit: 1 },
      ],
    ] as const
  ).map((query) => ask('replies', query, () => store.listReplies({ limit: 99, ...query })))
  return [...mail, ...replies]
}

function ofLists(store: Store): readonly Question[] {
  const sessions = [
    ...[{}, { state: 'open' }, { state: 'erasing' }, { state: 'gone' }, { agent: 'bob' }],
    ...[{ after: idle }, { limit: 2 }, { limit: 2, after: due }, { agent: 'ada', state: 'open' }],
  ] as const
  const times = [
    { at: 0, limit: 9 },
    { at: 4_999, limit: 9 },
    { at: 5_000, limit: 9 },
    { at: 5_000, limit: 1 },
  ]
  const ready = [['ada'], ['bob'], ['ada', 'bob'], []].flatMap((agents) =>
    times.map((time) => ({ agents, ...time })),
  )
  const routes = [
    { agent: 'ada', address: 'x' },
    { agent: 'ada', address: odd },
    { agent: 'bob', address: 'y' },
    { agent: 'ada', address: 'y' },
  ].map((route) => ({ ...route, channel: 'chat' }))
  const audits = [
    { after: 3, limit: 4 },
    { after: 20, limit: 1, sessionId: one },
    { after: 999, limit: 9 },
  ]
  const schedules = [
    ...[{}, { state: 'waiting' }, { state: 'ended' }, { state: 'cancelled' }, { after: 'b' }],
    ...[{ dueBy: 3_000 }, { dueBy: 2_999, state: 'waiting' }, { limit: 2 }, { sessionId: two }],
    { dueBy: 9_000, state: 'waiting', limit: 1 },
  ] as const
  const notes = [
    ...[{ agent: 'nobody' }, { agent: 'ada', scope: 'one' }, { agent: 'ada', scope: '' }],
    ...[
      { agent: 'ada', after: 'drink' },
      { agent: 'ada', limit: 2 },
    ],
  ]
  const file = createHash('sha256').update(FILE).digest('hex')
  return [
    ...sessions.map((query) =>
      ask('sessions', query, () => store.listSessions({ limit: 99, ...query })),
    ),
    ...ready.map((query) => ask('ready', query, () => store.readReady(query))),
    ...routes.map((route) => ask('route', route, () => store.findRoute(route))),
    ...audits.map((query) => ask('audit', query, () => store.readAudit(query))),
    ...schedules.map((query) =>
      ask('schedules', query, () => store.listSchedules({ limit: 9, ...query })),
    ),
    ...notes.map((query) => ask('notes', query, () => store.listNotes({ limit: 9, ...query }))),
    ...[one, fork, leaf, two].map((id) =>
      ask('blob', id, () => store.findBlob({ sessionId: id, hash: file })),
    ),
    ask('unembedded', 1, () => store.readUnembedded({ model: MODEL, limit: 1 })),
    ask('unembedded', 9, () => store.readUnembedded({ model: 'another', limit: 9 })),
    ask('operation', 'none', () => store.findOperation(operationId('none'))),
  ]
}

function ofCosts(store: Store): readonly Question[] {
  return [
    ...costs.flatMap((query) => [
      ask('sum', query, () => store.sumAttempts(query)),
      ...(['turn', 'step', 'session', 'agent', 'day', 'hour'] as const).map((by) =>
        ask('group', [by, query], () => store.groupAttempts({ ...query, by, limit: 9 })),
      ),
    ]),
    ...calls.map((query) => ask('attempts', query, () => store.readAttempts(query))),
    ask('group', 2, () => store.groupAttempts({ since: 0, by: 'day', limit: 2 })),
  ]
}

function ofSearches(store: Store): readonly Question[] {
  return searches.map((query) => {
    const whole = { sessionId: one, text: '', limit: 9, neighbours: 0, ...query }
    return ask('search', { ...whole, meaning: query.meaning?.model }, () => store.search(whole))
  })
}

export const THEMES: Readonly<Record<string, (store: Store) => readonly Question[]>> = {
  ...{ sessions: ofSessions, others: ofOthers, entries: ofEntries, looks: ofLooks },
  ...{ exports: ofExports, mail: ofMail, lists: ofLists, costs: ofCosts, searches: ofSearches },
}
/** Of these, together: every row that was written. */
export const ROWS = (store: Store): readonly Question[] => [
  ...ofSessions(store),
  ...ofOthers(store),
]

/** Every answer as a line, but for times and what is drawn at random. */
export async function answersTo(questions: readonly Question[]): Promise<readonly string[]> {
  const lines: string[] = []
  const names = new Map<string, string>()
  for (const [name, read] of questions) {
    lines.push(
      `${name}: ${JSON.stringify(await read(), inOrder)}`
        .replaceAll(/\b1[789]\d{11}(?:\.\d+)?\b/g, 'now')
        .replaceAll(/\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b/g, '#')
        .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
          const known = names.get(id) ?? `id${names.size}`
          names.set(id, known)
          return known
        }),
    )
  }
  return lines
}

/** Engines may name the fields of a row in any order. */
function inOrder(_name: string, item: unknown): unknown {
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) {
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return item
}
