import { describe, expect, it } from 'vitest'
import { HookSecretError, isAmbiguous, isGenuine, readHook, sign } from './webhook.ts'

const to = { agent: 'main', channel: 'hook', address: 'builds' }
const keysOf = (...secrets: string[]) => readHook({ name: 'builds', secrets, to }).keys

/** The test vector shared by the Standard Webhooks libraries. */
const KEY = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
const SIGNED_AT = 1_614_265_330_000
const message = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  bytes: Buffer.from('{"test": 2432232314}'),
}
const keys = keysOf(`whsec_${KEY}`)

describe('isGenuine', () => {
  it.each([
    ['with the prefix', `whsec_${KEY}`],
    ['without it', KEY],
  ])('takes the published vector, its secret written %s', (_, secret) => {
    expect(isGenuine({ ...message, signature: SIGNATURE }, keysOf(secret), SIGNED_AT)).toBe(true)
  })

  it('accepts any of several signatures and any of several secrets', () => {
    const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const isTaken = (signature: string, secrets = keys) =>
      isGenuine({ ...message, signature }, secrets, SIGNED_AT)
    const wrong = `v1,${Buffer.alloc(32).toString('base64')}`
    expect(isTaken(`${`${wrong} `.repeat(20)}v1a,abc ${SIGNATURE}`)).toBe(true)
    expect(isTaken(SIGNATURE, [...keysOf(other), ...keys])).toBe(true)
    expect(isTaken(SIGNATURE, keysOf(other))).toBe(false)
    expect(isTaken(SIGNATURE, [])).toBe(false)
    for (const signature of [wrong, '', SIGNATURE.slice(3), SIGNATURE.replace('v1', 'v2')]) {
      expect(isTaken(signature)).toBe(false)
    }
  })

  it('covers the id, the time and every byte', () => {
    const signed = { ...message, signature: SIGNATURE }
    const changes = [
      { id: 'msg_other' },
      { id: '' },
      { timestamp: '1614265331' },
      { timestamp: '1614265330.0' },
      { bytes: Buffer.from('{"test":2432232314}') },
    ]
    for (const change of changes) {
      expect(isGenuine({ ...signed, ...change }, keys, SIGNED_AT)).toBe(false)
    }
  })

  it('refuses an id that could be read as another one with its time', () => {
    const key = keys[0] ?? Buffer.alloc(0)
    const signedAt = SIGNED_AT / 1_000
    const bytes = Buffer.from('{}')
    const sent = { id: `a.${signedAt - 1}`, timestamp: `${signedAt}`, bytes }
    const shifted = {
      ...{ id: 'a', timestamp: `${signedAt - 1}` },
      bytes: Buffer.concat([Buffer.from(`${signedAt}.`), bytes]),
    }
    const inside = { ...sent, id: `a.${signedAt}.{"text":"b`, timestamp: `${signedAt}` }
    // One signature for both, so only one of them can be accepted.
    expect(sign(sent, key)).toEqual(sign(shifted, key))
    const signature = `v1,${sign(sent, key).toString('base64')}`
    const isTaken = (signed: typeof sent) => isGenuine({ ...signed, signature }, keys, SIGNED_AT)
    expect([isTaken(sent), isTaken(shifted)]).toEqual([false, true])
    const again = `v1,${sign(inside, key).toString('base64')}`
    expect(isGenuine({ ...inside, signature: again }, keys, SIGNED_AT)).toBe(false)
    expect(['a.1', 'a.1.b', 'a.b.123456789012'].map((id) => isAmbiguous({ id }))).toEqual(
      Array(3).fill(true),
    )
    expect(['a.', 'a1', 'a.1b', 'evt_1.x', '1'].map((id) => isAmbiguous({ id }))).toEqual(
      Array(5).fill(false),
    )
  })

  it.each([-1, 1])(
    'accepts a timestamp up to five minutes away, and none beyond (%d)',
    (direction) => {
      const isTaken = (awayMs: number) =>
        isGenuine({ ...message, signature: SIGNATURE }, keys, SIGNED_AT + direction * awayMs)
      expect([0, 300_000, 300_001].map(isTaken)).toEqual([true, true, false])
    },
  )
})

describe('readHook', () => {
  it.each(['', 'whsec_', 'my secret', 'whsec_c2hvcnQ=', 'whsec_!!!'])(
    'refuses a secret that is too short or not base64: %j',
    (secret) => expect(() => keysOf(secret)).toThrow(HookSecretError),
  )
})
