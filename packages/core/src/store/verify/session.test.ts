import { describe, expect, it } from 'vitest'
import { entryNumber, mailNumber, sessionId } from '../../base/ids.ts'
import { expectKind, LIMITS, StoreFixture, said } from '../contract-suite/bench.ts'
import { DamagedRowError } from '../errors.ts'
import { openMemoryStore } from '../memory/open.ts'
import { hashKey, intakeHash } from '../rules/admit.ts'
import type { Entry, MailRow, SessionRow } from '../tables/rows.ts'
import { type KeyMemory, SessionCheck, unreadableSession } from './session.ts'
import { checkTranscript, TranscriptCheck } from './transcript.ts'

const BLOB = 'b'.repeat(64)

/** Rows of a real session: two user messages delivered, a control item settled, one message waiting. */
async function rowsOfSession() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('one', 'one!')
  await fixture.exchange('two', 'two!')
  await fixture.compact(2)
  const limits = { ...LIMITS, hardTokens: LIMITS.hardTokens + 1 }
  const settings = await store.changeSettings({ ...fixture.fenced(), limits, body: {}, tokens: 0 })
  fixture.tail = expectKind(settings, 'appended').tail
  await fixture.pin('rule', 'Measure twice.', 5)
  const admitted = await fixture.admit(said('three'))
  expect(admitted).toBe(3)
  const session = await fixture.row()
  const query = { sessionId: session.id, from: entryNumber(1), to: session.tail }
  const entries = await store.readEntries(query)
  const bodies = entries.filter(({ kind }) => kind === 'input').map(({ body }) => body)
  const mails = [...bodies, '"three"'].map((body, at) => mail(at + 1, body))
  return { session, entries, mails }
}

function mail(number: number, body: string | null, over: Partial<MailRow> = {}): MailRow {
  return {
    ...{ number: mailNumber(number), lane: 'user', control: null, source: 'chat' },
    ...{ key: `k${number}`, body, tokens: 1, state: 'admitted', turnAt: null, blobs: [], at: 0 },
    ...over,
  }
}

function memoryOf({ source, key, lane, control, body }: MailRow): KeyMemory {
  const keyHash = hashKey(source ?? '', key ?? '')
  return { bodyHash: intakeHash(keyHash, lane, control, body ?? ''), isOwn: true }
}

type Rows = Awaited<ReturnType<typeof rowsOfSession>>

function problemsOf(
  rows: Rows,
  {
    session = {},
    entries = rows.entries,
    mails = rows.mails,
    memory = memoryOf,
    blobs = [],
  }: {
    readonly session?: Partial<SessionRow>
    readonly entries?: readonly (Entry | number)[]
    readonly mails?: readonly (MailRow | number)[]
    readonly memory?: (mail: MailRow) => KeyMemory | undefined
    readonly blobs?: readonly boolean[]
  } = {},
): readonly string[] {
  const check = new SessionCheck({ ...rows.session, ...session })
  for (const each of entries) {
    if (typeof each === 'number') check.addUnreadableEntry(entryNumber(each))
    else check.addEntry(each)
  }
  for (const each of mails) {
    if (typeof each === 'number') check.addUnreadableMail(mailNumber(each))
    else check.addMail(each, memory(each), true)
  }
  for (const fits of blobs) check.addBlob(BLOB, fits)
  return check.end().map(({ entry, problem }) => `${entry}: ${problem}`)
}

const changed = <T>(list: readonly T[], at: number, over: Partial<T>): readonly T[] =>
  list.map((each, index) => (index === at ? { ...each, ...over } : each))

describe('the mailbox of a session', () => {
  it('passes if complete', async () => {
    expect(problemsOf(await rowsOfSession())).toEqual([])
  })

  it('reports missing items at the start, in the middle and at the end', async () => {
    const rows = await rowsOfSession()
    const without = (...numbers: number[]) =>
      problemsOf(rows, { mails: rows.mails.filter(({ number }) => !numbers.includes(number)) })
    expect(without(2)).toEqual(['null: mail 2 is missing'])
    expect(without(1, 2)).toEqual(['null: mail 1 to 2 is missing'])
    expect(without(3)).toEqual(['null: mail 3 is missing'])
    expect(without(1, 2, 3)).toEqual(['null: mail 1 to 3 is missing'])
  })

  it('reports an unreadable item and then checks no counts', async () => {
    const rows = await rowsOfSession()
    const [first, second] = rows.mails as [MailRow, MailRow]
    const problems = problemsOf(rows, { mails: [first, second, 3] })
    expect(problems).toEqual(['null: mail 3 cannot be read'])
  })

  it('reports an item after the last', async () => {
    const rows = await rowsOfSession()
    const settled = mail(4, '"stop"', { lane: 'control', control: 'stop', state: 'settled' })
    expect(problemsOf(rows, { mails: [...rows.mails, settled] })).toEqual([
      'null: mail 4 stands behind the last one that the session knows',
    ])
  })

  it("compares the waiting items with the row's counts, lane by lane", async () => {
    const rows = await rowsOfSession()
    const withPending = (pending: SessionRow['pending']) =>
      problemsOf(rows, { session: { pending } })
    expect(withPending({ control: 0, user: 2, notification: 0 })).toEqual([
      'null: session row says that 2 of lane user wait, mail says 1',
    ])
    expect(withPending({ control: 1, user: 1, notification: 0 })).toEqual([
      'null: session row says that 1 of lane control wait, mail says 0',
    ])
    const stop = mail(4, '{}', { lane: 'control', control: 'stop' })
    const session = { mail: mailNumber(4) }
    expect(problemsOf(rows, { session, mails: [...rows.mails, stop] })).toEqual([
      'null: session row says that 0 of lane control wait, mail says 1',
    ])
  })

  it('reports a waiting item that no delivery would find', async () => {
    const rows = await rowsOfSession()
    const waiting = rows.mails.at(-1)
    if (waiting === undefined) throw new Error('The session has no waiting item.')
    const others = rows.mails.slice(0, -1)
    const changed = { ...waiting, state: 'settled' } as const
    expect(problemsOf(rows, { mails: [...others, changed] })).toEqual([
      'null: mail 3 waits, its row says otherwise',
    ])
    // Delivered, so that its row is not looked at any more.
    const old = others.map((each): MailRow => ({ ...each, state: 'settled' }))
    expect(problemsOf(rows, { mails: [...old, waiting] })).toEqual([])
  })

  it('compares the delivered items with the entries, if the transcript is complete', async () => {
    const rows = await rowsOfSession()
    const delivered = { user: mailNumber(3), notification: mailNumber(0) }
    const pending = { control: 0, user: 0, notification: 0 }
    const session = { delivered, pending }
    expect(problemsOf(rows, { session })).toEqual([
      'null: session row says that lane user is delivered up to 3, entries say 2',
    ])
    const notified = { user: mailNumber(2), notification: mailNumber(1) }
    expect(problemsOf(rows, { session: { delivered: notified } })).toEqual([
      'null: session row says that lane notification is delivered up to 1, entries say 0',
    ])
    const entries = changed(rows.entries, 1, { body: '"other"' })
    expect(problemsOf(rows, { session, entries })).toEqual([
      '2: entry 2 has a body that does not match its hash',
    ])
  })

  it('is not checked once the session is gone', async () => {
    const rows = await rowsOfSession()
    const erased = rows.entries.map((entry) => ({ ...entry, body: null, salt: null }))
    const session = { state: 'gone' } as const
    expect(problemsOf(rows, { session, entries: erased, mails: [] })).toEqual([])
  })

  it('is reported with the texts that a deletion left', async () => {
    const rows = await rowsOfSession()
    const [, ...rest] = rows.entries.map((entry) => ({ ...entry, body: null, salt: null }))
    const left = rows.entries.slice(0, 1)
    const mails = [
      ...rows.mails.slice(0, 1),
      ...rows.mails.slice(1).map((each) => ({ ...each, body: null })),
    ]
    const session = { state: 'gone' } as const
    expect(problemsOf(rows, { session, entries: [...left, ...rest], mails })).toEqual([
      'null: session row says state gone, but 2 entries and messages still have their texts',
    ])
    // A living fork reads it.
    const retained = { ...session, retained: entryNumber(1) }
    expect(problemsOf(rows, { session: retained, entries: [...left, ...rest], mails: [] })).toEqual(
      [],
    )
  })
})

describe('an item of the mailbox', () => {
  it('must match the record of its key', async () => {
    const rows = await rowsOfSession()
    const memory = (each: MailRow) => (each.number === 2 ? undefined : memoryOf(each))
    expect(problemsOf(rows, { memory })).toEqual([
      'null: mail 2 is not among the known keys: sent again, it would be taken twice',
    ])
    const other = (each: MailRow) =>
      each.number === 3 ? { ...memoryOf(each), bodyHash: 'other' } : memoryOf(each)
    expect(problemsOf(rows, { memory: other })).toEqual([
      'null: mail 3 has a body that does not match its hash',
    ])
  })

  it('must be the item that its key names, unless it was imported', async () => {
    const rows = await rowsOfSession()
    const memory = (each: MailRow) => ({ ...memoryOf(each), isOwn: each.number !== 3 })
    expect(problemsOf(rows, { memory })).toEqual([
      'null: mail 3 came under a key that names another item',
    ])
    expect(problemsOf(rows, { memory, session: { birth: 'imported' } })).toEqual([])
  })

  it('must have a body while it waits in an open session', async () => {
    const rows = await rowsOfSession()
    const mails = changed(rows.mails, 2, { body: null })
    expect(problemsOf(rows, { mails })).toEqual(['null: mail 3 is waiting but has no body'])
    expect(problemsOf(rows, { mails, session: { state: 'erasing' } })).toEqual([])
  })

  it.each([{ source: null }, { key: null }])(
    'is not checked against its key with %j',
    async (erased) => {
      const rows = await rowsOfSession()
      const mails = changed(rows.mails, 2, erased)
      expect(
        problemsOf(rows, {
          mails,
          memory: (each) => (each.number === 3 ? undefined : memoryOf(each)),
        }),
      ).toEqual([])
    },
  )

  it('must equal its entry', async () => {
    const rows = await rowsOfSession()
    const mails = changed(rows.mails, 1, { body: '"other"' })
    const [first, second] = rows.entries.filter(({ kind }) => kind === 'input')
    expect(problemsOf(rows, { mails })).toEqual([
      `null: mail 2 differs from entry ${second?.number}, which it became`,
    ])
    // An erased entry has no body to compare.
    const at = rows.entries.indexOf(first as Entry)
    const entries = changed(rows.entries, at, { body: null, salt: null })
    expect(problemsOf(rows, { entries, mails: changed(rows.mails, 0, { body: '"x"' }) })).toEqual(
      [],
    )
  })

  it('is not checked against the entries that a fork shares', async () => {
    const rows = await rowsOfSession()
    const input = rows.entries.find(({ kind }) => kind === 'input')
    const session = { forkedAt: input?.number as Entry['number'] }
    const mails = changed(rows.mails, 0, { body: '"other"' })
    expect(problemsOf(rows, { session, mails })).toEqual([])
    expect(problemsOf(rows, { mails })).toHaveLength(1)
  })
})

describe('a blob of a session', () => {
  it('must exist, unchanged, if an item uses it', async () => {
    const rows = await rowsOfSession()
    const mails = changed(rows.mails, 2, { blobs: [BLOB] })
    const missing = `null: mail 3 uses blob ${BLOB}, which is missing`
    const twice = changed(changed(rows.mails, 2, { blobs: [BLOB] }), 1, { blobs: [BLOB] })
    expect(problemsOf(rows, { mails: twice })).toEqual([missing.replace('mail 3', 'mail 2')])
    const erased = changed(rows.mails, 1, { blobs: [BLOB], body: null })
    expect(problemsOf(rows, { mails: erased })).toEqual([])
    expect(problemsOf(rows, { mails })).toEqual([missing])
    expect(problemsOf(rows, { mails, blobs: [true] })).toEqual([])
    expect(problemsOf(rows, { mails, blobs: [false] })).toEqual([
      `null: blob ${BLOB} has bytes that do not match its hash (mail 3 uses it)`,
    ])
    expect(problemsOf(rows, { blobs: [false] })).toEqual([
      `null: blob ${BLOB} has bytes that do not match its hash`,
    ])
    expect(problemsOf(rows, { mails, session: { state: 'erasing' } })).toEqual([])
    const gone = { state: 'gone', retained: entryNumber(0) } as const
    const ofBlobs = (session: Partial<SessionRow>) =>
      problemsOf(rows, { mails, session }).filter((problem) => problem.includes('blob'))
    expect(ofBlobs(gone)).toEqual([])
    expect(ofBlobs({ ...gone, retained: entryNumber(1) })).toEqual([missing])
  })

  it('is reported with the first entry that uses it', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    const bytes = new Uint8Array([5])
    const staged = await store.stageBlob({ sessionId: fixture.id, mediaType: 'image/png', bytes })
    const { hash } = expectKind(staged, 'staged')
    await fixture.exchange('one', 'one!')
    await fixture.hear('two')
    await fixture.reply('two!', { ends: 'answered', blobs: [hash] })
    const session = await fixture.row()
    const query = { sessionId: session.id, from: entryNumber(1), to: session.tail }
    const entries = await store.readEntries(query)
    const at = entries.find(({ meta }) => 'blobs' in meta && meta.blobs.includes(hash))?.number
    const check = (rows: readonly Entry[]) => {
      const found = new SessionCheck({ ...session, state: 'gone', retained: session.tail })
      for (const entry of rows) found.addEntry(entry)
      return found.end()
    }
    const problem = `entry ${at} uses blob ${hash}, which is missing`
    expect(check(entries)).toEqual([{ sessionId: session.id, entry: at, problem }])
    const erased = entries.map((entry) => ({ ...entry, body: null, salt: null }))
    expect(check(erased)).toEqual([])
  })
})

describe('a session row that cannot be read', () => {
  it('names the damaged column, if known', () => {
    const id = sessionId('talk')
    const damaged = new DamagedRowError({
      row: 'session talk',
      column: 'limits',
      problem: 'is no JSON',
    })
    expect([unreadableSession(id, damaged), unreadableSession(id, new Error('x'))]).toEqual([
      {
        ...{ sessionId: id, entry: null },
        problem: 'session row cannot be read: its column limits is no JSON',
      },
      { sessionId: id, entry: null, problem: 'session row cannot be read' },
    ])
  })
})

describe('a transcript', () => {
  const check = ({ session }: Rows, entries: readonly (Entry | number)[], over = {}) => {
    const transcript = new TranscriptCheck({ ...session, ...over })
    for (const each of entries) {
      if (typeof each === 'number') transcript.addUnreadable(entryNumber(each))
      else transcript.add(each)
    }
    return transcript.end().map(({ entry, problem }) => `${entry}: ${problem}`)
  }

  it('reports missing entries, one or several, in the middle and at the end', async () => {
    const rows = await rowsOfSession()
    const [one, two, three, four, ...rest] = rows.entries as Entry[]
    const all = [one, two, three, four, ...rest] as Entry[]
    const { tail } = rows.session
    expect(check(rows, all)).toEqual([])
    expect(check(rows, [one, three, four, ...rest] as Entry[])).toEqual(['2: entry 2 is missing'])
    expect(check(rows, [one, four, ...rest] as Entry[])).toEqual([
      '2: entry 2 and 1 more are missing',
    ])
    expect(check(rows, all.slice(0, 4)).slice(0, 1)).toEqual([
      `5: entry 5 to ${tail} are missing at the end`,
    ])
    const shorter = { tail: entryNumber(tail - 1) }
    expect(check(rows, all, shorter)).toEqual([
      `${tail}: entry ${tail} is after the tail in the session row`,
    ])
    expect(check(rows, all, { tailHash: 'other' })).toEqual([
      `${tail}: entry ${tail} has another hash than the session knows for its tail`,
    ])
    expect(check(rows, [one, two, two, three, four, ...rest] as Entry[])).toEqual([
      '2: entry 2 comes after entry 2',
    ])
  })

  it('continues after an unreadable entry, and reports one after the tail', async () => {
    const rows = await rowsOfSession()
    const [one, , ...rest] = rows.entries as [Entry, Entry, ...Entry[]]
    expect(check(rows, [one, 2, ...rest])).toEqual(['2: entry 2 cannot be read'])
    expect(check(rows, [one, 3, ...rest.slice(1)])).toEqual([
      '2: entry 2 is missing',
      '3: entry 3 cannot be read',
    ])
    expect(check(rows, [...rows.entries, rows.session.tail + 1])).toEqual([])
    expect(check(rows, [...rows.entries.slice(0, -1), rows.session.tail])[0]).toBe(
      `${rows.session.tail}: entry ${rows.session.tail} cannot be read`,
    )
  })

  it('must agree with the session row: limits, handoff, pins', async () => {
    const rows = await rowsOfSession()
    const { covers, pins, limits } = rows.session
    expect(check(rows, rows.entries, { covers: entryNumber(covers + 1) })).toEqual([
      `null: session row says covers ${covers + 1}, entries say ${covers}`,
    ])
    expect(check(rows, rows.entries, { pins: {} })).toEqual([
      'null: session row and entries disagree on the pins',
    ])
    expect(check(rows, rows.entries, { pins: {}, state: 'gone' })).toEqual([])
    expect(Object.keys(pins)).toEqual(['rule'])
    const other = { limits: { ...limits, hardTokens: limits.hardTokens + 1 } }
    expect(check(rows, rows.entries, other)).toEqual([
      `null: session row has other limits than entry ${rows.session.settings} set`,
    ])
  })

  it('continues the prefix that a fork reads', async () => {
    const rows = await rowsOfSession()
    const at = rows.session.settings
    const fork = { ...rows.session, forkedAt: at, origin: sessionId('before') }
    const folded = rows.entries.filter(
      ({ kind, number }) => number <= at && kind !== 'input' && kind !== 'assistant',
    )
    const last = rows.entries[at - 1] as Entry
    const rest = rows.entries.slice(at)
    const judge = (hash: string | null) => {
      const transcript = new TranscriptCheck(fork, { folded, hash })
      for (const each of rest) transcript.add(each)
      return transcript.end().map(({ problem }) => problem)
    }
    expect(judge(last.hash)).toEqual([])
    expect(judge('other')).toEqual([`entry ${at + 1} does not follow its predecessor`])
    expect(judge(null)).toEqual([`entry ${at} of session before is missing: this is a fork of it`])
  })

  it('reports an entry that is out of order', async () => {
    const rows = await rowsOfSession()
    const [one, two, three, ...rest] = rows.entries as [Entry, Entry, Entry, ...Entry[]]
    const judge = (entries: readonly Entry[]) =>
      checkTranscript(rows.session, entries).map(({ sessionId: id, entry, problem }) => {
        expect(id).toBe(rows.session.id)
        return `${entry}: ${problem}`
      })
    expect(judge(rows.entries)).toEqual([])
    expect(judge([one, three, two, ...rest])).toEqual([
      '2: entry 2 is not in its place: entry 3 is there',
    ])
    expect(judge([two, one, three, ...rest])).toEqual([
      '1: entry 1 is not in its place: entry 2 is there',
    ])
    expect(judge([one, three, ...rest])).toEqual(['2: entry 2 is missing'])
  })
})
