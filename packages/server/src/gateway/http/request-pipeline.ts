import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { z } from 'zod'
import type { Clock } from '#core/base/clock'
import { parseSnapshotName } from '#core/base/ids'
import { type Logger, traceOf } from '#core/base/logger'
import {
  type Access,
  checkReach,
  LOCAL,
  NOBODY,
  OWNER,
  type Principal,
  unauthorized,
} from './access/access.ts'
import {
  type AllowedOrigins,
  checkHost,
  isLoopback,
  isOfBrowser,
  ownAddress,
  singleHost,
} from './access/addresses.ts'
import { type ClientAddresses, isForwarded } from './access/client-address.ts'
import { LargeAnswers } from './access/large-answers.ts'
import { type HttpLimits, RateLimit, rateLimited, SlotPool, take } from './access/limits.ts'
import type { Peer } from './access/peer-user.ts'
import type { Endpoint, EndpointContext, EndpointRequest, EndpointResponse } from './endpoint.ts'
import type { EventStreams } from './event-stream.ts'
import { openStream, readJsonBody, readSigned, writeAnswer } from './exchange.ts'
import type { Metrics } from './metrics.ts'
import { KEY_FORM, PROBLEM_TYPE } from './open-api.ts'
import { HttpProblem, toHttpProblem } from './problems.ts'
import { CLEARING, type RoutedRequest } from './router.ts'

/**
 * One request from its first check to its answer, always in this order: host, origin, caller, rate,
 * scope; then the form of the request; then the endpoint. The body is read only after every check
 * of its sender has passed. Errors thrown on the way become problems of the table.
 */
export interface PipelineDependencies {
  readonly edge: EndpointContext
  readonly access: Access
  readonly addresses: ClientAddresses
  /** A connection to the Unix domain socket. */
  readonly isOwnSocket: (socket: Socket) => boolean
  /** Whether `localhost` leads to this server alone. */
  readonly holdsLocalhost: () => boolean
  /** Who is at the other end of a connection; null: the system does not report it. */
  readonly peerOf: (socket: Socket) => Promise<Peer | null>
  readonly limits: HttpLimits
  readonly metrics: Metrics
  readonly streams: EventStreams
  readonly logger: Logger
  readonly clock: Clock
  readonly allowedHosts: readonly string[]
  readonly origins: AllowedOrigins
  /** Where a page of any origin may have the browser remove what it keeps for this address. */
  readonly clearingPath: string | null
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

export type Call = RoutedRequest & {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** After this time the token is checked again before the request is carried out or answered. */
const UNCHECKED_MS_MAX = 1_000
/** How long a browser may cache the result of a preflight request. */
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, last-event-id, x-request-id',
  'access-control-max-age': '600',
}
/** For a page of any origin. A browser that opens it goes on to our page, which no other origin may open. */
const TO_PAGE = {
  'content-type': 'text/html',
  'cross-origin-resource-policy': 'cross-origin',
  refresh: '0;url=/',
}
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/

/** One for all: every request ends with it, and a new one would take its stack along. */
const CLIENT_LEFT = new DOMException('The client has disconnected.', 'AbortError')

export class RequestPipeline {
  readonly #parts: PipelineDependencies
  readonly #requests: RateLimit
  readonly #failures: RateLimit
  readonly #streams: SlotPool
  readonly #large: LargeAnswers

  constructor(parts: PipelineDependencies) {
    const { limits, clock } = parts
    this.#parts = parts
    const perSecond = limits.requestsPerMinute / 60
    this.#requests = new RateLimit(clock, { perSecond, size: Math.max(1, perSecond * 2) })
    this.#failures = new RateLimit(clock, {
      perSecond: limits.failuresPerMinute / 60,
      size: limits.failuresPerMinute,
    })
    this.#large = new LargeAnswers(limits)
    this.#streams = new SlotPool({ total: limits.streamsMax, perName: limits.streamsPerTokenMax })
  }

  async handle(call: Call): Promise<void> {
    const { clock, metrics, logger, origins, closing } = this.#parts
    const { incoming, outgoing, endpoint } = call
    const startedAt = clock.monotonic()
    const given = incoming.headers['x-request-id']
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    const headers: Record<string, string> = {
      'x-request-id': requestId,
      ...origins.headersFor(incoming.headers.origin),
    }
    if (closing.aborted) headers['connection'] = 'close'
    try {
      await this.#answer(call, headers)
    } catch (error) {
      const problem = toHttpProblem(error)
      if (problem.code === 'internal') {
        logger.error({ requestId, ...traceOf(error) }, 'request failed')
      }
      if (!outgoing.headersSent) this.#refuse(call, problem, { ...headers, ...problem.headers })
      else outgoing.destroy()
    }
    const route = endpoint?.path ?? 'none'
    const method = endpoint?.method.toUpperCase() ?? 'other'
    const status = outgoing.statusCode
    const durationMs = clock.monotonic() - startedAt
    metrics.countRequest({ method, route, status, durationMs, isStream: !!endpoint?.isStream })
    logger.debug({ requestId, method, route, status, durationMs }, 'request answered')
  }

  async #answer(call: Call, headers: Record<string, string>): Promise<void> {
    const { edge, access, origins, limits, clock } = this.#parts
    const { incoming, outgoing } = call
    this.#checkHost(incoming)
    if (incoming.url === this.#parts.clearingPath) {
      return writeAnswer(outgoing, 200, { ...headers, ...CLEARING, ...TO_PAGE }, null)
    }
    origins.check(incoming.headers)
    if (origins.isPreflight(incoming)) {
      await this.#takeNameless(incoming)
      return writeAnswer(outgoing, 204, { ...headers, ...PREFLIGHT }, null)
    }
    if (call.endpoint === null) {
      const { otherwise } = call
      await this.#takeNameless(incoming)
      if (otherwise instanceof HttpProblem) throw otherwise
      return writeAnswer(outgoing, 200, { ...headers, ...otherwise.headers }, otherwise.bytes)
    }

    const { endpoint } = call
    const principal = await this.#identify(incoming, endpoint)
    const isUnchanged = () => access.isUnchanged(principal, incoming.headers.authorization)
    let checkedAt = clock.monotonic()
    /** The token may be revoked while the body arrives, or while the request waits. */
    const checkAgain = async () => {
      if (clock.monotonic() - checkedAt <= UNCHECKED_MS_MAX) return
      if (!(await isUnchanged())) throw unauthorized()
      checkedAt = clock.monotonic()
    }
    if (endpoint.isStream && incoming.method === 'HEAD') throw new HttpProblem('method-not-allowed')
    const params = parse(endpoint.params, call.params, 'path')
    if (endpoint.path.includes('{id}')) checkReach(principal, call.params['id'])
    const query = parse(endpoint.query, single(call.query), 'query')
    const key = keyOf(incoming)
    const signed = endpoint.isSigned ? await readSigned(incoming, limits) : undefined
    const sent = endpoint.isSigned ? undefined : await readJsonBody(incoming, limits)
    const body = parseBody(endpoint, sent)
    await checkAgain()
    const signal = this.#signalFor(outgoing)
    const request: EndpointRequest = {
      params,
      query,
      body,
      principal,
      signed,
      countFor: (sender) => take(this.#requests, sender),
      once: { source: `http:${principal.id}`, key },
      lastEventId: incoming.headers['last-event-id']?.toString(),
      isFromPageAt: (host) => this.#isFromPageAt(host, incoming.socket),
      get signal() {
        return signal()
      },
    }
    const { tokenId } = principal
    const leave = endpoint.isStream
      ? this.#streams.enter(tokenId)
      : await this.#large.enter(endpoint, tokenId)
    if (leave === undefined) throw new HttpProblem('too-many-streams')
    try {
      if (endpoint.isLarge && outgoing.destroyed) return
      const answer = await endpoint.run(request, edge).catch((error) => this.#fail(error, incoming))
      await checkAgain()
      await this.#write(call, answer, headers, { isUnchanged, tokenId })
    } finally {
      leave()
    }
  }

  /**
   * The token is looked up before anything is counted, so that failures of others at the same
   * address (behind one proxy, or on one host) never block a caller with a valid token.
   */
  async #identify(incoming: IncomingMessage, endpoint: Endpoint): Promise<Principal> {
    if (endpoint.scope === null) {
      // Signed requests count for their sender once the signature is known, as tokens do.
      const isCounted = endpoint.isUnlimited !== true && endpoint.isSigned !== true
      if (isCounted) await this.#takeNameless(incoming)
      return NOBODY
    }
    const principal = await this.#principalOf(incoming).catch((error) =>
      this.#fail(error, incoming),
    )
    take(this.#requests, `token ${principal.tokenId}`)
    if (!principal.may(endpoint.scope)) {
      throw new HttpProblem('forbidden', { facts: { scope: endpoint.scope } })
    }
    if (endpoint.isWhole === true && principal.sessions !== null) {
      throw new HttpProblem('forbidden', {
        detail: 'This token is limited to some sessions; this route needs one without that limit.',
      })
    }
    return principal
  }

  async #principalOf({ headers, socket }: IncomingMessage): Promise<Principal> {
    const { access, isOwnSocket, peerOf } = this.#parts
    const isDirect = !isForwarded(headers)
    const isOwn = isOwnSocket(socket)
    if (isDirect && isOwn && headers.authorization === undefined) return OWNER
    const principal = await access.identify(headers.authorization)
    if (principal !== LOCAL) return principal
    if (isDirect && (isOwn || ((await peerOf(socket)) ?? 'own') === 'own')) return principal
    throw unauthorized(
      'Without a token only the user who runs the server may call it, and not through a proxy. ' +
        'That user creates one with `throughline tokens create`.',
    )
  }

  /** A browser reaches a Unix domain socket through another program, whose `localhost` we do not hold. */
  #checkHost(incoming: IncomingMessage): void {
    const { allowedHosts, isOwnSocket, holdsLocalhost } = this.#parts
    const { socket, headers } = incoming
    const isHeld = isOwnSocket(socket) ? !isOfBrowser(headers) : holdsLocalhost()
    checkHost(singleHost(incoming), allowedHosts, isHeld ? null : ownAddress(socket))
  }

  /**
   * Another user who listens where a page expects this server could pass its requests on to us. The
   * page then shows another address than ours, and that user is at the other end.
   */
  async #isFromPageAt(host: string, socket: Socket): Promise<boolean> {
    const { addresses, isOwnSocket, peerOf } = this.#parts
    const { remoteAddress = '' } = socket
    if (host === ownAddress(socket)) return true
    if (isOwnSocket(socket) || addresses.isProxy(remoteAddress)) return true
    const peer = (await peerOf(socket)) ?? 'unknown'
    return (
      peer === 'own' || (peer === 'unknown' && !isLoopback(remoteAddress.replace(/^::ffff:/i, '')))
    )
  }

  /** Counts a wrong token or signature against its address, which gets `429` beyond the limit. */
  #fail(error: unknown, incoming: IncomingMessage): never {
    const isFailure = error instanceof HttpProblem && error.status === 401
    if (isFailure) take(this.#failures, this.#parts.addresses.of(incoming))
    throw error
  }

  /**
   * Counts a request without a token, such as one for the page, for its address. Other users of this
   * machine have the same address; what they send uses up nothing of the server's own user.
   */
  async #takeNameless({ headers, socket }: IncomingMessage): Promise<void> {
    const { addresses, peerOf } = this.#parts
    const waitSeconds = this.#requests.take(`address ${addresses.of({ headers, socket })}`)
    if (waitSeconds === 0) return
    const isHere = isLoopback(socket.remoteAddress?.replace(/^::ffff:/i, '') ?? '')
    const isOwn = isHere && !isForwarded(headers) && (await peerOf(socket)) === 'own'
    if (!isOwn) throw rateLimited(waitSeconds)
    take(this.#requests, 'own user')
  }

  /** Created on demand, because only endpoints that wait need it. */
  #signalFor(outgoing: ServerResponse): () => AbortSignal {
    let signal: AbortSignal | undefined
    return () => {
      if (signal !== undefined) return signal
      const controller = new AbortController()
      if (outgoing.destroyed) controller.abort(CLIENT_LEFT)
      outgoing.once('close', () => controller.abort(CLIENT_LEFT))
      signal = AbortSignal.any([controller.signal, this.#parts.closing])
      return signal
    }
  }

  async #write(
    { outgoing }: Call,
    answer: EndpointResponse,
    headers: Readonly<Record<string, string>>,
    { isUnchanged, tokenId }: { isUnchanged: () => Promise<boolean>; tokenId: string },
  ): Promise<void> {
    if ('events' in answer) {
      openStream(outgoing, headers)
      await this.#parts.streams.send(outgoing, answer.events, isUnchanged)
    } else {
      const isText = 'text' in answer
      const text = isText ? answer.text : JSON.stringify(answer.body)
      const type = isText ? answer.type : 'application/json'
      const typed = text === undefined ? {} : { 'content-type': type }
      writeAnswer(
        outgoing,
        answer.status,
        { ...headers, ...answer.headers, ...typed },
        text ?? null,
      )
      this.#large.sent(outgoing, tokenId, text?.length ?? 0)
    }
  }

  #refuse(
    { incoming, outgoing }: Call,
    problem: HttpProblem,
    headers: Record<string, string>,
  ): void {
    const body = { ...problem.body, requestId: headers['x-request-id'] }
    const all = {
      ...headers,
      'content-type': PROBLEM_TYPE,
      // The rest of the body is not read.
      ...(!incoming.complete && { connection: 'close' }),
    }
    writeAnswer(outgoing, problem.status, all, JSON.stringify(body))
  }
}

function keyOf(incoming: IncomingMessage): string {
  const key = incoming.headers['idempotency-key']?.toString()
  if (key === undefined) return randomUUID()
  if (KEY_FORM.test(key)) return key
  throw new HttpProblem('invalid', {
    detail: 'Idempotency-Key: expected 1 to 255 visible ASCII characters.',
  })
}

function single(query: URLSearchParams): Record<string, string> {
  if (new Set(query.keys()).size < query.size) {
    throw new HttpProblem('invalid', { detail: 'A query parameter appears twice.' })
  }
  return Object.fromEntries(query)
}

function parseBody(endpoint: Endpoint, sent: unknown): unknown {
  if (endpoint.body === undefined) {
    if (sent === undefined) return undefined
    throw new HttpProblem('invalid', { detail: 'This route takes no body.' })
  }
  const isLeftOut = sent === undefined && endpoint.isBodyOptional === true
  return parse(endpoint.body, isLeftOut ? {} : sent, 'body')
}

const ISSUES_MAX = 10

/** Reports where the error is and what was expected, never the value that was sent. */
function parse(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (schema === undefined) {
    if (where !== 'query' || Object.keys(value as object).length === 0) return undefined
    throw new HttpProblem('invalid', { detail: 'This route takes no query.' })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  if (where === 'path' && issues.some(({ path }) => path[0] === 'id')) {
    const { id } = value as { readonly id?: string }
    const isSnapshot = id !== undefined && parseSnapshotName(id) !== undefined
    throw new HttpProblem(isSnapshot ? 'snapshot' : 'unknown-session')
  }
  const errors = issues.slice(0, ISSUES_MAX).map((issue) => ({
    at: [where, ...issue.path].join('.').slice(0, 200),
    problem: issue.code === 'unrecognized_keys' ? unknownNames(issue.keys) : issue.message,
  }))
  throw new HttpProblem('invalid', { facts: { errors } })
}

/**
 * Unknown names in the form of our own are repeated: they are probably misspelt and hold no secret.
 */
function unknownNames(keys: readonly string[]): string {
  const plain = keys.filter((key) => /^[a-z][A-Za-z_-]{0,23}$/.test(key)).slice(0, ISSUES_MAX)
  return plain.length === 0 ? 'an unknown name' : `unknown: ${plain.join(', ')}`
}
