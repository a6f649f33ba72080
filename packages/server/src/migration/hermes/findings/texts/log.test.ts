import { expect, it } from 'vitest'
import { textOf } from '../../../../../../../test/support/hermes-diagnosis.ts'
import { eventOf } from '../../read/log.ts'
import { findPoisonedClients } from '../client.ts'
import type { Finding } from '../finding.ts'
import { findDropped, findPauses, findTornSummaries } from '../log-faults.ts'
import { findLogIdentityFaults, type Held } from '../log-identity.ts'
import { pairOperations } from '../operations.ts'

const OLD = '20260301_080000_0a1b2c3d'
const NEW = '20260301_090030_4e5f60'
const OTHER = '20260301_070000_99887766'
/** 1 March 2026, 9:00, by the clock of the log. */
const NINE = 1_772_355_600

function judge(lines: readonly string[], held: Held | null = null): Finding[] {
  const events = lines.flatMap(
    (text, at) => eventOf(text, { path: 'agent.log', line: at + 1 }) ?? [],
  )
  const operations = pairOperations(events)
  const heldOf = () => held
  return [
    ...findLogIdentityFaults({ operations, events, isSameConversation: () => false, heldOf }),
    ...findTornSummaries(operations.pairs),
    ...findPoisonedClients(events),
    ...findPauses(events),
    ...findDropped(events),
  ]
}

const at = (time: string, tag: string | null, message: string) =>
  `2026-03-01 ${time} INFO${tag === null ? '' : ` [${tag}]`} agent.c: ${message}`
const started = (time: string, tag: string | null, id: string, messages: number) =>
  at(time, tag, `context compression started: session=${id} messages=${messages} tokens=~9`)
const done = (time: string, tag: string | null, id: string, counts: string, rest = 'tokens=~5') =>
  at(time, tag, `context compression done:    session=${id} messages=${counts} ${rest}`)
const failed = (time: string, error: string) =>
  at(time, OLD, `Failed to generate context summary: ${error}`)
const using = (time: string) => at(time, OLD, 'Auxiliary compression: using main (m) at https://x/')
const timeout = failed('09:00:20', 'stream exceeded 20.0s total timeout.')
const answered = at('09:03:00', OLD, `Turn ended: reason=x response_len=9 session=${OLD}`)
const skipped = (time: string) =>
  at(
    time,
    OLD,
    `Skipping preflight compression: same-session cooldown active (~9 s, session ${OLD})`,
  )
const dropped = (time: string) =>
  at(time, null, 'Dropping busy-mode follow-up for session agent:k — pending queue at cap (32).')

const NAMES = { [OLD]: 'OLD', [NEW]: 'NEW', [OTHER]: 'OTHER' }

/** Seconds after nine, and short names for the ids. */
function told(lines: readonly string[], held?: Held | null): string {
  const found = judge(lines, held)
  expect(found.flatMap((one) => one.lines)).toEqual(
    found.flatMap((one) =>
      one.lines.map(({ line }) => ({ path: 'agent.log', line, text: lines[line - 1] })),
    ),
  )
  const since = (time: number | null) => (time === null ? null : time - NINE)
  const texts = found.map((one) => textOf({ ...one, from: since(one.from), to: since(one.to) }))
  const text = texts.join('\n\n')
  return Object.entries(NAMES).reduce((all, [id, name]) => all.replaceAll(id, name), text)
}

it('tells a change of identity', () => {
  const change = [started('09:00:00', OLD, OLD, 194), done('09:00:30', OLD, NEW, '194->26')]
  expect(told(change)).toMatchInlineSnapshot(`
    "identity-changed: harm, certain, of OLD and NEW
    0 to 30 by the log; 0 rows; line 1, line 2
    A compaction began under one session id and ended under another
    It started on OLD with 194 messages and was done as NEW with 26. Compaction closed the first session and opened the second; the six hex digits of the new id are those that compaction gives, the gateway gives eight. Nothing in the log says that the gateway followed. Until it does, messages are delivered to the old id, where the agent no longer reads: it then reports "no record" of them in good faith.
    Look at OLD for rows after its closing and at the route of this conversation; both belong to NEW now.
    {"from":"OLD","to":"NEW","messagesBefore":194,"messagesAfter":26,"routeFollowed":false}"
  `)
  const split = at('09:00:31', null, `Session split detected: ${OLD} → ${NEW} (compression)`)
  expect(told([...change, split])).toMatchInlineSnapshot(`
    "identity-changed: note, certain, of OLD and NEW
    0 to 30 by the log; 0 rows; line 1, line 2
    A compaction began under one session id and ended under another
    It started on OLD with 194 messages and was done as NEW with 26. Compaction closed the first session and opened the second; the six hex digits of the new id are those that compaction gives, the gateway gives eight. The gateway noticed the split and moved its route, so the change did no harm by itself.
    Look at OLD for rows after its closing and at the route of this conversation; both belong to NEW now.
    {"from":"OLD","to":"NEW","messagesBefore":194,"messagesAfter":26,"routeFollowed":true}"
  `)
  const eight = [
    started('09:00:00', null, OLD, 50),
    started('09:00:01', null, OTHER, 50),
    done('09:00:30', null, `${NEW}77`, '50->5'),
  ]
  expect(told(eight)).toMatchInlineSnapshot(`
    "identity-changed: harm, suspected, of OTHER and NEW77
    1 to 30 by the log; 0 rows; line 2, line 3
    A compaction began under one session id and ended under another
    It started on OTHER with 50 messages and was done as NEW77 with 5. Compaction closed the first session and opened the second. Nothing in the log says that the gateway followed. Until it does, messages are delivered to the old id, where the agent no longer reads: it then reports "no record" of them in good faith. Another compaction that was open at the time counted as many messages, so the pairing is the likeliest, not the only one.
    Look at OTHER for rows after its closing and at the route of this conversation; both belong to NEW77 now.
    {"from":"OTHER","to":"NEW77","messagesBefore":50,"messagesAfter":5,"routeFollowed":false}"
  `)
})

it('tells the end of a compaction whose start is in no log', () => {
  expect(told([done('09:00:35', OLD, NEW, '194->26')])).toMatchInlineSnapshot(`
    "identity-changed: harm, suspected, of OLD and NEW
    35 to 35 by the log; 0 rows; line 1
    A compaction ended under an id that was made at that moment
    NEW is as old as the line that reports it done (194 messages became 26), and the log holds no start for it. By its bracket the compaction began as OLD; the line that says so is not in these logs.
    Add the log that was rotated away, and look at the old id for rows after its closing.
    {"from":"OLD","to":"NEW","messagesBefore":194,"messagesAfter":26}"
  `)
})

it.each([
  [done('09:00:25', OLD, NEW, '194->26'), 1],
  [done('09:00:36', OLD, NEW, '194->26'), 0],
  [done('09:00:24', OLD, NEW, '194->26'), 0],
  [done('09:00:30', null, NEW, '194->26'), 0],
  [done('09:00:30', NEW, NEW, '194->26'), 0],
  [done('09:00:30', OLD, 'session-2', '194->26'), 0],
])('finds in %s a new identity %i times', (line, count) => {
  expect(judge([line])).toHaveLength(count)
})

it('tells a foreign bracket', () => {
  const old = [started('09:00:00', OTHER, OLD, 39), done('09:00:30', OTHER, OLD, '39->13')]
  expect(told(old)).toMatchInlineSnapshot(`
    "foreign-tag: harm, certain, of OLD and OTHER
    0 to 30 by the log; 0 rows; line 1, line 2
    A compaction of one session is logged under another session's name
    The lines stand in the bracket of OTHER and speak of OLD. The bracket belongs to the thread, nothing clears it, and compaction outside of a turn runs on a thread that served somebody else before: one session did not compact the other. That the id stays the same and only 39 messages were counted fits the gateway's own compaction of that time, which deleted every row of the session and wrote 13 back. So up to 26 messages, and all tool rows, are gone from the store.
    Run the doctor on the store: rows of OLD a microsecond apart, with a summary among them, prove the rewrite.
    {"sessionId":"OLD","tag":"OTHER","messagesBefore":39,"messagesAfter":13,"rewriteLikely":true}"
  `)
  expect(told(old, { isRewritten: true, hasToolRows: true })).toMatchInlineSnapshot(`
    "foreign-tag: harm, certain, of OLD and OTHER
    0 to 30 by the log; 0 rows; line 1, line 2
    A compaction of one session is logged under another session's name
    The lines stand in the bracket of OTHER and speak of OLD. The bracket belongs to the thread, nothing clears it, and compaction outside of a turn runs on a thread that served somebody else before: one session did not compact the other. That the id stays the same and only 39 messages were counted fits the gateway's own compaction of that time, which deleted every row of the session and wrote 13 back. So up to 26 messages are gone from the store.
    Run the doctor on the store: rows of OLD a microsecond apart, with a summary among them, prove the rewrite.
    {"sessionId":"OLD","tag":"OTHER","messagesBefore":39,"messagesAfter":13,"rewriteLikely":true}"
  `)
  expect(told(old, { isRewritten: false, hasToolRows: false })).toMatchInlineSnapshot(`
    "foreign-tag: risk, certain, of OLD and OTHER
    0 to 30 by the log; 0 rows; line 1, line 2
    A compaction of one session is logged under another session's name
    The lines stand in the bracket of OTHER and speak of OLD. The bracket belongs to the thread, nothing clears it, and compaction outside of a turn runs on a thread that served somebody else before: one session did not compact the other. The rows of the session in the store do not look like the result of a rewrite: nothing is lost, and only the log is wrong.
    Go by "session=" in these lines, never by the bracket.
    {"sessionId":"OLD","tag":"OTHER","messagesBefore":39,"messagesAfter":13,"rewriteLikely":false}"
  `)
  const late = [
    started('09:00:00', null, OLD, 39),
    done('09:00:30', OTHER, OLD, '39->13', 'rough_tokens=~17'),
  ]
  expect(told(late)).toMatchInlineSnapshot(`
    "foreign-tag: risk, certain, of OLD and OTHER
    0 to 30 by the log; 0 rows; line 1, line 2
    A compaction of one session is logged under another session's name
    The lines stand in the bracket of OTHER and speak of OLD. The bracket belongs to the thread, nothing clears it, and compaction outside of a turn runs on a thread that served somebody else before: one session did not compact the other. This version archives rows instead of deleting them, so only the log is wrong: do not trust its brackets.
    Go by "session=" in these lines, never by the bracket.
    {"sessionId":"OLD","tag":"OTHER","messagesBefore":39,"messagesAfter":13,"rewriteLikely":false}"
  `)
})

it('tells a compaction without a summary', () => {
  const torn = (error: string) =>
    told([
      started('09:00:00', OLD, OLD, 169),
      failed('09:00:20', error),
      done('09:00:30', OLD, NEW, '169->8'),
    ])
  expect(torn('stream interrupted.')).toMatchInlineSnapshot(`
    "identity-changed: harm, certain, of OLD and NEW
    0 to 30 by the log; 0 rows; line 1, line 3
    A compaction began under one session id and ended under another
    It started on OLD with 169 messages and was done as NEW with 8. Compaction closed the first session and opened the second; the six hex digits of the new id are those that compaction gives, the gateway gives eight. Nothing in the log says that the gateway followed. Until it does, messages are delivered to the old id, where the agent no longer reads: it then reports "no record" of them in good faith.
    Look at OLD for rows after its closing and at the route of this conversation; both belong to NEW now.
    {"from":"OLD","to":"NEW","messagesBefore":169,"messagesAfter":8,"routeFollowed":false}

    torn-summary: harm, certain, of OLD and NEW
    0 to 30 by the log; 0 rows; line 1, line 2, line 3
    A compaction dropped 161 messages without a summary of them
    The call for the summary was interrupted: a message or a notification arrived while it ran. The compaction went on all the same and kept 8 of 169 messages, with a stand-in text where the summary belongs. The agent continued without the middle of its work.
    The rows are still in the store. Raise the time limit of the auxiliary model if it was a timeout; importing writes the summary anew from the rows.
    {"cause":"interrupted","error":"stream interrupted.","messagesBefore":169,"messagesAfter":8}"
  `)
  const cause = (error: string) => /"cause":"(\w+)"/.exec(torn(error))?.[1]
  const causes = ['Request timed out.', 'Connection reset by peer', 'no such model'].map(
    (error) => [cause(error), /\nThe call for the summary (.*?)\. The/.exec(torn(error))?.[1]],
  )
  expect(causes).toEqual([
    ['timeout', 'ran out of time'],
    ['connection', 'failed on its connection'],
    ['other', 'failed'],
  ])
})

it.each([
  ['169->168', 1],
  ['169->169', 0],
])('finds a torn summary in a compaction of %s messages %i times', (counts, count) => {
  const lines = [
    started('09:00:00', OLD, OLD, 169),
    failed('09:00:20', 'x'),
    done('09:00:30', OLD, OLD, counts),
  ]
  expect(judge(lines)).toHaveLength(count)
})

it('tells a poisoned client', () => {
  const refused = (time: string) => failed(time, 'Connection error..')
  expect(
    told([using('09:00:00'), timeout, answered, using('09:05:00'), refused('09:05:05')]),
  ).toMatchInlineSnapshot(`
    "poisoned-client: harm, certain, of OLD
    20 to 305 by the log; 0 rows; line 2, line 5
    One timeout broke the auxiliary client: 1 later call failed on its connection
    A summary on main (m) at https://x/ ran out of time. That closes the client, and its cache goes on handing out the closed one: 1 auxiliary call on the same route then failed with a connection error, 1 of them within 5 seconds, while the main model answered 1 turn in the same time. It was not the network.
    Restart the gateway to get a fresh client; raise auxiliary.compression.timeout. Hermes evicts such clients since 10 May 2026.
    {"route":"main (m) at https://x/","errors":1,"quick":1,"turnsAnswered":1}"
  `)
  expect(
    told([using('09:00:00'), timeout, using('09:05:00'), refused('09:05:06'), refused('09:05:07')]),
  ).toMatchInlineSnapshot(`
    "poisoned-client: harm, suspected, of OLD
    20 to 307 by the log; 0 rows; line 2, line 4, line 5
    One timeout broke the auxiliary client: 2 later calls failed on its connection
    A summary on main (m) at https://x/ ran out of time. That closes the client, and its cache goes on handing out the closed one: 2 auxiliary calls on the same route then failed with a connection error. The lines do not show whether the main model answered meanwhile; if it did not, it may have been the network.
    Restart the gateway to get a fresh client; raise auxiliary.compression.timeout. Hermes evicts such clients since 10 May 2026.
    {"route":"main (m) at https://x/","errors":2,"quick":0,"turnsAnswered":0}"
  `)
})

it('tells skipped compactions', () => {
  const skips = [skipped('09:01:00'), skipped('09:02:00'), skipped('09:03:00')]
  expect(told(skips)).toMatchInlineSnapshot(`
    "stuck-compaction: risk, certain, of OLD
    60 to 180 by the log; 0 rows; line 1, line 2, line 3
    Compaction was due 3 times and skipped each time
    OLD was over its threshold, and each turn skipped compaction because of the pause after a failed summary. Its context only grew meanwhile.
    Mend the auxiliary model, then send /compress in that conversation: it clears the pause.
    {"skipped":3}"
  `)
  const end = done('09:04:00', OLD, OLD, '9->3')
  const kinds = (...lines: readonly string[]) => judge(lines).map(({ facts }) => facts['skipped'])
  expect(kinds(...skips, end, ...skips, skipped('09:08:00'))).toEqual([3, 4])
  expect(kinds(skipped('09:01:00'), skipped('09:02:00'), end, skipped('09:08:00'))).toEqual([])
})

it('tells dropped messages, and quotes fifty lines at most', () => {
  expect(told([dropped('09:01:00'), dropped('09:02:00')])).toMatchInlineSnapshot(`
    "dropped-message: harm, certain, of no session
    60 to 120 by the log; 0 rows; line 1, line 2
    2 messages were dropped because the queue was full
    While the agent behind agent:k was busy its queue reached the limit; what came then was thrown away and stands nowhere.
    Ask the senders to repeat; the platform may still have the messages.
    {"key":"agent:k","messages":2}"
  `)
  const many = Array.from({ length: 51 }, () => dropped('09:01:00'))
  expect(judge(many)).toMatchObject([{ facts: { messages: 51 }, lines: { length: 50 } }])
  const skips = Array.from({ length: 51 }, () => skipped('09:01:00'))
  expect(judge(skips)).toMatchObject([{ facts: { skipped: 51 }, lines: { length: 50 } }])
})
