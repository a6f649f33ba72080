import { GrammyError } from 'grammy'
import { expect, it } from 'vitest'
import {
  isAboutMarkup,
  isConflict,
  isUnauthorized,
  isUnchanged,
  movedTo,
  readTelegramFailure,
} from './failures.ts'

function refusal(code: number, description: string, parameters = {}): GrammyError {
  const error = { ok: false, error_code: code, description, parameters } as const
  return new GrammyError('refused', error, 'sendMessage', {})
}

it.each([
  [403, 'Forbidden: bot was blocked by the user', 'final'],
  [400, 'Bad Request: chat not found', 'final'],
  [400, 'Bad Request: message to edit not found', 'gone'],
  [400, "Bad Request: message can't be edited", 'gone'],
  [400, 'Bad Request: MESSAGE_ID_INVALID', 'gone'],
  [400, 'Bad Request: group chat was upgraded to a supergroup chat', 'gone'],
  [429, 'Too Many Requests', 'rate'],
  [401, 'Unauthorized', 'outage'],
  [500, 'Internal Server Error', 'outage'],
  [502, 'Bad Gateway', 'outage'],
])('%i %s is %s', (code, description, why) => {
  const failure = readTelegramFailure(refusal(code, description))
  expect(failure).toEqual({
    ...{ kind: 'failed', why },
    text: `Telegram refused with ${code}: ${description}`,
  })
})

it('waits as long as Telegram asks, with any status code', () => {
  for (const code of [429, 500]) {
    const failure = readTelegramFailure(refusal(code, 'Slow down', { retry_after: 7 }))
    expect(failure).toMatchObject({ why: 'rate', retryAfterMs: 7_000 })
  }
  expect(readTelegramFailure(refusal(429, 'Slow down'))).not.toHaveProperty('retryAfterMs')
})

it('treats anything but an answer from Telegram as an outage', () => {
  const failure = readTelegramFailure(new Error('socket hang up'))
  expect(failure).toEqual({ kind: 'failed', why: 'outage', text: 'Telegram cannot be reached.' })
})

it('recognizes what an error is about', () => {
  const answers = {
    markup: refusal(400, "Bad Request: can't parse entities"),
    empty: refusal(400, 'Bad Request: message text is empty'),
    unchanged: refusal(400, 'Bad Request: message is not modified'),
    conflict: refusal(409, 'Conflict: terminated by other getUpdates request'),
    unauthorized: refusal(401, 'Unauthorized'),
    missing: refusal(404, 'Not Found'),
    parsed: refusal(500, "can't parse entities"),
    moved: refusal(400, 'upgraded', { migrate_to_chat_id: -1005 }),
    other: new Error("message is not modified, can't parse entities"),
  }
  const which = (is: (error: unknown) => boolean) =>
    Object.entries(answers).flatMap(([name, error]) => (is(error) ? [name] : []))
  expect(which(isAboutMarkup)).toEqual(['markup', 'empty'])
  expect(which(isUnchanged)).toEqual(['unchanged'])
  expect(which(isConflict)).toEqual(['conflict'])
  expect(which(isUnauthorized)).toEqual(['unauthorized', 'missing'])
  expect(which((error) => movedTo(error) === -1005)).toEqual(['moved'])
})
