import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Clock } from '#core/base/clock'
import type { TokenRow } from '#core/store/operational-rows'
import { Access, hashToken, mintToken } from './access.ts'

const [NONCE, HOST] = ['n'.repeat(22), '127.0.0.1:7420']

function shop(records: TokenRow[], { isOpen = false } = {}) {
  const times = { now: 0 }
  const clock: Clock = { now: () => times.now, monotonic: () => times.now, after: () => () => {} }
  const asked: string[] = []
  const tokens = {
    listTokens: async () => records,
    findToken: async ({ hash }: { hash: string }) => {
      asked.push(hash)
      return records.find((row) => row.hash === hash)
    },
  }
  const access = new Access(tokens, clock, { isOpen })
  const prove = (name: string, nonce = NONCE) => access.prove({ name, nonce, host: HOST })
  const identify = (text: string) =>
    access.identify(text).catch((error: { code: string }) => error.code)
  const isUnchanged = async (text: string) => {
    const principal = await access.identify(text)
    return () => access.isUnchanged(principal, text)
  }
  return { times, asked, identify, isUnchanged, prove }
}
const mint = (scopes: readonly string[], expiresAt: number | null = null) =>
  mintToken({ id: `t${scopes.length}`, scopes, label: 'test', now: 0, expiresAt })

describe('mintToken', () => {
  it('makes 256 random bits and stores only their hash [checklist 2]', () => {
    const { text, record } = mint(['read'])
    expect(Buffer.from(text.slice(3), 'base64url')).toHaveLength(32)
    expect(record.hash).toBe(hashToken(text))
    expect(JSON.stringify(record)).not.toContain(text.slice(3))
    expect(mint(['read']).text).not.toBe(text)
  })

  it('refuses unknown scopes, and a token without a scope', () => {
    expect(() => mint(['root'])).toThrow(RangeError)
    expect(() => mint(['session:a'])).toThrow(RangeError)
    expect(() => mint(['read', 'session:a.b'])).toThrow(RangeError)
  })
})

describe('Access', () => {
  it('recognizes a token by its text alone; a higher scope includes the lower ones', async () => {
    const { text, record } = mint(['write'])
    const reader = mint(['read'])
    const { identify } = shop([record, reader.record])
    const principal = await identify(`Bearer ${text}`)
    expect(typeof principal === 'object' && principal.may('read')).toBe(true)
    expect(typeof principal === 'object' && principal.may('write')).toBe(true)
    const reading = await identify(`Bearer ${reader.text}`)
    expect(typeof reading === 'object' && reading.may('read')).toBe(true)
    expect(typeof reading === 'object' && reading.may('write')).toBe(false)
    for (const wrong of [
      text,
      `Bearer ${text}x`,
      `Bearer ${record.hash}`,
      'Bearer ',
      '',
      'Basic x',
    ]) {
      expect(await identify(wrong)).toBe('unauthorized')
    }
  })

  it('admits every caller until a token exists, and then only callers with one', async () => {
    const records: TokenRow[] = []
    const { times, identify } = shop(records, { isOpen: true })
    expect(await identify('')).toMatchObject({ id: 'local' })
    const { text, record } = mint(['read'])
    // Who sends a token believes that it is checked.
    for (const wrong of [`Bearer ${text}`, 'bearer x', 'Bearer ?', 'Bearer'])
      expect(await identify(wrong)).toBe('unauthorized')
    records.push(record)
    times.now += 2_000
    expect(await identify('')).toBe('unauthorized')
    expect(await identify(`Bearer ${text}`)).toMatchObject({ id: record.id })
    records.pop()
    times.now += 2_000
    expect(await identify('')).toBe('unauthorized')
    expect(await identify(`Bearer ${text}`)).toBe('unauthorized')
  })

  it('refuses an expired token, even one that was used before', async () => {
    const { text, record } = mint(['read'], 1_000)
    const { identify, times } = shop([record])
    expect(await identify(`Bearer ${text}`)).toMatchObject({ id: record.id })
    times.now = 1_000
    expect(await identify(`Bearer ${text}`)).toBe('unauthorized')
  })

  it('refuses a token two seconds after its removal, and accepts two tokens at once', async () => {
    const [old, young] = [mint(['read']), mint(['read', 'write'])]
    const records = [old.record, young.record]
    const { identify, times } = shop(records)
    expect(await identify(`Bearer ${old.text}`)).toMatchObject({ id: 't1' })
    expect(await identify(`Bearer ${young.text}`)).toMatchObject({ id: 't2' })
    records.shift()
    // Until then the store is not asked again.
    times.now = 1_999
    expect(await identify(`Bearer ${old.text}`)).toMatchObject({ id: 't1' })
    times.now = 2_000
    expect(await identify(`Bearer ${old.text}`)).toBe('unauthorized')
    expect(await identify(`Bearer ${young.text}`)).toMatchObject({ id: 't2' })
  })

  it('asks the store once for all streams of a token that look in the same moment', async () => {
    const [one, other] = [mint(['read']), mint(['read', 'write'])]
    const { asked, isUnchanged } = shop([one.record, other.record])
    const looks = await Promise.all([one, other].map(({ text }) => isUnchanged(`Bearer ${text}`)))
    const all = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      asked.length = 0
      expect(await Promise.all([...looks, ...looks, ...looks].map((look) => look()))).toEqual(
        Array(6).fill(true),
      )
      return asked
    }
    expect(await all()).toEqual([one.record.hash, other.record.hash])
    expect(await all()).toEqual([one.record.hash, other.record.hash])
  })

  it('notices at once that a token was removed, has expired or has other scopes', async () => {
    const { text, record } = mint(['write'], 1_000)
    const records = [record]
    const { times, isUnchanged } = shop(records)
    const ask = await isUnchanged(`Bearer ${text}`)
    const later = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return await ask()
    }
    expect(await later()).toBe(true)
    records[0] = { ...record, scopes: ['read'] }
    expect(await later()).toBe(false)
    records[0] = record
    expect(await later()).toBe(true)
    records.pop()
    expect(await later()).toBe(false)
    records.push(record)
    times.now = 1_000
    expect(await later()).toBe(false)
  })
})

/** What the page computes from its token. */
function pageOf(token: string) {
  const hash = hashToken(token)
  const mac = (text: string) => createHmac('sha256', Buffer.from(hash, 'hex')).update(text).digest()
  const digest = createHash('sha256').update(`throughline token ${hash}`).digest()
  const name = digest.toString('base64url', 0, 16)
  return {
    name,
    proofFor: (run: string, nonce = NONCE) =>
      mac(`server ${run} ${nonce} ${HOST}`).toString('base64url'),
    passFor(run: string) {
      const mask = mac(`page ${run}`)
      const secret = Buffer.from(token.slice(3), 'base64url')
      const masked = Buffer.from(secret.map((byte, at) => byte ^ (mask[at] ?? 0)))
      return `Bearer tlp_${name}${run}${masked.toString('base64url')}`
    },
  }
}

describe('a proof for the page', () => {
  it('can be made only with the hash of its token, and covers nonce and address', async () => {
    const { text, record } = mint(['read'])
    const { prove } = shop([mint(['write']).record, record])
    const { name, proofFor } = pageOf(text)
    const { run, proof } = await prove(name)
    expect(proof).toBe(proofFor(run))
    expect((await prove(name, 'm'.repeat(22))).proof).toBe(proofFor(run, 'm'.repeat(22)))
    expect(proof).not.toContain(record.hash)
  })

  it('has the same form for a token that is unknown or expired, and says nothing of it', async () => {
    const [unknown, old] = [mint(['read']), mint(['read'], 1_000)]
    const { prove, times } = shop([old.record])
    times.now = 1_000
    for (const { text } of [unknown, old]) {
      const { name, proofFor } = pageOf(text)
      const { run, proof } = await prove(name)
      expect(proof).not.toBe(proofFor(run))
      expect(proof).toHaveLength(43)
      expect(await prove(name)).toEqual({ run, proof })
    }
  })

  it('lets in with a pass that only this process accepts, as long as the token is valid', async () => {
    const { text, record } = mint(['read'])
    const records = [record]
    const { identify, isUnchanged, prove, times } = shop(records)
    const { name, passFor } = pageOf(text)
    const { run } = await prove(name)
    const pass = passFor(run)
    expect(await identify(pass)).toMatchObject({ id: record.id })
    expect(await (await isUnchanged(pass))()).toBe(true)
    const other = mint(['read'])
    for (const wrong of [
      passFor('r'.repeat(22)),
      pageOf(other.text).passFor(run),
      `${pass.slice(0, -3)}AAA`,
      `${pass}A`,
    ]) {
      expect(await identify(wrong)).toBe('unauthorized')
    }
    const next = shop(records)
    await next.prove(name)
    expect(await next.identify(pass)).toBe('unauthorized')
    records.pop()
    times.now = 2_000
    expect(await identify(pass)).toBe('unauthorized')
  })
})
