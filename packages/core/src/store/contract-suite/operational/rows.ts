import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type EntryNumber, entryNumber, sessionId } from '../../../base/ids.ts'
import { NOTE_BYTES_MAX, NOTES_MAX, TITLE_MAX } from '../../bounds.ts'
import type { TokenRow } from '../../operational-rows.ts'
import { create, expectKind, newOperation, StoreFixture } from '../bench.ts'
import type { StoreCase } from '../case.ts'
import { attempts } from './attempts.ts'
import { schedules } from './schedules.ts'

/** Schedules, notes, access tokens, titles and the usage of model calls. */
const notes: readonly StoreCase[] = [
  {
    name: 'notes belong to an agent, are replaced by id and listed by it',
    run: async ({ store, sibling }) => {
      const fixture = await StoreFixture.open(store)
      const origin = { sessionId: fixture.id, number: entryNumber(3) }
      const own = { agent: 'ada', scope: fixture.id }
      await store.putNote({ ...own, id: 'b', text: 'likes tea', origin: null })
      await store.putNote({ ...own, id: 'a', text: 'old', origin })
      const again = { ...own, id: 'a', text: 'new \0 \ud800', origin }
      const { note } = expectKind(await store.putNote(again), 'noted')
      assert.equal(note.text, 'new \0 \ufffd')
      await store.putNote({ agent: 'bob', scope: '', id: 'a', text: 'other', origin: null })
      const found = await (await sibling()).listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(
        found.map(({ id, text, origin: from }) => [id, text, from]),
        [
          ['a', 'new \0 \ufffd', origin],
          ['b', 'likes tea', null],
        ],
      )
      const behind = await store.listNotes({ agent: 'ada', after: 'a', limit: 10 })
      assert.deepEqual(
        behind.map(({ id }) => id),
        ['b'],
      )
      expectKind(await store.removeNote({ ...own, id: 'a' }), 'done')
      expectKind(await store.removeNote({ ...own, id: 'a' }), 'unknown')
      // Changing a removed note must not restore it.
      expectKind(await store.putNote({ ...again, replaces: true }), 'unknown')
      expectKind(await store.putNote({ ...again, id: 'b', replaces: true }), 'noted')
      assert.equal((await store.listNotes({ agent: 'bob', limit: 10 })).length, 1)
    },
  },
  {
    name: 'a note of one scope is not listed, replaced or removed in another',
    run: async ({ store, sibling }) => {
      const [one, two] = [await StoreFixture.open(store), await StoreFixture.open(store)]
      const note = (fixture: StoreFixture, text: string) => {
        const origin = { sessionId: fixture.id, number: entryNumber(1) }
        return { agent: 'ada', scope: fixture.id, id: 'drink', text, origin }
      }
      expectKind(await store.putNote(note(one, 'tea')), 'noted')
      expectKind(await store.putNote(note(two, 'rum')), 'noted')
      const list = async (scope?: string) => {
        const query = { agent: 'ada', limit: 10, ...(scope !== undefined && { scope }) }
        return (await (await sibling()).listNotes(query)).map(({ text }) => text)
      }
      assert.deepEqual([await list(one.id), await list(two.id)], [['tea'], ['rum']])
      assert.deepEqual((await list()).sort(), ['rum', 'tea'])
      assert.deepEqual(await list('nobody'), [])
      await assert.rejects(store.putNote({ ...note(one, 'rum'), scope: two.id }), {
        code: 'invalid-request',
      })
      const { agent, scope, id } = note(two, '')
      expectKind(await store.removeNote({ agent, scope, id }), 'done')
      expectKind(await store.removeNote({ agent, scope, id }), 'unknown')
      assert.deepEqual(await list(), ['tea'])
    },
  },
  {
    name: 'a session that takes over a route joins the scope of the previous one',
    run: async ({ store, sibling }) => {
      const route = { agent: 'ada', channel: 'telegram', address: '7' }
      const { limits, policy } = await (await StoreFixture.open(store)).row()
      const terms = { limits, policy }
      const first = { id: sessionId('first'), agent: 'ada', route, ...terms }
      await store.createSession({ ...first, operation: newOperation() })
      const joined = { id: sessionId('joined'), agent: 'bob', scope: 'first', ...terms }
      await store.createSession({ ...joined, operation: newOperation() })
      const afresh = { source: 's', key: 'k', route, version: 1, id: sessionId('next'), ...terms }
      expectKind(await store.startAfresh({ ...afresh, operation: newOperation() }), 'started')
      const other = await sibling()
      const scopes = ['first', 'joined', 'next'].map(async (id) => {
        return (await other.findSession(sessionId(id)))?.scope
      })
      assert.deepEqual(await Promise.all(scopes), ['first', 'first', 'first'])
      const alone = { source: 's', key: 'l', version: 0, id: sessionId('alone'), ...terms }
      const elsewhere = { ...alone, route: { ...route, address: '8' }, operation: newOperation() }
      expectKind(await store.startAfresh(elsewhere), 'started')
      assert.equal((await other.findSession(sessionId('alone')))?.scope, 'alone')
      const wrong = { ...joined, id: sessionId('wrong'), scope: 'a b', operation: newOperation() }
      await assert.rejects(store.createSession(wrong), { code: 'invalid-request' })
    },
  },
  {
    name: 'notes are bounded in number and in size [I24]',
    run: async ({ store }) => {
      const put = (id: string, text = 'x', scope = 's') =>
        store.putNote({ agent: 'ada', scope, id, text, origin: null })
      const large = expectKind(await put('large', 'ü'.repeat(NOTE_BYTES_MAX / 2 + 1)), 'too-large')
      assert.deepEqual([large.bytes, large.limit], [NOTE_BYTES_MAX + 2, NOTE_BYTES_MAX])
      for (let index = 0; index < NOTES_MAX; index += 50) {
        await Promise.all(Array.from({ length: 50 }, (_, each) => put(`n${index + each}`)))
      }
      assert.equal(expectKind(await put('more'), 'full').limit, NOTES_MAX)
      expectKind(await put('n7', 'y'), 'noted')
      expectKind(await put('more', 'y', 'other'), 'noted')
      await assert.rejects(put('a b'), { code: 'invalid-request' })
    },
  },
  {
    name: 'a note is erased with the entry it was made from [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const [entry = entryNumber(0)] = await fixture.hear('my address is …')
      await fixture.reply('thanks', { ends: 'answered' })
      const from = (number: EntryNumber) => ({ sessionId: fixture.id, number })
      const own = { agent: 'ada', scope: fixture.id }
      await store.putNote({ ...own, id: 'gone', text: 'address', origin: from(entry) })
      await store.putNote({ ...own, id: 'stays', text: 'x', origin: from(fixture.tail.number) })
      expectKind(await fixture.erase([entry]), 'erased')
      const left = await store.listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(
        left.map(({ id }) => id),
        ['stays'],
      )
    },
  },
]

function token(id: string, fields: Partial<TokenRow> = {}): TokenRow {
  const hash = createHash('sha256').update(id).digest('hex')
  const scopes = ['read', 'send']
  const of = { id, hash, principal: 'ada', scopes, label: 'laptop' }
  return { ...of, createdAt: 5, expiresAt: null, ...fields }
}

const tokens: readonly StoreCase[] = [
  {
    name: 'an access token is found by its hash until it is removed',
    run: async ({ store, sibling }) => {
      const one = token('one')
      const two = token('two', { scopes: [], expiresAt: 99, label: 'Ü"\n' })
      expectKind(await store.putToken(one), 'done')
      expectKind(await store.putToken(two), 'done')
      const other = await sibling()
      assert.deepEqual(await other.listTokens(), [one, two])
      assert.deepEqual(await other.findToken({ hash: two.hash }), two)
      assert.equal(await other.findToken({ hash: 'nope' }), undefined)
      expectKind(await store.removeToken({ id: 'two' }), 'done')
      expectKind(await store.removeToken({ id: 'two' }), 'unknown')
      assert.equal(await other.findToken({ hash: two.hash }), undefined)
    },
  },
  {
    name: 'an access token cannot be changed, and must be stored as a hash',
    run: async ({ store }) => {
      await store.putToken(token('one'))
      expectKind(await store.putToken(token('one', { label: 'other' })), 'taken')
      expectKind(await store.putToken({ ...token('one'), id: 'two' }), 'taken')
      const plain = token('three', { hash: 'secret' })
      await assert.rejects(store.putToken(plain), { code: 'invalid-request' })
      const unnamed = token('four', { principal: '' })
      await assert.rejects(store.putToken(unnamed), { code: 'invalid-request' })
      assert.equal((await store.listTokens()).length, 1)
    },
  },
]

const titles: readonly StoreCase[] = [
  {
    name: 'setting a title needs no lease and changes nothing else',
    run: async ({ store, sibling }) => {
      const fixture = await StoreFixture.open(store)
      const before = await fixture.row()
      const other = await sibling()
      const title = 'Ünïcode 🌱 \0'
      expectKind(await other.setTitle({ sessionId: fixture.id, title }), 'done')
      const { titleSalt, ...after } = await fixture.row()
      assert.deepEqual({ ...after, titleSalt: null }, { ...before, title })
      assert.equal(titleSalt?.length, 32)
      await fixture.exchange('hello', 'hi')
      assert.equal((await fixture.row()).title, title)
      expectKind(await other.setTitle({ sessionId: fixture.id, title: null }), 'done')
      assert.deepEqual(await fixture.row(), {
        ...(await fixture.row()),
        title: null,
        titleSalt: null,
      })
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a title that is too long, or of a session that does not exist, is refused',
    run: async ({ store }) => {
      const id = await create(store)
      const title = 'x'.repeat(TITLE_MAX + 1)
      await assert.rejects(store.setTitle({ sessionId: id, title }), { code: 'invalid-request' })
      const nobody = { sessionId: sessionId('nobody'), title: null }
      expectKind(await store.setTitle(nobody), 'unknown')
      await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked' })
      expectKind(await store.setTitle({ sessionId: id, title: 'x' }), 'gone')
    },
  },
]

/** What an edge has displayed of incomplete replies. */
const drafts: readonly StoreCase[] = [
  {
    name: 'a draft of a reply is kept under its key until it is dropped',
    run: async ({ store, sibling }) => {
      const [one, other] = [await create(store), await create(store)]
      const draft = { sessionId: one, key: 'a-1', ids: ['17'] }
      expectKind(await store.putDraft(draft), 'done')
      expectKind(await store.putDraft({ ...draft, ids: ['17', 'é18'] }), 'done')
      expectKind(await store.putDraft({ ...draft, key: 'a-2' }), 'done')
      const elsewhere = await sibling()
      const found = await elsewhere.findDraft({ sessionId: one, key: 'a-1' })
      assert.deepEqual(found?.ids, ['17', 'é18'])
      assert.equal(await store.findDraft({ sessionId: other, key: 'a-1' }), undefined)
      expectKind(await elsewhere.putDraft({ ...draft, ids: [] }), 'done')
      assert.equal(await store.findDraft({ sessionId: one, key: 'a-1' }), undefined)
      assert.deepEqual((await store.findDraft({ sessionId: one, key: 'a-2' }))?.ids, ['17'])
      expectKind(await store.putDraft({ ...draft, sessionId: sessionId('nobody') }), 'unknown')
    },
  },
  {
    name: 'settling a reply removes its draft; a failed attempt keeps it',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const place = { edge: 'chat', address: '7', key: 'r-1' }
      await fixture.exchange('hello', 'hi', [{ ...place, body: { text: 'hi' } }])
      const draft = { sessionId: fixture.id, key: 'r-1' }
      await store.putDraft({ ...draft, ids: ['17'] })
      const claimant = fixture.lease.runner
      const claim = async () =>
        expectKind(await store.claimReply({ edge: 'chat', claimant, at: 2 ** 40 * 4 }), 'claimed')
          .reply
      const first = await claim()
      const settle = { sessionId: fixture.id, number: first.number, claimant }
      const failed = { kind: 'failed', retryAt: 10, attemptsMax: 9 } as const
      await store.settleReply({ ...settle, attempt: first.attempt, result: failed })
      assert.deepEqual((await store.findDraft(draft))?.ids, ['17'])
      const { attempt } = await claim()
      const sent = { kind: 'sent', receipt: '17' } as const
      expectKind(await store.settleReply({ ...settle, attempt, result: sent }), 'settled')
      assert.equal(await store.findDraft(draft), undefined)
    },
  },
  {
    name: 'a deleted session keeps no drafts',
    run: async ({ store }) => {
      const [one, other] = [await create(store), await create(store)]
      const draft = { key: 'a-1', ids: ['17'] }
      for (const id of [one, other]) await store.putDraft({ ...draft, sessionId: id })
      await store.deleteSession({ sessionId: one, operation: newOperation(), reason: 'test' })
      expectKind(await store.putDraft({ ...draft, sessionId: one }), 'gone')
      while (expectKind(await store.eraseSome({ sessionId: one, limit: 10 }), 'erased').left) {}
      assert.equal(await store.findDraft({ sessionId: one, key: 'a-1' }), undefined)
      assert.deepEqual((await store.findDraft({ sessionId: other, key: 'a-1' }))?.ids, ['17'])
    },
  },
]

export const operationalRows: readonly StoreCase[] = [
  ...schedules,
  ...notes,
  ...tokens,
  ...titles,
  ...attempts,
  ...drafts,
]
