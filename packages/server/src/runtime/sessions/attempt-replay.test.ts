import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { RunningAttempts } from '#core/session/events/attempt-replay'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import type { Session } from '../runtime.ts'

const WORDS = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ')

/** The text that a new listener receives of the answer being written. */
function watch(session: Session) {
  const stop = new AbortController()
  const read = { text: '', isCaughtUp: false }
  const listening = (async () => {
    for await (const event of session.events({}, stop.signal)) {
      if (event.type === 'caught-up') read.isCaughtUp = true
      if (event.type === 'live' && event.kind === 'void') read.text = ''
      if (event.type === 'live' && event.kind === 'delta') read.text += event.text
    }
  })()
  const close = async () => {
    stop.abort()
    await listening
  }
  return { read, close }
}

describe('an answer in progress', () => {
  it('is replayed from its start to a later listener, and no longer once it is stored', async () => {
    const { runtime, model } = await open()
    await runtime.createSession({ agent: 'main', id: 'late' })
    const session = runtime.session(sessionId('late'))
    // The model sends half of the answer and then nothing more.
    model.server.faults.next('stall-mid-stream; after=0.5')
    const first = watch(session)
    await until(async () => first.read.isCaughtUp)
    const mail = mailOf(await session.admit(say(`say ${WORDS}`, '1')))
    await until(async () => first.read.text.includes('word9 '))
    const second = watch(session)
    await until(async () => second.read.text !== '' && second.read.text === first.read.text)
    expect(WORDS.startsWith(second.read.text)).toBe(true)
    await session.stop({ source: 'test', key: 'stop' })
    await session.reply(mail, soon())
    const third = watch(session)
    await until(async () => third.read.isCaughtUp)
    await until(async () => (await session.summary())?.state === 'idle')
    expect(third.read.text).toBe('')
    for (const { close } of [first, second, third]) await close()
  })
})

describe('Writing', () => {
  it('keeps at most its limit of an attempt, however long the answer', () => {
    const attempts = new RunningAttempts()
    const session = sessionId('long')
    const id = { turn: 1, step: 1, attempt: 'a' }
    const piece = { ...id, kind: 'delta', text: 'x'.repeat(1_000) } as const
    for (let n = 0; n < 3_000; n++) attempts.note(session, piece)
    const replayed = attempts.replay(session)
    expect(replayed.map((event) => 'kind' in event && event.kind)).toEqual(['void', 'delta'])
    expect(JSON.stringify(replayed).length).toBeLessThan(1_001_000)
    const other = sessionId('restless')
    for (let n = 0; n < 30_000; n++) {
      attempts.note(other, { ...id, kind: n % 2 === 0 ? 'delta' : 'reasoning', text: 'x' })
    }
    expect(attempts.replay(other).length).toBeLessThan(10_000)
  })
})
