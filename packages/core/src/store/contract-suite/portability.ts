import assert from 'node:assert/strict'
import { entryNumber, sessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import { TITLE_MAX } from '../bounds.ts'
import { expectKind, LIMITS, newOperation, register, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'
import { forkAt, purgeWhole } from './forks/forks.ts'
import { talked } from './integrity.ts'

async function linesOf(source: AsyncIterable<string>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of source) lines.push(line)
  return lines
}

function changed(from: string, to: string): (lines: string[]) => string[] {
  return (lines) => lines.map((line) => line.replace(from, to))
}

/** Replaces fields of the session row in the header. */
function forged(fields: JsonObject): (lines: string[]) => string[] {
  return ([first = '', ...rest]) => {
    const header = JSON.parse(first)
    return [JSON.stringify({ ...header, session: { ...header.session, ...fields } }), ...rest]
  }
}

/** Removes the checksum over all lines, as a forger would. */
function unsummed(lines: string[]): string[] {
  return lines.map((line) => line.replace(/,"sha256":"[0-9a-f]{64}"\}\}/, '}}'))
}

/** Changes the newest mail. */
function mailed(change: (mail: JsonObject) => JsonObject): (lines: string[]) => string[] {
  return (lines) => {
    const last = lines.findLastIndex((line) => line.startsWith('{"mail"'))
    const { mail } = JSON.parse(lines[last] ?? '')
    return lines.with(last, JSON.stringify({ mail: { ...mail, ...change(mail) } }))
  }
}

/** Removes the newest mail and updates the count at the end. */
function withoutMail(lines: string[]): string[] {
  const kept = lines.toSpliced(
    lines.findLastIndex((line) => line.startsWith('{"mail"')),
    1,
  )
  return [...kept.slice(0, -1), JSON.stringify({ end: { lines: kept.length - 1 } })]
}

export const portability: readonly StoreCase[] = [
  {
    name: 'verify accepts the erased entries of an imported file, and no other missing text [I19]',
    run: async (bench) => {
      const { store, harm } = bench
      const from = await bench.fresh()
      const origin = await talked({ ...bench, store: from })
      // The fork begins before the entry that records the erasure.
      expectKind(await origin.erase([entryNumber(3)]), 'erased')
      const fork = await forkAt(from, origin.id, 6)
      const imported = await store.importSession(await linesOf(from.exportSession(fork.id)))
      const { sessionId } = expectKind(imported, 'imported')
      const all = { sessionId, from: entryNumber(1), to: entryNumber(6) }
      assert.equal((await store.readEntries(all))[2]?.body, null)
      assert.deepEqual(await store.verify({}), [])
      await harm.empty(sessionId, entryNumber(2))
      assert.deepEqual(
        (await store.verify({})).map(({ entry }) => entry),
        [2],
      )
    },
  },
  {
    name: 'an import keeps whether a session was deleted [I19]',
    run: async (bench) => {
      const { store, harm } = bench
      const from = await bench.fresh()
      const [gone, open] = [await StoreFixture.open(from), await StoreFixture.open(from)]
      for (const fixture of [gone, open]) await fixture.exchange('hi', 'hello')
      await purgeWhole(from, gone.id)
      for (const { id } of [gone, open]) {
        const lines = await linesOf(from.exportSession(id))
        expectKind(await store.importSession(lines), 'imported')
      }
      assert.equal((await store.findSession(gone.id))?.state, 'gone')
      assert.deepEqual(await store.verify({}), [])
      await harm.changeState(open.id, 'gone')
      assert.deepEqual(
        new Set((await store.verify({})).map(({ sessionId }) => sessionId)),
        new Set([open.id]),
      )
    },
  },
  {
    name: 'an exported session is imported whole: same id, same chain, same waiting mail [I3, I5]',
    run: async (bench) => {
      const fixture = await talked(bench)
      const blob = { sessionId: fixture.id, mediaType: 'a/b', bytes: new Uint8Array([1, 2]) }
      const { hash } = expectKind(await bench.store.stageBlob(blob), 'staged')
      await fixture.deliver(await fixture.admit(said('look'), { blobs: [hash] }))
      await fixture.compact(4)
      await fixture.admit(said('waiting'), { key: 'waiting' })
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      const target = await bench.fresh()
      const outcome = expectKind(await target.importSession(lines), 'imported')
      assert.deepEqual([outcome.sessionId, outcome.entries], [fixture.id, fixture.tail.number])
      const range = { sessionId: fixture.id, from: entryNumber(1), to: fixture.tail.number }
      assert.deepEqual(await target.readEntries(range), await bench.store.readEntries(range))
      assert.deepEqual(await target.verify({}), [])
      const query = { sessionId: fixture.id, state: 'pending', limit: 5 } as const
      assert.deepEqual(await target.listMail(query), await bench.store.listMail(query))
      assert.equal((await target.findBlob({ sessionId: fixture.id, hash }))?.uses, 1)
      const row = await target.findSession(fixture.id)
      assert.deepEqual([row?.birth, row?.runner, row?.covers], ['imported', null, 4])
    },
  },
  {
    name: 'an import includes all waiting replies, however many [I13]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.hear('tell everybody')
      const replies = Array.from({ length: 600 }, (_, index) => {
        return { edge: 'chat', address: `room ${index}`, key: `k${index}`, body: said('yes') }
      })
      await fixture.reply('yes', { ends: 'answered', replies })
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      const target = await bench.fresh()
      expectKind(await target.importSession(lines), 'imported')
      const all = await target.listReplies({
        sessionId: fixture.id,
        state: 'waiting',
        limit: 1_000,
      })
      assert.equal(all.length, 600)
    },
  },
  {
    name: 'changes during an export stay out of the file, which can be imported [I5]',
    run: async (bench) => {
      const fixture = await talked(bench)
      const waiting = await fixture.admit(said('never mind'))
      const tail = fixture.tail.number
      const source = bench.store.exportSession(fixture.id)[Symbol.asyncIterator]()
      const lines = [String((await source.next()).value)]
      await bench.store.withdraw({ sessionId: fixture.id, mail: waiting })
      await fixture.hear('late')
      const reply = { edge: 'chat', address: 'room', key: 'late', body: said('yes') }
      await fixture.reply('yes', { ends: 'answered', replies: [reply] })
      for (let next = await source.next(); !next.done; next = await source.next()) {
        lines.push(next.value)
      }
      const target = await bench.fresh()
      expectKind(await target.importSession(lines), 'imported')
      const row = await target.findSession(fixture.id)
      assert.deepEqual([row?.tail, row?.pending.user], [tail, 0])
      assert.deepEqual(await target.verify({}), [])
    },
  },
  {
    name: 'an export fails as busy if entries are erased or the session is deleted meanwhile [I9, I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.compact(4)
      const erase = () => fixture.erase([entryNumber(1)], 'without the first')
      const end = { sessionId: fixture.id, reason: 'asked for', operation: newOperation() }
      for (const meanwhile of [erase, () => bench.store.deleteSession(end)]) {
        const source = bench.store.exportSession(fixture.id)[Symbol.asyncIterator]()
        await source.next()
        await meanwhile()
        const rest = async () => {
          for (let next = await source.next(); !next.done; ) next = await source.next()
        }
        await assert.rejects(rest, { code: 'store-busy', retryable: true })
      }
    },
  },
  {
    name: 'an imported session recognizes the keys of its mail [I4]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.admit(said('waiting'), { key: 'waiting' })
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      const target = await bench.fresh()
      await target.importSession(lines)
      const mail = {
        to: { sessionId: fixture.id },
        source: 'chat',
        key: 'waiting',
        lane: 'user',
      } as const
      const again = await target.admit({ ...mail, tokens: 10, body: said('waiting') })
      expectKind(again, 'duplicate')
    },
  },
  {
    name: 'an imported session counts only waiting mail against the limit of a source [I4]',
    run: async (bench) => {
      const fixture = await StoreFixture.open(bench.store, {
        limits: { ...LIMITS, sourceMailMax: 2 },
      })
      await fixture.exchange('answered', 'yes')
      const mail = await fixture.admit(said('waits'))
      await fixture.admit(said('waits too'))
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      const target = await bench.fresh()
      expectKind(await target.importSession(lines), 'imported')
      const there = await StoreFixture.acquire(target, fixture.id, await register(target))
      const outcome = expectKind(await there.tryAdmit(said('one too many')), 'full')
      assert.deepEqual([outcome.which, outcome.limit], ['source', 2])
      await there.admit(said('of another'), { source: 'mail' })
      await there.deliver(mail)
      await there.admit(said('there is room again'))
      expectKind(await there.tryAdmit(said('one too many')), 'full')
    },
  },
  {
    name: 'mail that was settled or withdrawn before an export is a duplicate after the import [I4]',
    run: async (bench) => {
      const { store } = bench
      const fixture = await StoreFixture.open(store)
      const pinned = { name: 'rule', text: 'be kind' }
      const asked = { lane: 'control', control: 'pin', key: 'asked' } as const
      const done = await fixture.admit(pinned, asked)
      expectKind(await store.settleControl({ lease: fixture.lease, mail: [done] }), 'done')
      const idle = await fixture.admit({}, { lane: 'control', control: 'stop', key: 'idle' })
      const taken = await fixture.admit(said('never mind'), { key: 'taken' })
      expectKind(await store.withdraw({ sessionId: fixture.id, mail: taken }), 'withdrawn')
      const lines = await linesOf(store.exportSession(fixture.id))
      const target = await bench.fresh()
      expectKind(await target.importSession(lines), 'imported')
      const there = await StoreFixture.acquire(target, fixture.id, await register(target))
      const repeated = [
        await there.tryAdmit(pinned, asked),
        await there.tryAdmit({}, { lane: 'control', control: 'stop', key: 'idle' }),
        await there.tryAdmit(said('never mind'), { key: 'taken' }),
      ]
      const numbers = repeated.map((outcome) => expectKind(outcome, 'duplicate').mail)
      assert.deepEqual(numbers, [done, idle, taken])
      assert.deepEqual((await there.row()).pending, { control: 0, user: 0, notification: 0 })
    },
  },
  {
    name: 'a search finds the entries of an imported session',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.exchange('heliotrope', 'noted')
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      const target = await bench.fresh()
      await target.importSession(lines)
      const query = { sessionId: fixture.id, text: 'heliotrope', limit: 5, neighbours: 0 }
      assert.equal((await target.search(query)).hits.length, 1)
    },
  },
  {
    name: 'an imported session is in a scope of its own, whatever scope it came from',
    run: async (bench) => {
      const { limits, policy } = await (await talked(bench)).row()
      const joined = { id: sessionId('joined'), agent: 'ada', scope: 'first', limits, policy }
      await bench.store.createSession({ ...joined, operation: newOperation() })
      const lines = await linesOf(bench.store.exportSession(joined.id))
      const target = await bench.fresh()
      expectKind(await target.importSession(lines), 'imported')
      assert.equal((await target.findSession(joined.id))?.scope, 'joined')
    },
  },
  {
    name: 'a file with one letter changed in mail that waits is refused [I26]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.admit(said('pay 100'))
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      const target = await bench.fresh()
      const changedMail = changed('pay 100', 'pay 900')(lines)
      const outcome = expectKind(await target.importSession(changedMail), 'refused')
      assert.match(outcome.problem, /not the ones that were exported/)
      expectKind(await target.importSession(lines), 'imported')
    },
  },
  {
    name: 'an exported line contains none of the characters that some programs split lines at [I3]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.hear('one\u2028two\u2029three\rfour')
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      const target = await bench.fresh()
      const cut = lines.join('').split(/\r\n|[\n\r\u2028\u2029]/)
      expectKind(await target.importSession(cut), 'imported')
      const range = { sessionId: fixture.id, from: fixture.tail.number, to: fixture.tail.number }
      assert.deepEqual(await target.readEntries(range), await bench.store.readEntries(range))
    },
  },
  {
    name: 'an import is refused if the session exists [I5]',
    run: async (bench) => {
      const fixture = await talked(bench)
      const lines = await linesOf(bench.store.exportSession(fixture.id))
      expectKind(await bench.store.importSession(lines), 'exists')
    },
  },
  ...(
    [
      ['cut', (lines: string[]) => lines.slice(0, -1), /cut/],
      ['without its header', (lines: string[]) => lines.slice(1), /format/],
      ['missing an entry', (lines: string[]) => lines.toSpliced(3, 1), /lines/],
      ['not JSON', (lines: string[]) => lines.toSpliced(2, 0, 'oops\n'), /JSON/],
      [
        'changed in a body',
        (lines: string[]) => lines.map((line) => line.replaceAll('a1\\"', 'zz\\"')),
        /hash/,
      ],
      ['empty', () => [], /empty/],
      ['forged in a number', forged({ seen: 999 }), /entries that do not exist/],
      ['forged in its policy', forged({ policy: 'x' }), /policy/],
      [
        'forged in a cursor',
        forged({ delivered: { user: 99, notification: 0 } }),
        /more deliveries/,
      ],
      ['forged in a limit', forged({ limits: { ...LIMITS, pinTokens: -1 } }), /pinTokens/],
      ['without some of its mail', withoutMail, /mail 1 to/],
      [
        'wrong in the lane of a mail',
        changed('"lane":"user"', '"lane":7'),
        /not a valid mail: lane/,
      ],
      ['not JSON in the body of a mail', mailed(() => ({ body: '{"a' })), /body: expected JSON/],
      ['without the body of a waiting mail', mailed(() => ({ body: null })), /has no body/],
      ['using one key twice', mailed(() => ({ source: 'chat', key: 'first' })), /repeats the key/],
      ['forged in a lane', mailed(() => ({ control: 'stop' })), /wrong lane/],
      [
        'forged in its title',
        forged({ title: 'x'.repeat(TITLE_MAX + 1) }),
        /title: expected at most/,
      ],
      ['forged in its agent', forged({ agent: 'x'.repeat(10_000) }), /agent: expected a name/],
      ['owing the erasure of an unknown entry', forged({ owed: [99] }), /owes erasures/],
      ['owing the erasure of one entry twice', forged({ owed: [1, 1] }), /owes erasures/],
      [
        'forged in a fence that leaves no room to count',
        forged({ fence: Number.MAX_SAFE_INTEGER }),
        /fence/,
      ],
    ] as const
  ).map(
    ([what, spoil, problem]): StoreCase => ({
      name: `a file that is ${what} is refused whole [I26]`,
      run: async (bench) => {
        const fixture = await talked(bench)
        await fixture.admit(said('first'), { key: 'first' })
        await fixture.admit(said('waiting'))
        const lines = unsummed(await linesOf(bench.store.exportSession(fixture.id)))
        const target = await bench.fresh()
        const outcome = expectKind(await target.importSession(spoil(lines)), 'refused')
        assert.match(outcome.problem, problem)
        assert.deepEqual(await target.listSessions({ limit: 5 }), [])
      },
    }),
  ),
]
