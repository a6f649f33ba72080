import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { isId, parseSnapshotName } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import type { TokenRow } from '#core/store/operational-rows'
import { HttpProblem } from '../problems.ts'
import { type Proof, type ProofRequest, Proofs } from './proof.ts'

/**
 * Who calls, and what the caller may do. A token is 256 random bits; the store keeps its hash, so a
 * copy of the store gives no access. Two tokens may be valid at once, which is how one is replaced.
 * Each scope includes those before it: `operate` may exceed limits that the operator has set. A
 * scope `session:ID` limits the token to that session; any other session then looks as if it did
 * not exist.
 */
export const SCOPES = ['read', 'write', 'operate'] as const
export type Scope = (typeof SCOPES)[number]

export type Tokens = Pick<Reads, 'findToken' | 'listTokens'>

export interface Principal {
  /** The party that the request acts for, whichever token it carries; `local` without a token. */
  readonly id: string
  /** Limits are counted per token. */
  readonly tokenId: string
  /** The scopes of its token, as one text. */
  readonly grant: string
  may(scope: Scope): boolean
  /** The only sessions it may reach; null: all. */
  readonly sessions: ReadonlySet<string> | null
}

export class TokenNeededError extends KnownError {
  override readonly name = 'TokenNeededError'
  readonly code = 'token-needed'
  readonly retryable = false

  constructor(host: string) {
    super(
      `Other machines can reach ${host}, so callers need a token, and there is none yet. Create one ` +
        'with `throughline tokens create --scope write`, or listen on 127.0.0.1.',
    )
  }
}

const PREFIX = 'tl_'
const SECRET_BYTES = 32
const BEARER = /^bearer +([A-Za-z0-9_-]{1,200})$/i
const IS_BEARER = /^bearer\b/i
const SESSION_SCOPE = 'session:'

/** A new token: the text for its user, the record for the store. */
export function mintToken(request: {
  readonly id: string
  /** Default: the token's own id. */
  readonly principal?: string
  readonly scopes: readonly string[]
  readonly label: string
  readonly now: number
  readonly expiresAt?: number | null
}): { readonly text: string; readonly record: TokenRow } {
  const wrong = request.scopes.find((scope) => !isScope(scope))
  if (wrong !== undefined || !request.scopes.some((scope) => SCOPES.includes(scope as Scope))) {
    throw new RangeError(`Expected ${SCOPES.join(', ')} or session:ID, found ${wrong ?? 'none'}.`)
  }
  const text = PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
  const { id, principal = id, scopes, label, now, expiresAt = null } = request
  const hash = hashToken(text)
  return { text, record: { id, hash, principal, scopes, label, createdAt: now, expiresAt } }
}

export function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function isScope(scope: string): boolean {
  if (scope.startsWith(SESSION_SCOPE)) return isId(scope.slice(SESSION_SCOPE.length))
  return SCOPES.includes(scope as Scope)
}

export const LOCAL: Principal = {
  id: 'local',
  tokenId: 'local',
  grant: '',
  may: () => true,
  sessions: null,
}

/** A caller on the Unix domain socket, which only the server's own user can open. */
export const OWNER: Principal = { ...LOCAL }

/** A session outside the token's scope looks like one that does not exist. */
export function checkReach({ sessions }: Principal, id = ''): void {
  if (sessions?.has(parseSnapshotName(id)?.sessionId ?? id) === false)
    throw new HttpProblem('unknown-session')
}

/** Callers of routes that need no token. */
export const NOBODY: Principal = {
  ...{ id: 'nobody', tokenId: 'nobody', grant: '', sessions: null },
  may: () => false,
}

/** The longest time until a removed token is refused, and until the first token is required. */
const REMEMBERED_MS = 2_000
const REMEMBERED_MAX = 1_000

export class Access {
  readonly #tokens: Tokens | null
  readonly #clock: Clock
  readonly #proofs = new Proofs()
  readonly #remembered = new Map<string, { record: TokenRow; until: number }>()
  /** Lookups that began in this tick of the event loop: all streams of a token share one. */
  readonly #asked = new Map<string, Promise<TokenRow | undefined>>()
  /** How long the last check for any token stays valid; null: a token exists. */
  #openUntil: number | null

  /**
   * Without a token store every caller is admitted. `isOpen`: every caller is admitted until a
   * token exists, and from then on only callers with one, even if the last is revoked. Both are for
   * loopback only. A caller that sends a token believes that it is checked, so it always is.
   */
  constructor(tokens: Tokens | null, clock: Clock, { isOpen }: { readonly isOpen: boolean }) {
    this.#tokens = tokens
    this.#clock = clock
    this.#openUntil = isOpen ? 0 : null
  }

  async identify(authorization: string | undefined): Promise<Principal> {
    if (this.#tokens === null) return LOCAL
    const isOpen = await this.#isOpen(this.#tokens)
    if (isOpen && !IS_BEARER.test(authorization ?? '')) return LOCAL
    const hash = this.#hashIn(authorization)
    const record = hash === undefined ? undefined : await this.#find(this.#tokens, hash)
    if (record === undefined) throw unauthorized(isOpen ? NO_TOKENS : HOW_TO_SEND)
    return principalOf(record)
  }

  /**
   * Looks up whether the token is still valid and unchanged, before something is delivered long after
   * the request. Rejects if the store cannot answer.
   */
  async isUnchanged(principal: Principal, authorization: string | undefined): Promise<boolean> {
    if (this.#tokens === null || principal === NOBODY || principal === OWNER) return true
    if (principal === LOCAL) return await this.#isOpen(this.#tokens)
    const hash = this.#hashIn(authorization) ?? ''
    const record = await this.#ask(this.#tokens, hash)
    if (record === undefined || this.#isExpired(record)) {
      this.#remembered.delete(hash)
      return false
    }
    return principalOf(record).grant === principal.grant
  }

  /** Proves that this server knows a token, without saying whether it does. */
  async prove(asked: ProofRequest): Promise<Proof> {
    const rows = (await this.#tokens?.listTokens()) ?? []
    const valid = rows.filter((row) => !this.#isExpired(row))
    return this.#proofs.answer(
      asked,
      valid.map(({ hash }) => hash),
    )
  }

  #hashIn(authorization: string | undefined): string | undefined {
    const text = BEARER.exec(authorization ?? '')?.[1]
    return text === undefined ? undefined : hashToken(this.#proofs.tokenIn(text))
  }

  #ask(tokens: Tokens, hash: string): Promise<TokenRow | undefined> {
    const asked = this.#asked.get(hash) ?? tokens.findToken({ hash })
    if (!this.#asked.has(hash)) {
      this.#asked.set(hash, asked)
      setImmediate(() => this.#asked.delete(hash))
    }
    return asked
  }

  #isExpired({ expiresAt }: TokenRow): boolean {
    return expiresAt !== null && expiresAt <= this.#clock.now()
  }

  async #isOpen(tokens: Tokens): Promise<boolean> {
    if (this.#openUntil === null) return false
    const now = this.#clock.monotonic()
    if (now < this.#openUntil) return true
    const isOpen = (await tokens.listTokens()).length === 0
    this.#openUntil = isOpen ? now + REMEMBERED_MS : null
    return isOpen
  }

  async #find(tokens: Tokens, hash: string): Promise<TokenRow | undefined> {
    const now = this.#clock.monotonic()
    const known = this.#remembered.get(hash)
    const isFresh = known !== undefined && known.until > now
    const record = isFresh ? known.record : await tokens.findToken({ hash })
    if (record === undefined || !isSame(record.hash, hash)) {
      this.#remembered.delete(hash)
      return undefined
    }
    if (this.#isExpired(record)) return undefined
    if (!isFresh) {
      if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear()
      this.#remembered.set(hash, { record, until: now + REMEMBERED_MS })
    }
    return record
  }
}

const HOW_TO_SEND =
  'Send one as `Authorization: Bearer TOKEN`. The user who runs the server creates one with ' +
  '`throughline tokens create`.'

const NO_TOKENS =
  'This server has no tokens, so it cannot know this one. The user who runs it needs none: send ' +
  'the request without `Authorization`, or create a token with `throughline tokens create`.'

export function unauthorized(detail = HOW_TO_SEND): HttpProblem {
  return new HttpProblem('unauthorized', { headers: { 'www-authenticate': 'Bearer' }, detail })
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function principalOf({ id, principal, scopes }: TokenRow): Principal {
  const limits = scopes
    .filter((scope) => scope.startsWith(SESSION_SCOPE))
    .map((scope) => scope.slice(SESSION_SCOPE.length))
  // The highest scope includes the lower ones.
  const rank = Math.max(...scopes.map((scope) => SCOPES.indexOf(scope as Scope)))
  return {
    id: principal,
    tokenId: id,
    grant: scopes.join(' '),
    may: (scope) => rank >= SCOPES.indexOf(scope),
    sessions: limits.length === 0 ? null : new Set(limits),
  }
}
