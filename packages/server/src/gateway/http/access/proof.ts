import { createHash, createHmac, randomBytes } from 'node:crypto'

/**
 * How a page and the server prove to each other that they know a token, and neither sends it: the
 * exchange of SCRAM (RFC 5802), in which the stored hash is the stored key. The page names the token
 * and sends a nonce. Only who knows the token's hash can answer with the right proof. After that the
 * page sends a pass: the token, masked by a key of this hash and this process. Who hears it learns
 * nothing, and it ends with the process. `packages/dashboard/data/proof.ts` is the other side.
 */
const PASS = /^tlp_([\w-]{22})([\w-]{22})([\w-]{43})$/
const TOKEN = 'tl_'

export interface ProofRequest {
  /** Public: derived from the token's hash. */
  readonly name: string
  readonly nonce: string
  /** The address of the page, as its browser shows it. */
  readonly host: string
}

/** The same for a token that does not exist: the proof is then of no token. */
export interface Proof {
  /** Names this process; a pass is for one process. */
  readonly run: string
  readonly proof: string
}

export class Proofs {
  readonly #run = randomBytes(16).toString('base64url')
  readonly #noToken = randomBytes(32)
  /** By name, those that this process has proven to know. */
  readonly #hashes = new Map<string, string>()

  /** `hashes`: of all tokens that are valid now. */
  answer({ name, nonce, host }: ProofRequest, hashes: readonly string[]): Proof {
    const hash = hashes.find((each) => nameOf(each) === name)
    if (hash !== undefined) this.#hashes.set(name, hash)
    const key = hash === undefined ? mac(this.#noToken, name) : Buffer.from(hash, 'hex')
    const proof = mac(key, `server ${this.#run} ${nonce} ${host}`).toString('base64url')
    return { run: this.#run, proof }
  }

  /** The token that a pass stands for; any other text is returned as it is. */
  tokenIn(text: string): string {
    const [, name = '', run, masked = ''] = PASS.exec(text) ?? []
    const hash = this.#hashes.get(name)
    if (hash === undefined || run !== this.#run) return text
    const mask = mac(Buffer.from(hash, 'hex'), `page ${run}`)
    const secret = Buffer.from(masked, 'base64url').map((byte, at) => byte ^ (mask[at] ?? 0))
    return TOKEN + Buffer.from(secret).toString('base64url')
  }
}

function nameOf(hash: string): string {
  const digest = createHash('sha256').update(`throughline token ${hash}`).digest()
  return digest.subarray(0, 16).toString('base64url')
}

function mac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
