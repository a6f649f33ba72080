import { keep, kept } from './keep.ts'

/**
 * This tab alone keeps the token, and never sends it over loopback: while the server is down,
 * another user of the machine could listen on its port. The server first proves that it knows the token. Then the
 * page sends a pass that only this process of the server can read, so a program that hears it later gains
 * nothing. After each broken connection the server proves itself again, before it gets any words.
 * `access/proof.ts` of the server is the other side, and says how. The token itself is sent with TLS,
 * which proves the server by its own means, and to another machine without TLS, where browsers have
 * no cryptography for a page.
 */
const TOKEN = 'throughline-token'
const FORM = /^tl_[\w-]{43}$/
const needsProof = location.protocol === 'http:' && isSecureContext
const HMAC = { name: 'HMAC', hash: 'SHA-256' }
const encoder = new TextEncoder()

let pass: Promise<string | null> | undefined

/** The server does not know the token: it is another one, or the token was revoked. */
export class UnknownTokenError extends Error {
  override readonly name = 'UnknownTokenError'
}

export function keepToken(text: string | null): void {
  keep(TOKEN, text)
  doubt()
}

/** After a connection that failed or ended, another program may answer. */
export function doubt(): void {
  pass = undefined
}

interface Proof {
  readonly run: string
  readonly proof: string
}

/** The pass, or the token; null: this tab has no token. */
export async function credential(read: (path: string) => Promise<Proof>): Promise<string | null> {
  const token = kept(TOKEN)
  if (token === null || !needsProof) return token
  const asked = pass ?? ask(token, read)
  pass = asked
  return await asked.catch((error: unknown) => {
    // The next one asks again.
    if (pass === asked) doubt()
    throw error
  })
}

async function ask(token: string, read: (path: string) => Promise<Proof>): Promise<string> {
  if (!FORM.test(token)) throw new UnknownTokenError()
  const hash = await sha256(token)
  const key = await crypto.subtle.importKey('raw', hash, HMAC, false, ['sign', 'verify'])
  const name = textOf((await sha256(`throughline token ${hexOf(hash)}`)).subarray(0, 16))
  const nonce = textOf(crypto.getRandomValues(new Uint8Array(16)))
  const { host } = location
  const { run, proof } = await read(`/v1/proof?${new URLSearchParams({ name, nonce, host })}`)
  const claim = encoder.encode(`server ${run} ${nonce} ${host}`)
  if (!(await crypto.subtle.verify('HMAC', key, bytesOf(proof), claim)))
    throw new UnknownTokenError()
  const mask = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(`page ${run}`)))
  const masked = bytesOf(token.slice(3)).map((byte, at) => byte ^ (mask[at] ?? 0))
  return `tlp_${name}${run}${textOf(masked)}`
}

async function sha256(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** As base64url. */
function textOf(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0))
}
