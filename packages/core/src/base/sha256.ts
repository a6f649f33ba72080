/**
 * SHA-256 of a text's UTF-8, in hexadecimal; lone surrogates count as U+FFFD, as in every encoder.
 * Node hashes ten times as fast as JavaScript, but importing `node:crypto` would exclude browsers
 * and Workers, and WebCrypto is asynchronous, which would make every pure function asynchronous
 * (decision 66). So Node's module is looked up at run time, and at first use: loading it takes ten milliseconds.
 */
export function sha256Hex(text: string): string {
  digest ??= nativeSha256() ?? portableSha256
  return digest(text)
}

let digest: ((text: string) => string) | undefined

function nativeSha256(): ((text: string) => string) | undefined {
  const { process } = globalThis as Partial<typeof globalThis>
  const hash = process?.getBuiltinModule?.('node:crypto')?.hash
  return hash && ((text) => hash('sha256', text))
}

export function portableSha256(text: string): string {
  const bytes = padded(new TextEncoder().encode(text))
  const view = new DataView(bytes.buffer)
  const state = INITIAL.slice()
  const schedule = new Uint32Array(64)
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) absorb(state, schedule, view, at)
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('')
}

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8
const WORD = 2 ** 32

/** The padding: a one bit, zeros, and the length in bits, up to a whole block. */
function padded(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil((text.length + 1 + LENGTH_BYTES) / BLOCK_BYTES)
  const bytes = new Uint8Array(blocks * BLOCK_BYTES)
  bytes.set(text)
  bytes[text.length] = 0x80
  const view = new DataView(bytes.buffer)
  const bits = text.length * 8
  view.setUint32(bytes.length - LENGTH_BYTES, Math.floor(bits / WORD))
  view.setUint32(bytes.length - LENGTH_BYTES / 2, bits % WORD)
  return bytes
}

function absorb(state: Uint32Array, schedule: Uint32Array, view: DataView, at: number): void {
  // Every index is in range; `as` instead of `?? 0`, because this is the inner loop.
  const w = (index: number) => schedule[index] as number
  for (let index = 0; index < 16; index++) schedule[index] = view.getUint32(at + index * 4)
  for (let index = 16; index < 64; index++) {
    const early = w(index - 15)
    const late = w(index - 2)
    const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
    schedule[index] = (w(index - 16) + first + w(index - 7) + second) | 0
  }
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let index = 0; index < 64; index++) {
    const choice = (e & f) ^ (~e & g)
    const mixed = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
    const one = (h + mixed + choice + (ROUNDS[index] as number) + w(index)) | 0
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const words = [a, b, c, d, e, f, g, h]
  for (let index = 0; index < words.length; index++) {
    state[index] = ((state[index] as number) + (words[index] as number)) | 0
  }
}

function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

/** The standard's constants: fractions of the roots of the first primes. */
const PRIMES = firstPrimes(64)
const INITIAL = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fractionOf(Math.sqrt(prime)))
const ROUNDS = Uint32Array.from(PRIMES, (prime) => fractionOf(Math.cbrt(prime)))

function fractionOf(root: number): number {
  return Math.floor((root % 1) * WORD)
}

function firstPrimes(count: number): readonly number[] {
  const primes: number[] = []
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  }
  return primes
}
