import type { z } from 'zod'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import type { Runtime, Session } from '../../runtime/runtime.ts'
import type { Principal, Scope } from './access/access.ts'
import type { Proof, ProofRequest } from './access/proof.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { ProblemCode } from './problems.ts'
import type { Hook, Signed } from './webhook.ts'

/**
 * A route as a value: its input, responses, scope and handler. The server, the OpenAPI document and
 * the fuzz tests are built from the same values, so none of them can miss a route.
 */
export interface Endpoint {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** As in OpenAPI: `/v1/sessions/{id}`. */
  readonly path: string
  readonly summary: string
  /** Null: open to every caller, without a token. */
  readonly scope: Scope | null
  /** Not rate-limited. */
  readonly isUnlimited?: true
  /** Refuses tokens that are limited to some sessions. */
  readonly isWhole?: true
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The body is optional and defaults to `{}`. */
  readonly isBodyOptional?: true
  readonly isIdempotent?: true
  readonly isStream?: true
  /** Its answers may have megabytes. */
  readonly isLarge?: true
  /** The body is kept as raw bytes with its signature and is not parsed. */
  readonly isSigned?: true
  readonly answers: Readonly<Record<number, AnswerForm>>
  readonly problems: readonly ProblemCode[]
  run(request: EndpointRequest, edge: EndpointContext): Promise<EndpointResponse>
}

export interface AnswerForm {
  readonly description: string
  /** Absent: no body, or a text body. */
  readonly schema?: z.ZodType
  /** The media types of a text body. */
  readonly types?: readonly string[]
}

/** A request after every check; the schemas have made `params`, `query` and `body` safe. */
export interface EndpointRequest<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly principal: Principal
  /** From the Idempotency-Key, or drawn at random. */
  readonly once: { readonly source: string; readonly key: string }
  readonly lastEventId: string | undefined
  /** For signed routes only. */
  readonly signed: Signed | undefined
  /** Counts a genuine signed request for its sender; one too many is refused. */
  readonly countFor: (sender: string) => void
  /** Whether a page at this address, as its browser shows it, may have sent it, and no relay. */
  readonly isFromPageAt: (host: string) => Promise<boolean>
  /** Aborts when the client goes away or the server closes. */
  readonly signal: AbortSignal
}

export interface EndpointContext {
  readonly runtime: Runtime
  readonly prove: (asked: ProofRequest) => Promise<Proof>
  readonly waitMsMax: number
  readonly hooks: readonly Hook[]
  readonly now: () => number
  readonly diagnostics: Diagnostics
  /** Why the process cannot work now; null: it can. */
  readonly readiness: () => Promise<string | null>
  /** Open event streams. */
  readonly streams: () => number
  readonly readMetrics: () => Promise<{ readonly text: string; readonly type: string }>
  /** Sent as JSON. */
  readonly openApi: () => string
}

export type EndpointResponse =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Headers }
  | {
      readonly status: number
      readonly text: string
      readonly type: string
      readonly headers?: Headers
    }
  | { readonly status: 200; readonly events: AsyncIterable<RuntimeEvent> }
type Headers = Readonly<Record<string, string>>

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** Gives `run` the types of its schemas. */
export function endpoint<
  const Params extends z.ZodObject | undefined = undefined,
  const Query extends z.ZodObject | undefined = undefined,
  const Body extends z.ZodType | undefined = undefined,
>(
  form: Omit<Endpoint, 'params' | 'query' | 'body' | 'run'> & {
    readonly params?: Params
    readonly query?: Query
    readonly body?: Body
    run(
      request: EndpointRequest<Output<Params>, Output<Query>, Output<Body>>,
      edge: EndpointContext,
    ): Promise<EndpointResponse>
  },
): Endpoint {
  return form as unknown as Endpoint
}

/** The session id in the path, for routes that have one. */
export function sessionAt(edge: EndpointContext, params: { readonly id: Session['id'] }): Session {
  return edge.runtime.session(params.id)
}
