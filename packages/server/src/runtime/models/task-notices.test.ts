import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'

it.each([
  ['fits whole', 6_000, []],
  ['does not fit', 60_000, ['message-shortened']],
])('a long message that %s', async (_, words, expected) => {
  const { runtime } = await open()
  await runtime.createSession({ agent: 'main', id: 's' })
  const session = runtime.session(sessionId('s'))
  const codes: string[] = []
  const stop = new AbortController()
  const listening = (async () => {
    for await (const event of session.events({}, stop.signal)) {
      if (event.type === 'live' && event.kind === 'notice') codes.push(event.code)
    }
  })()
  const text = Array.from({ length: words }, () => 'tea').join(' ')
  const mail = mailOf(await session.admit(say(text, '1')))
  expect(await session.reply(mail, soon())).toMatchObject({ ended: 'answered' })
  stop.abort()
  await listening
  expect(codes).toEqual(expected)
})
