import { type Api, BotError, type Context, GrammyError } from 'grammy'
import type { Update } from 'grammy/types'
import { expect, it } from 'vitest'
import { backOff, pollUpdates } from './polling.ts'

const CONFLICT =
  'Another process asks Telegram for updates with the same token, so each of us gets only some of them. Stop one of the two, or give it another bot.'
const REFUSED = 'Telegram does not know this token. Ask @BotFather for the current one.'
const UNREACHABLE = 'Telegram cannot be reached; trying again.'

function refusal(code: number, parameters = {}): GrammyError {
  const error = { ok: false, error_code: code, description: 'no', parameters } as const
  return new GrammyError('refused', error, 'getUpdates', {})
}

/**
 * Polls until Telegram has given all of these answers, and asks once more at the end. Each wait ends at
 * once and moves the clock; what happens is noted in order.
 */
async function poll(
  answers: readonly (Error | readonly (number | null)[])[],
  fates: readonly (Error | 'end')[] = [],
) {
  const log: unknown[] = []
  const closing = new AbortController()
  let now = 0
  let asked = 0
  let taken = 0
  const api = {
    getUpdates: async ({ offset, ...rest }: { offset: number }) => {
      if (closing.signal.aborted) {
        log.push(['bye', offset, rest])
        throw new Error('late')
      }
      log.push(asked === 0 ? ['ask', offset, rest] : ['ask', offset])
      const answer = asked < answers.length ? answers[asked] : new Error('aborted')
      asked++
      if (asked > answers.length) closing.abort()
      if (answer instanceof Error) throw answer
      return (answer ?? []).map((id) => (id === null ? {} : { update_id: id }))
    },
  } as unknown as Api
  await pollUpdates({
    ...{ api, signal: closing.signal, retryMs: 1_000 },
    take: async ({ update_id: id }: Update) => {
      log.push(['take', id])
      const fate = fates[taken++]
      if (fate instanceof Error) throw fate
      if (fate === 'end') closing.abort()
    },
    setAside: () => void log.push('set aside'),
    report: (problem) => void log.push(problem),
    clock: {
      now: () => now,
      monotonic: () => now,
      after: (delayMs, callback) => {
        log.push(delayMs)
        now += delayMs
        queueMicrotask(callback)
        return () => {}
      },
    },
  })
  const [first, ...rest] = log
  expect(first).toEqual(['ask', 0, { timeout: 30, ...TERMS }])
  return rest
}

const TERMS = { limit: 100, allowed_updates: ['message', 'edited_message'] }
const bye = (offset: number) => ['bye', offset, { timeout: 0, ...TERMS }]

it('acknowledges an update by the next request, and the last ones when it ends', async () => {
  expect(await poll([[], [4, 5], [6]])).toEqual([
    ...[null, ['ask', 0], ['take', 4], ['take', 5], null],
    ...[['ask', 6], ['take', 6], null, ['ask', 7], bye(7)],
  ])
})

it('says no goodbye if it has taken nothing', async () => {
  expect(await poll([])).toEqual([])
})

it('tries an update until it is taken, and those behind it wait', async () => {
  const failed = new BotError(new RangeError('x'), {} as Context)
  const problem = (kind: string) =>
    `An update of Telegram cannot be stored; trying again. (${kind})`
  expect(await poll([[4, 5]], [failed, new TypeError('y')])).toEqual([
    ...[['take', 4], problem('RangeError'), 1_000, ['take', 4], problem('TypeError'), 2_000],
    ...[['take', 4], ['take', 5], null, ['ask', 6], bye(6)],
  ])
})

it('does not acknowledge the update during which it ends', async () => {
  expect(await poll([[4, 5]], [new Error('x'), 'end'])).toEqual([
    ['take', 4],
    'An update of Telegram cannot be stored; trying again. (Error)',
    ...[1_000, ['take', 4], null],
  ])
})

it('sets aside what has no id, and waits if that is all that there is', async () => {
  expect(await poll([[null, 4], [null]])).toEqual([
    ...['set aside', ['take', 4], null, ['ask', 5], 'set aside', 1_000, ['ask', 5], bye(5)],
  ])
})

it('reports an outage that lasts, and its end', async () => {
  const away = Array.from({ length: 8 }, () => new Error('socket'))
  expect(await poll([...away, [], new Error('socket')])).toEqual([
    ...[1_000, ['ask', 0], 2_000, ['ask', 0], 4_000, ['ask', 0]],
    ...[UNREACHABLE, 8_000, ['ask', 0], UNREACHABLE, 16_000, ['ask', 0]],
    ...[UNREACHABLE, 32_000, ['ask', 0], UNREACHABLE, 32_000, ['ask', 0]],
    ...[UNREACHABLE, 32_000, ['ask', 0], null, ['ask', 0], 1_000, ['ask', 0]],
  ])
})

it('waits as long as Telegram asks, if that is longer', async () => {
  const limited = (seconds: number) => refusal(429, { retry_after: seconds })
  expect(await poll([limited(7), limited(1)])).toEqual([7_000, ['ask', 0], 2_000, ['ask', 0]])
})

it('reports a wrong token at once', async () => {
  expect(await poll([refusal(401)])).toEqual([REFUSED, 1_000, ['ask', 0]])
})

it('reports another process until a minute has passed without a conflict', async () => {
  const [conflict, away] = [refusal(409), refusal(429, { retry_after: 59 })]
  const minute = refusal(429, { retry_after: 60 })
  expect(await poll([conflict, [], away, [], refusal(429), []])).toEqual([
    ...[CONFLICT, 1_000, ['ask', 0], ['ask', 0], 59_000, ['ask', 0], ['ask', 0], 1_000],
    ...[['ask', 0], null, ['ask', 0]],
  ])
  expect(await poll([conflict, minute, []])).toEqual([
    ...[CONFLICT, 1_000, ['ask', 0], 60_000, ['ask', 0], null, ['ask', 0]],
  ])
})

it('waits twice as long after each failure, up to 32 times', () => {
  expect([0, 1, 4, 5, 6, 99].map((failures) => backOff(10, failures))).toEqual([
    ...[10, 20, 160, 320, 320, 320],
  ])
})
