import { expect, it } from 'vitest'
import {
  type Given,
  NOW,
  row,
  surveyed,
  textOf,
  view,
} from '../../../../../../../test/support/hermes-diagnosis.ts'
import { findFileFaults } from '../file.ts'
import type { Finding } from '../finding.ts'
import { findIdentityFaults, type StoreView } from '../identity.ts'
import { findDenials } from '../memory-gap.ts'
import { findRewrites } from '../rewrite.ts'
import { findStateFaults } from '../state.ts'
import { findStuck } from '../stuck.ts'
import { findTranscriptFaults } from '../transcript.ts'

const told = (found: readonly Finding[]) => found.map(textOf).join('\n\n')
const sample = (...ids: readonly number[]) => ({ count: ids.length, ids }) as never

const SOUND = {
  ...{ unreadable: [], unreadableCount: 0, unreadableSessions: [], search: [], damage: null },
  ...{ lostFrames: 0, torn: [], nameless: { sessions: 0, rows: 0 }, missingColumns: [] },
}
const ofFile = (over: object) =>
  told(findFileFaults({ condition: { ...SOUND, ...over } } as unknown as StoreView))

it('says nothing of a sound file', () => {
  expect(ofFile({})).toBe('')
})

it('tells rows and sessions that Python cannot decode', () => {
  const rows = Array.from({ length: 11 }, (_, at) => ({ id: at + 1, sessionId: 's' }))
  expect(ofFile({ unreadable: rows, unreadableCount: 40 })).toMatchInlineSnapshot(`
    "unreadable-text: harm, certain, of s
    null to null by the store; 40 rows; no evidence
    40 rows hold invalid UTF-8
    Python refuses such a row ("Could not decode to UTF-8"), so that Hermes cannot open s at all. The bytes were cut, or written by a program that does not check them.
    Importing reads the session, with a replacement character for each invalid byte. In Hermes, correct rows 1, 2, 3, 4, 5, 6, 7, 8, 9 by hand in a copy.
    {"sessionId":"s","rows":[1,2,3,4,5,6,7,8,9,10,11]}"
  `)
  const some = { unreadable: rows.slice(0, 1), unreadableCount: 1, unreadableSessions: ['t'] }
  expect(ofFile(some)).toMatchInlineSnapshot(`
    "unreadable-text: harm, certain, of s
    null to null by the store; 1 rows; no evidence
    1 row holds invalid UTF-8
    Python refuses such a row ("Could not decode to UTF-8"), so that Hermes cannot open s at all. The bytes were cut, or written by a program that does not check them.
    Importing reads the session, with a replacement character for each invalid byte. In Hermes, correct rows 1 by hand in a copy.
    {"sessionId":"s","rows":[1]}

    unreadable-text: harm, certain, of t
    null to null by the store; 0 rows; no evidence
    The row of a session holds invalid UTF-8
    Python refuses such a row ("Could not decode to UTF-8"), so that Hermes cannot open t at all. The bytes were cut, or written by a program that does not check them.
    Importing reads the session, with a replacement character for each invalid byte. In Hermes, correct the session by hand in a copy.
    {"sessionId":"t","rows":[]}"
  `)
})

it('tells each fault of a search index', () => {
  const problems = ['no-table', 'no-triggers', 'not-whole', 'not-readable']
  const search = problems.map((problem) => ({ table: 'fts', problem, what: `(${problem})` }))
  expect(ofFile({ search })).toMatchInlineSnapshot(`
    "broken-search: harm, certain, of no session
    null to null by the store; 0 rows; no evidence
    The search index fts is broken
    The table fts is gone and (no-table): every message that Hermes writes fails. The messages themselves are not affected.
    Let Hermes rebuild it: stop Hermes, drop the rest of the index in a copy, and start Hermes with that copy. Importing does not need the index.
    {"table":"fts","problem":"no-table","what":"(no-table)"}

    broken-search: harm, certain, of no session
    null to null by the store; 0 rows; no evidence
    The search index fts is broken
    Triggers are missing ((no-triggers)), so searches do not find new messages. The messages themselves are not affected.
    Let Hermes rebuild it: stop Hermes, drop the rest of the index in a copy, and start Hermes with that copy. Importing does not need the index.
    {"table":"fts","problem":"no-triggers","what":"(no-triggers)"}

    broken-search: risk, certain, of no session
    null to null by the store; 0 rows; no evidence
    The search index fts is broken
    (not-whole) rows are not in fts, so searches do not find them. The messages themselves are not affected.
    \`throughline doctor hermes STORE --repair-to NEW\` rebuilds it in a copy.
    {"table":"fts","problem":"not-whole","what":"(not-whole)"}

    broken-search: harm, certain, of no session
    null to null by the store; 0 rows; no evidence
    The search index fts is broken
    fts cannot be read ((not-readable)); searches and writes fail. The messages themselves are not affected.
    \`throughline doctor hermes STORE --repair-to NEW\` rebuilds it in a copy.
    {"table":"fts","problem":"not-readable","what":"(not-readable)"}"
  `)
  expect(ofFile({ search: [{ table: 'fts', problem: 'no-table', what: '' }] })).toContain(
    '\nThe table fts is missing, so searches find nothing. The messages',
  )
})

it('tells damage of the file', () => {
  expect(ofFile({ damage: `row 3 ${'x'.repeat(300)}` })).toMatchInlineSnapshot(`
    "damaged-index: harm, certain, of no session
    null to null by the store; 0 rows; no evidence
    A table or an index of the file is damaged
    SQLite says: row 3 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx. Reads through the index may miss rows or return wrong ones.
    \`throughline doctor hermes STORE --repair-to NEW\` writes a copy with new indexes. Keep this file until you have checked the copy.
    {"damage":"row 3 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"
  `)
  expect(ofFile({ lostFrames: 1 })).toMatchInlineSnapshot(`
    "cut-log: risk, suspected, of no session
    null to null by the store; 0 rows; no evidence
    The write-ahead log ends in the middle of a commit
    1 page behind the last whole commit in the -wal file cannot be used: it was cut short, or copied while Hermes wrote to it. The newest messages may be missing from everything below.
    Stop Hermes, copy state.db and state.db-wal again together, and examine that copy.
    {"lostFrames":1}"
  `)
  expect(ofFile({ nameless: { sessions: 1, rows: 0 } })).toMatchInlineSnapshot(`
    "nameless-rows: risk, certain, of no session
    null to null by the store; 0 rows; no evidence
    1 session and 0 messages have no session id
    Their id is NULL or empty, which no version of Hermes writes. No context shows them.
    Importing gives messages without an id a session of their own; sessions without one hold nothing.
    {"sessions":1,"rows":0}"
  `)
  expect(ofFile({ nameless: { sessions: 0, rows: 2 } })).toContain(
    '0 sessions and 2 messages have no session id',
  )
  expect(ofFile({ missingColumns: ['messages.api', 'sessions.title'] })).toMatchInlineSnapshot(`
    "missing-columns: note, certain, of no session
    null to null by the store; 0 rows; no evidence
    2 columns are missing that its schema number requires
    It lacks messages.api, sessions.title: a migration did not finish, or the columns were removed. Findings that need them are only suspected, or left out.
    Hermes adds missing columns when it opens the store; copy it first.
    {"columns":["messages.api","sessions.title"]}"
  `)
})

it('tells routes that cannot be read', () => {
  const torn = [
    { key: null, from: 'sessions.json' },
    { key: 'k', from: 'gateway_routing' },
  ]
  expect(ofFile({ torn })).toMatchInlineSnapshot(`
    "torn-route: harm, certain, of no session
    null to null by the store; 0 rows; no evidence
    sessions.json cannot be read
    sessions.json is not JSON that names sessions: it was cut short or overwritten. Chats cannot find their conversations, and an import brings no routes.
    Restore it from a backup; each entry is a key with the \`session_id\` that it leads to.
    {"key":null,"from":"sessions.json"}

    torn-route: harm, certain, of no session
    null to null by the store; 0 rows; no evidence
    The entry of a route cannot be read
    The entry for k in gateway_routing is not JSON, or names no session. The next message there starts without memory.
    Write the entry of k again, with the \`session_id\` of its conversation.
    {"key":"k","from":"gateway_routing"}"
  `)
})

const CLOSED = { endReason: 'compression', endedAt: 300 }
const closed = (given: Given = {}) =>
  surveyed('a', { ...given, session: { ...CLOSED, ...given.session } })
const child = (id: string, given: Given = {}) =>
  surveyed(id, { ...given, session: { parentId: 'a', startedAt: 300, ...given.session } })

it('tells a broken chain of sessions', () => {
  expect(told(findIdentityFaults(view([closed()])))).toMatchInlineSnapshot(`
    "orphaned-parent: harm, certain, of a
    300 to 300 by the store; 0 rows; no evidence
    A session was closed by compaction and nothing continues it
    The row of a says that compaction closed it, yet no session names it as parent. The process ended between closing the old session and writing the new one, or the new one was deleted. Whoever writes next starts without its 3 rows.
    Reopen it (end_reason and ended_at to NULL). \`throughline doctor hermes STORE --repair-to NEW\` does so in a copy. Or import it: its rows are whole.
    {"parent":"a","rows":3}"
  `)
  const fork = [closed(), child('b'), child('c', { rows: 5 })]
  expect(told(findIdentityFaults(view(fork)))).toMatchInlineSnapshot(`
    "fork: harm, certain, of a and b and c
    300 to 300 by the store; 0 rows; no evidence
    Compaction continued one session as 2
    b and c each continue a. Two paths compacted it without knowing of each other; what was said in one is unknown in the other, and which one is answered depends on who asks.
    Hermes follows b. Make the others branches of it, with what was said there appended. \`throughline doctor hermes STORE --repair-to NEW\` does so in a copy. Importing folds all of them into one conversation by time.
    {"parent":"a","children":[{"id":"b","rows":3},{"id":"c","rows":5}],"tip":"b"}"
  `)
  const shell = [closed(), child('b', { rows: 0, live: 0 })]
  expect(told(findIdentityFaults(view(shell)))).toMatchInlineSnapshot(`
    "empty-shell: harm, certain, of a and b
    300 to 300 by the store; 0 rows; no evidence
    The session that compaction opened has not one message
    b was created to continue a and nothing was ever written to it, not even the summary. Whoever follows the compaction arrives in an empty room.
    Close the shell and reopen a. \`throughline doctor hermes STORE --repair-to NEW\` does so in a copy. Importing ignores shells and says so.
    {"parent":"a","shell":"b"}"
  `)
})

it('tells rows after the closing', () => {
  const late = closed({ late: sample(5, 6) })
  expect(told(findIdentityFaults(view([late, child('b')])))).toMatchInlineSnapshot(`
    "rows-after-closing: harm, certain, of a and b
    50 to 60 by the store; 2 rows; row 5, row 6
    2 rows were written to a session that compaction had already closed
    Compaction closed a and its context went elsewhere, but deliveries kept going to the old id. The conversation continues as b, whose context holds none of these rows: 2 messages of people and programs never reached the agent there.
    Nothing is lost from disk: append the rows to b in order of time. \`throughline doctor hermes STORE --repair-to NEW\` does so in a copy. Importing does so too.
    {"parent":"a","tip":"b","closedAt":300,"rows":2}"
  `)
  expect(told(findIdentityFaults(view([late])).slice(0, 1))).toMatchInlineSnapshot(`
    "rows-after-closing: harm, certain, of a
    50 to 60 by the store; 2 rows; row 5, row 6
    2 rows were written to a session that compaction had already closed
    Compaction closed a and its context went elsewhere, but deliveries kept going to the old id. Nothing continues it, so no later context holds these rows: 2 messages of people and programs that nobody ever sees.
    Nothing is lost from disk: importing puts the rows back in their place by time.
    {"parent":"a","tip":"a","closedAt":300,"rows":2}"
  `)
})

it('tells routes that lead astray', () => {
  const routes = [{ key: 'r', sessionId: 'a', from: 'routes.json', entry: {} }]
  const of = (...members: ReturnType<typeof surveyed>[]) =>
    told(
      findIdentityFaults(view(members, { routes })).filter(({ kind }) => kind.startsWith('route')),
    )
  expect(of()).toMatchInlineSnapshot(`
    "route-nowhere: risk, certain, of a
    null to null by the store; 0 rows; no evidence
    A route points to a session that does not exist
    routes.json sends r to a, which this store does not hold.
    The next message there starts a conversation without memory; point the route elsewhere.
    {"key":"r","sessionId":"a","from":"routes.json"}"
  `)
  expect(of(closed())).toMatchInlineSnapshot(`
    "route-on-closed-parent: harm, certain, of a
    300 to null by the store; 0 rows; no evidence
    A route still points to a session that compaction closed
    routes.json sends r to a. Compaction closed that session; what arrives there is written where the agent no longer reads.
    Reopen the session, or start a new one for this route. \`throughline doctor hermes STORE --repair-to NEW\` does so in a copy.
    {"key":"r","sessionId":"a","from":"routes.json","tip":"a"}"
  `)
  expect(of(closed(), child('b'))).toMatchInlineSnapshot(`
    "route-on-closed-parent: harm, certain, of a and b
    300 to null by the store; 0 rows; no evidence
    A route still points to a session that compaction closed
    routes.json sends r to a. Compaction closed that session and continued it as b; what arrives there is written where the agent no longer reads.
    Move the route to b. \`throughline doctor hermes STORE --repair-to NEW\` does so in a copy.
    {"key":"r","sessionId":"a","from":"routes.json","tip":"b"}"
  `)
  const ended = surveyed('a', { session: { endReason: 'idle', endedAt: 300 } })
  expect(of(ended)).toMatchInlineSnapshot(`
    "route-on-ended-session: risk, certain, of a
    300 to null by the store; 0 rows; no evidence
    A route points to a session that was ended by a reset
    routes.json sends r to a, which ended (idle). The gateway gives the route another session when it ends one, but that did not happen: new messages are written after the end, or start without memory.
    Point r to the session that continues, or remove the route so that a new session starts.
    {"key":"r","sessionId":"a","from":"routes.json","endReason":"idle"}"
  `)
})

const ofState = (given: Given) => told(findStateFaults(view([surveyed('a', given)])))

it('tells contradictions within a session', () => {
  expect(ofState({ live: 0, archived: 3 })).toMatchInlineSnapshot(`
    "nothing-live: harm, certain, of a
    null to null by the store; 0 rows; no evidence
    Everything in an open session is archived, and nothing replaces it
    All 3 rows of a are out of the context (3 archived), and no handoff is in it. A compaction in place archived them and wrote no replacement: the next turn starts without memory.
    Importing brings the rows. In Hermes, set \`active\` to 1 and \`compacted\` to 0 for them in a copy.
    {"sessionId":"a","rows":3,"archived":3}"
  `)
  expect(ofState({ session: { endReason: '?!', endedAt: -1 } })).toMatchInlineSnapshot(`
    "odd-ending: risk, certain, of a
    100 to -1 by the store; 0 rows; no evidence
    The end of a session is contradictory
    Of a its \`end_reason\` is not a word, and it ended before 1970. Hermes writes both together. Parts of Hermes disagree on whether to show its 3 rows again.
    Set both in a copy: to NULL where the conversation goes on in it, else to its end and the reason.
    {"sessionId":"a","endReason":"?!","endedAt":-1}"
  `)
  expect(ofState({ session: { endReason: 'compression' } })).toMatchInlineSnapshot(`
    "odd-ending: risk, certain, of a
    100 to null by the store; 0 rows; no evidence
    The end of a session is contradictory
    Of a it has an \`end_reason\` and no \`ended_at\`. Hermes writes both together. It is closed for messages, and no continuation of it is found.
    Set both in a copy: to NULL where the conversation goes on in it, else to its end and the reason.
    {"sessionId":"a","endReason":"compression","endedAt":null}"
  `)
  const times = { oddTimes: sample(4, 5), lastAt: NOW * 2, session: { startedAt: NOW * 2 } }
  expect(ofState(times)).toMatchInlineSnapshot(`
    "impossible-time: risk, certain, of a
    null to null by the store; 2 rows; row 4, row 5
    A session has impossible times
    Of a: 2 rows have no time, or one years away from its beginning; its newest row lies in the future; it begins in the future. Hermes puts rows in order by their time, and finds the newest session by it: such a row is in the wrong place, and such a session hides others.
    Correct the times in a copy. Importing keeps the order in which the rows were written.
    {"sessionId":"a","rows":2}"
  `)
})

it('tells every reason why a session no longer compacts', () => {
  const session = {
    ...{ sessionKey: 'k', cooldownUntil: NOW + 9, cooldownError: 'no model' },
    ...{ fallbackStreak: 2, ineffectiveCount: 3 },
  }
  const stuck = (given: Given, hygiene: number, until: number) =>
    told(
      findStuck({
        ...view([surveyed('a', given)]),
        locks: [{ name: 'a', until }] as never,
        hygiene: new Map([['k', hygiene]]),
      }),
    )
  expect(stuck({ session }, 2, NOW + 9_999)).toMatchInlineSnapshot(`
    "stuck-compaction: risk, certain, of a
    200 to 1000009 by the store; 0 rows; no evidence
    A session can no longer compact itself
    a: its pause after a failed summary lasts for another 9 s; 2 summaries in a row failed and were replaced by a stand-in; 3 compactions in a row saved too little; the gateway's own compaction failed 2 times in a row; its compaction lock ends more than an hour from now. Until that changes its context only grows. The last error was: no model
    Mend the auxiliary model, then send /compress in that conversation: it clears the pause and the strikes.
    {"cooldownUntil":1000009,"cooldownError":"no model","fallbackStreak":2,"ineffectiveCount":3,"hygieneStreak":2}"
  `)
  expect(stuck({ session: { cooldownUntil: 201 } }, 1, 0)).toMatchInlineSnapshot(`
    "stuck-compaction: risk, suspected, of a
    200 to 201 by the store; 0 rows; no evidence
    A session can no longer compact itself
    a: its last summary failed, and nothing was written since that pause began. Until that changes its context only grows.
    Mend the auxiliary model, then send /compress in that conversation: it clears the pause and the strikes.
    {"cooldownUntil":201,"cooldownError":null,"fallbackStreak":0,"ineffectiveCount":0,"hygieneStreak":0}"
  `)
})

const ofRows = (given: Given) => told(findTranscriptFaults(view([surveyed('a', given)])))

it('tells faults among the rows of a session', () => {
  expect(ofRows({ strayResults: sample(4, 7), abandoned: sample(9) })).toMatchInlineSnapshot(`
    "broken-tool-pair: risk, certain, of a
    40 to 90 by the store; 3 rows; row 4, row 7, row 9
    The live context holds 2 tool results without a call and 1 tool call without a result
    In the rows of a that the model is shown, calls and results do not match. Providers refuse such a request, or the model runs the tool again.
    Importing keeps the rows and marks the missing half; a repaired copy for Hermes leaves them as they are.
    {"strayResults":2,"openCalls":1}"
  `)
  expect(ofRows({ doubled: sample(4, 6) })).toMatchInlineSnapshot(`
    "doubled-rows: risk, certain, of a
    40 to 60 by the store; 2 rows; row 4, row 6
    2 rows stand twice in one live context
    These rows of a say word for word and at the same instant what an earlier live row says: a copy was made and its original was left in the context. The model reads the same thing twice and pays for it twice.
    Importing takes each row once.
    {"rows":2}"
  `)
  const carried = [closed(), child('b', { carried: sample(4) })]
  expect(told(findTranscriptFaults(view(carried)))).toMatchInlineSnapshot(`
    "carried-over-rows: note, certain, of b and a
    40 to 40 by the store; 1 rows; row 4
    1 row is a copy of the session before
    Compaction by rotation copies the newest rows into the new session. That is how it works and no fault; whoever counts or exports messages counts them twice.
    Importing recognizes them and takes each once.
    {"rows":1}"
  `)
  const homeless = { survey: { homeless: new Map([['gone', { count: 3, ids: [8] }]]) } }
  expect(told(findTranscriptFaults(view([], homeless)))).toMatchInlineSnapshot(`
    "homeless-rows: risk, certain, of gone
    80 to 80 by the store; 3 rows; row 8
    3 rows belong to a session that does not exist
    No session is called gone: it was deleted, or its rows were written by a connection that did not check foreign keys. No context shows them.
    Give them an empty session of that name. \`throughline doctor hermes STORE --repair-to NEW\` does so in a copy. Importing gives them a session of their own.
    {"rows":3}"
  `)
})

it('gives no time to rows without one', () => {
  const read = (id: number) => row(id, { at: null })
  const [found] = findTranscriptFaults(view([surveyed('a', { doubled: sample(4) })], { read }))
  expect([found?.from, found?.to]).toEqual([null, null])
})

it('tells a session that was written anew', () => {
  const burst = {
    rows: 6,
    firstId: 20,
    lastId: 25,
    handoffId: null,
    firstAt: 500,
    isAlone: true,
    hasTools: false,
  }
  const one = surveyed('a', { firstId: 20, bornAfterId: 3, burst: burst as never })
  const of = (gone: number, logged: readonly object[]) =>
    told(findRewrites(view([one], { survey: { missingBetween: () => gone } }), logged as never))
  const read = [{ done: { at: 500, fact: { sessionId: 'a', after: 6, before: 1 } } }]
  expect(of(16, read)).toMatchInlineSnapshot(`
    "destructive-rewrite: harm, certain, of a
    100 to 500 by the store; 6 rows; row 20, row 25
    1 to 16 rows of a session were deleted, and 6 written in their place
    Rows 20 to 25 of a are a microsecond apart and hold a summary: the gateway compacted the session outside of the agent and replaced its transcript, deleting every row first. 16 row numbers are missing between the beginning of the session and the rewrite: the deleted rows, and others if anything was deleted in that time for another reason (/undo and /retry write a whole session again). The log says that the compaction read 1 message, tool rows not counted. Tool calls and results are not among what was written back.
    The database cannot give the rows back. Look for a backup of state.db, for its -wal file of that day, for JSONL transcripts in sessions/, and for inbound messages in the logs.
    {"sessionId":"a","rowsGone":16,"isUpperBound":true,"rowsGoneAtLeast":1,"rowsWritten":6,"rewrittenAt":500,"toolCallsCounted":null}"
  `)
  expect(of(1, [])).toMatchInlineSnapshot(`
    "destructive-rewrite: harm, certain, of a
    100 to 500 by the store; 6 rows; row 20, row 25
    Up to 1 row of a session was deleted, and 6 written in their place
    Rows 20 to 25 of a are a microsecond apart and hold a summary: the gateway compacted the session outside of the agent and replaced its transcript, deleting every row first. 1 row number is missing between the beginning of the session and the rewrite: the deleted rows, and others if anything was deleted in that time for another reason (/undo and /retry write a whole session again). Tool calls and results are not among what was written back.
    The database cannot give the rows back. Look for a backup of state.db, for its -wal file of that day, for JSONL transcripts in sessions/, and for inbound messages in the logs.
    {"sessionId":"a","rowsGone":1,"isUpperBound":true,"rowsGoneAtLeast":null,"rowsWritten":6,"rewrittenAt":500,"toolCallsCounted":null}"
  `)
  expect(of(0, [])).toMatchInlineSnapshot(`
    "destructive-rewrite: harm, suspected, of a
    100 to 500 by the store; 6 rows; row 20, row 25
    A session was deleted and written anew in a shorter form
    Rows 20 to 25 of a are a microsecond apart and hold a summary: the gateway compacted the session outside of the agent and replaced its transcript, deleting every row first. No row numbers are missing before it, so how much was deleted cannot be told. Tool calls and results are not among what was written back.
    The database cannot give the rows back. Look for a backup of state.db, for its -wal file of that day, for JSONL transcripts in sessions/, and for inbound messages in the logs.
    {"sessionId":"a","rowsGone":0,"isUpperBound":true,"rowsGoneAtLeast":null,"rowsWritten":6,"rewrittenAt":500,"toolCallsCounted":null}"
  `)
})

it('tells a denial with what was lost, and the lines of the log that show both', () => {
  const rows = [
    row(1, { text: 'The keys are\nunder the mat by the door of the old house' }),
    row(2, { text: 'Where are the keys?' }),
    row(3, { role: 'assistant', text: 'I have no record.' }),
    row(4, { text: '' }),
  ]
  const read = (id: number) => rows.find((each) => each.id === id) ?? null
  const loss = (kind: 'rows-after-closing' | 'fork', unseen: readonly number[]) =>
    ({
      ...{ kind, sessionIds: ['a'], from: 5, title: 'Two branches' },
      rows: unseen.map(read),
    }) as unknown as Finding
  const said = (line: number, fact: object) => ({ line, path: 'agent.log', text: '', fact })
  const events = [
    said(1, { kind: 'inbound', said: 'The keys are under the mat by the door of the o...' }),
    said(2, { kind: 'inbound', said: '' }),
    said(3, { kind: 'turn', sessionId: 'a', said: 'Where are the keys?' }),
    said(4, { kind: 'turn', sessionId: 'b', said: 'Where are the keys?' }),
    said(5, { kind: 'turn', sessionId: 'a', said: '' }),
  ] as never
  const of = (askedId: number | null, fault: Finding) => {
    const denials = [{ id: 3, askedId }] as never
    return told(
      findDenials({ view: view([surveyed('a', { denials })], { read }), faults: [fault], events }),
    )
  }
  expect(of(2, loss('rows-after-closing', [1]))).toMatchInlineSnapshot(`
    "said-no-record: harm, suspected, of a
    30 to 30 by the store; 3 rows; row 1, row 2, row 3, line 1, line 3
    The agent said that it has no record, after messages had been lost to it
    In a the agent denies knowing something. Before that, 1 row went to a, which its context does not include. That it speaks of just these messages is likely and not proven.
    Do not let the agent write such a finding into its memory; it is false.
    {"saidIn":3,"askedIn":2,"unseen":[1]}"
  `)
  expect(of(null, loss('fork', [1]))).toMatchInlineSnapshot(`
    "said-no-record: harm, suspected, of a
    30 to 30 by the store; 1 rows; row 3
    The agent said that it has no record, after messages had been lost to it
    In a the agent denies knowing something. Before that, the conversation had suffered this: Two branches. That it speaks of just these messages is likely and not proven.
    Do not let the agent write such a finding into its memory; it is false.
    {"saidIn":3,"askedIn":null,"unseen":[]}"
  `)
  expect(of(4, loss('rows-after-closing', [4]))).toMatchInlineSnapshot(`
    "said-no-record: harm, suspected, of a
    30 to 30 by the store; 3 rows; row 4, row 4, row 3
    The agent said that it has no record, after messages had been lost to it
    In a the agent denies knowing something. Before that, 1 row went to a, which its context does not include. That it speaks of just these messages is likely and not proven.
    Do not let the agent write such a finding into its memory; it is false.
    {"saidIn":3,"askedIn":4,"unseen":[4]}"
  `)
})
