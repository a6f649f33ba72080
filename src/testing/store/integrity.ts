import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { StoreBench, StoreCase } from './case.ts'
import { Desk, expectKind, LIMITS, replyTo, said } from './desk.ts'

async function talked({ store }: StoreBench): Promise<Desk> {
  const desk = await Desk.open(store)
  for (let round = 0; round < 4; round++) await desk.exchange(`q${round}`, `a${round}`)
  return desk
}

const five = entryNumber(5)

export const integrity: readonly StoreCase[] = [
  {
    name: 'a store in order has no findings [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await desk.compact(4)
      await desk.pin('a', 'x', 1)
      assert.deepEqual(await bench.store.verify({}), [])
    },
  },
  {
    name: 'every entry carries the hash of the one before [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      const range = { sessionId: desk.id, from: entryNumber(1), to: desk.tail.number }
      const entries = await bench.store.readEntries(range)
      for (const [index, entry] of entries.slice(1).entries()) {
        assert.equal(entry.prevHash, entries[index]?.hash)
      }
      assert.equal(entries.at(-1)?.hash, (await desk.row()).tailHash)
    },
  },
  {
    name: 'equal texts have different hashes: salts are drawn anew [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('same', 'same')
      const range = { sessionId: desk.id, from: entryNumber(1), to: entryNumber(2) }
      const [one, two] = await store.readEntries(range)
      assert.notEqual(one?.bodyHash, two?.bodyHash)
    },
  },
  {
    name: 'a changed body is found and placed [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.changeBody(desk.id, five)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
    },
  },
  {
    name: 'a changed head is found and placed [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.changeHead(desk.id, five)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
    },
  },
  {
    name: 'a missing entry is found and placed [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.remove(desk.id, five)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
      assert.match(findings[0]?.problem ?? '', /missing/)
    },
  },
  {
    name: 'a missing last entry is found by the tail of the session [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.remove(desk.id, desk.tail.number)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [desk.tail.number],
      )
    },
  },
  {
    name: 'swapped entries are found where they were swapped [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.swap(desk.id, five, entryNumber(6))
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.equal(findings[0]?.entry, 5)
      assert.ok(findings.some(({ entry }) => entry === 6))
    },
  },
  {
    name: 'a session row that differs from its entries is found [I9, I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await desk.compact(4)
      await bench.harm.changeSessionRow(desk.id)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.match(findings[0]?.problem ?? '', /covers/)
    },
  },
  {
    name: 'a changed audit row is found [I19, I20]',
    run: async (bench) => {
      await talked(bench)
      await bench.harm.changeAudit(3)
      const findings = await bench.store.verify({})
      assert.match(findings[0]?.problem ?? '', /audit row 3/)
    },
  },
  {
    name: 'damage to one session is not blamed on another [I21]',
    run: async (bench) => {
      const desk = await talked(bench)
      const other = await talked(bench)
      await bench.harm.changeBody(desk.id, five)
      assert.deepEqual(await bench.store.verify({ sessionId: other.id }), [])
      assert.equal((await bench.store.verify({})).length, 1)
    },
  },
  {
    name: 'the audit is one gap-free sequence, read from any cursor [I20]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      const all = await store.readAudit({ after: 0, limit: 1_000 })
      assert.deepEqual(
        all.map(({ cursor }) => cursor),
        all.map((_, index) => index + 1),
      )
      const rest = await store.readAudit({ after: 2, limit: 2 })
      assert.deepEqual(rest, all.slice(2, 4))
      const row = await store.readStore()
      assert.deepEqual([row.commits, row.hash], [all.length, all.at(-1)?.hash])
    },
  },
  {
    name: 'audit rows hold no words of a message [I17]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('canary question', 'canary answer', [{ ...replyTo('a'), body: 'canary' }])
      await desk.compact(1)
      const lines = await store.readAudit({ after: 0, limit: 1_000 })
      assert.ok(!JSON.stringify(lines).includes('canary'))
    },
  },
  {
    name: 'mail and entry numbers are gap-free after refusals of every kind [I2]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.admit(said('1'), { key: 'k' })
      await desk.tryAdmit(said('2'), { key: 'k' })
      await desk.tryAdmit(said('3'), { blobs: ['none'] })
      await desk.tryAdmit('x'.repeat(5_000_000))
      const mail = await desk.admit(said('4'))
      assert.equal(mail, 2)
      await store.deliver({ ...desk.fenced(), mail: [mail] })
      assert.deepEqual(await desk.deliver(mailOne(), mail), [1, 2])
    },
  },
  {
    name: 'a closed store refuses further verbs by name',
    run: async ({ sibling }) => {
      const store = await sibling()
      await store.close()
      await store.close()
      await assert.rejects(store.renew({ runner: 'r' as never }), { code: 'store-closed' })
      await assert.rejects(store.listRunners(), { code: 'store-closed' })
    },
  },
  {
    name: 'a watcher hears of a commit, and no longer after it let go',
    run: async ({ store }) => {
      let heard = 0
      const desk = await Desk.open(store)
      const told = new Promise<void>((resolve) => {
        const stop = store.watch(() => {
          heard += 1
          stop()
          resolve()
        })
      })
      await desk.admit(said('hi'))
      await told
      await desk.admit(said('ho'))
      assert.equal(heard, 1)
    },
  },
]

function mailOne() {
  return 1 as Parameters<Desk['deliver']>[0]
}

async function linesOf(source: AsyncIterable<string>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of source) lines.push(line)
  return lines
}

function changed(from: string, to: string): (lines: string[]) => string[] {
  return (lines) => lines.map((line) => line.replace(from, to))
}

/** Another session row in the header. */
function forged(fields: JsonObject): (lines: string[]) => string[] {
  return ([first = '', ...rest]) => {
    const header = JSON.parse(first)
    return [JSON.stringify({ ...header, session: { ...header.session, ...fields } }), ...rest]
  }
}

/** The newest item taken out, and the end counted anew. */
function withoutMail(lines: string[]): string[] {
  const kept = lines.toSpliced(
    lines.findLastIndex((line) => line.startsWith('{"mail"')),
    1,
  )
  return [...kept.slice(0, -1), JSON.stringify({ end: { lines: kept.length - 1 } })]
}

export const portability: readonly StoreCase[] = [
  {
    name: 'an exported session is imported whole: same id, same chain, same waiting mail [I3, I5]',
    run: async (bench) => {
      const desk = await talked(bench)
      const blob = { sessionId: desk.id, mediaType: 'a/b', bytes: new Uint8Array([1, 2]) }
      const { hash } = expectKind(await bench.store.stageBlob(blob), 'staged')
      await desk.deliver(await desk.admit(said('look'), { blobs: [hash] }))
      await desk.compact(4)
      await desk.admit(said('waiting'), { key: 'waiting' })
      const lines = await linesOf(bench.store.exportSession(desk.id))
      const target = await bench.fresh()
      const outcome = expectKind(await target.importSession(lines), 'imported')
      assert.deepEqual([outcome.sessionId, outcome.entries], [desk.id, desk.tail.number])
      const range = { sessionId: desk.id, from: entryNumber(1), to: desk.tail.number }
      assert.deepEqual(await target.readEntries(range), await bench.store.readEntries(range))
      assert.deepEqual(await target.verify({}), [])
      const query = { sessionId: desk.id, state: 'pending', limit: 5 } as const
      assert.deepEqual(await target.listMail(query), await bench.store.listMail(query))
      assert.equal((await target.findBlob({ sessionId: desk.id, hash }))?.uses, 1)
      const row = await target.findSession(desk.id)
      assert.deepEqual([row?.birth, row?.runner, row?.covers], ['imported', null, 4])
    },
  },
  {
    name: 'replies that wait come along, however many [I13]',
    run: async (bench) => {
      const desk = await talked(bench)
      await desk.hear('tell everybody')
      const replies = Array.from({ length: 600 }, (_, index) => {
        return { edge: 'chat', address: `room ${index}`, key: `k${index}`, body: said('yes') }
      })
      await desk.reply('yes', { ends: 'answered', replies })
      const lines = await linesOf(bench.store.exportSession(desk.id))
      const target = await bench.fresh()
      expectKind(await target.importSession(lines), 'imported')
      const all = await target.listReplies({ sessionId: desk.id, state: 'waiting', limit: 1_000 })
      assert.equal(all.length, 600)
    },
  },
  {
    name: 'what is said while a session is exported stays out of the file, and the file is whole [I5]',
    run: async (bench) => {
      const desk = await talked(bench)
      const waiting = await desk.admit(said('never mind'))
      const tail = desk.tail.number
      const source = bench.store.exportSession(desk.id)[Symbol.asyncIterator]()
      const lines = [String((await source.next()).value)]
      await bench.store.withdraw({ sessionId: desk.id, mail: waiting })
      await desk.hear('late')
      const reply = { edge: 'chat', address: 'room', key: 'late', body: said('yes') }
      await desk.reply('yes', { ends: 'answered', replies: [reply] })
      for (let next = await source.next(); !next.done; next = await source.next()) {
        lines.push(next.value)
      }
      const target = await bench.fresh()
      expectKind(await target.importSession(lines), 'imported')
      const row = await target.findSession(desk.id)
      assert.deepEqual([row?.tail, row?.pending.user], [tail, 0])
      assert.deepEqual(await target.verify({}), [])
    },
  },
  {
    name: 'an imported session knows the keys it has taken in [I4]',
    run: async (bench) => {
      const desk = await talked(bench)
      await desk.admit(said('waiting'), { key: 'waiting' })
      const lines = await linesOf(bench.store.exportSession(desk.id))
      const target = await bench.fresh()
      await target.importSession(lines)
      const mail = {
        to: { sessionId: desk.id },
        source: 'chat',
        key: 'waiting',
        lane: 'user',
      } as const
      const again = await target.admit({ ...mail, tokens: 10, body: said('waiting') })
      expectKind(again, 'duplicate')
    },
  },
  {
    name: 'an imported session is found by search and goes on',
    run: async (bench) => {
      const desk = await talked(bench)
      await desk.exchange('heliotrope', 'noted')
      const lines = await linesOf(bench.store.exportSession(desk.id))
      const target = await bench.fresh()
      await target.importSession(lines)
      const query = { sessionId: desk.id, text: 'heliotrope', limit: 5, neighbours: 0 }
      assert.equal((await target.search(query)).length, 1)
    },
  },
  {
    name: 'a session that exists is not imported over [I5]',
    run: async (bench) => {
      const desk = await talked(bench)
      const lines = await linesOf(bench.store.exportSession(desk.id))
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
      ['forged in a number', forged({ seen: 999 }), /seen more/],
      ['forged in a word', forged({ policy: 'x' }), /policy/],
      ['forged in a cursor', forged({ delivered: { user: 99, notification: 0 } }), /delivered/],
      ['forged in a limit', forged({ limits: { ...LIMITS, pinTokens: -1 } }), /pinTokens/],
      ['without some of its mail', withoutMail, /mail 1 to/],
      ['telling of mail that is none', changed('"lane":"user"', '"lane":7'), /no mail: lane/],
    ] as const
  ).map(
    ([what, spoil, problem]): StoreCase => ({
      name: `a file that is ${what} is refused whole [I26]`,
      run: async (bench) => {
        const desk = await talked(bench)
        const lines = await linesOf(bench.store.exportSession(desk.id))
        const target = await bench.fresh()
        const outcome = expectKind(await target.importSession(spoil(lines)), 'refused')
        assert.match(outcome.problem, problem)
        assert.deepEqual(await target.listSessions({ limit: 5 }), [])
      },
    }),
  ),
]
