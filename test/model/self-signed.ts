import { generateKeyPairSync, sign } from 'node:crypto'

/** A key and a certificate that nobody vouches for, for a server on this host. */
export function selfSigned({ names = ['localhost'], isExpired = false } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = der(0x30, der(0x31, der(0x30, COMMON_NAME, text(0x0c, names[0] ?? ''))))
  const yearMs = 365 * 24 * 3_600_000
  const until = Date.now() + (isExpired ? -yearMs : yearMs)
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    ECDSA_SHA256,
    subject,
    der(0x30, time(until - 2 * yearMs), time(until)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, der(0x30, ALT_NAMES, der(0x04, der(0x30, ...names.map(altName)))))),
  )
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', signed, privateKey)])
  const whole = der(0x30, signed, ECDSA_SHA256, der(0x03, signature))
  const body = whole.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content])
}

function text(tag: number, value: string): Buffer {
  return der(tag, Buffer.from(value))
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, '')
  return text(0x17, `${digits.slice(2, 14)}Z`)
}

function altName(name: string): Buffer {
  return text(0x82, name)
}

const ECDSA_SHA256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'))
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const ALT_NAMES = Buffer.from('0603551d11', 'hex')
