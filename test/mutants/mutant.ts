import type { Decisions } from '../../packages/core/src/session/protocol/policy.ts'
import type {
  CommitVerb,
  Lease,
  Store,
  Tail,
  WrittenRows,
} from '../../packages/core/src/store/contract.ts'
import type { Rows, Rule } from '../../packages/core/src/store/rules/ruling.ts'
import type { SessionRow } from '../../packages/core/src/store/tables/rows.ts'
import type { Composition } from '../simulation/composition.ts'

/**
 * A planted bug: one part of a composition replaced by a broken one. A checker that has never
 * failed is no evidence, so each of these must be caught, by name.
 */
export interface Mutant {
  readonly name: string
  /** What is broken, and what would happen. */
  readonly story: string
  readonly plant: (sound: Composition) => Composition
  /** A seed that caught it, for those that few seeds catch. It is tried first. */
  readonly seed?: number
}

/** Replaces the rule of one verb by one made from it. */
export function plantRule<Verb extends CommitVerb>(
  sound: Composition,
  verb: Verb,
  change: (rule: Rule<Verb>) => Rule<Verb>,
): Composition {
  return { ...sound, rules: { ...sound.rules, [verb]: change(sound.rules[verb]) } }
}

/** Replaces judgements of the protocol. */
export function plantDecisions(sound: Composition, broken: Partial<Decisions>): Composition {
  return { ...sound, decisions: { ...sound.decisions, ...broken } }
}

/** Puts something between every process and its store. */
export function plantStore(
  sound: Composition,
  change: (store: Store) => Partial<Store>,
): Composition {
  return {
    ...sound,
    store: (store) => {
      const inner = sound.store(store)
      return { ...inner, ...change(inner) }
    },
  }
}

/** Changes what holders see of their sessions, whether they look or get it back from a commit. */
export function plantLook(
  sound: Composition,
  change: (row: SessionRow) => SessionRow,
): Composition {
  const seen = <Outcome extends object>(outcome: Outcome): Outcome => {
    if (!('written' in outcome)) return outcome
    const written = outcome.written as WrittenRows
    return { ...outcome, written: { ...written, session: change(written.session) } }
  }
  return plantStore(sound, (store) => ({
    look: async (query) => {
      const found = await store.look(query)
      return found && { ...found, session: change(found.session) }
    },
    deliver: async (request) => seen(await store.deliver(request)),
    commitReply: async (request) => seen(await store.commitReply(request)),
    commitResults: async (request) => seen(await store.commitResults(request)),
    recover: async (request) => seen(await store.recover(request)),
  }))
}

/** Also acquires sessions that are held; harmless as long as the store refuses. */
export function everySessionReady(sound: Composition): Composition {
  return plantStore(sound, (store) => ({
    readReady: ({ limit }) => store.listSessions({ state: 'open', limit }),
  }))
}

/** The same rows, some answers replaced. */
export function rowsWith(rows: Rows, answers: Partial<Rows>): Rows {
  return new Proxy(rows, {
    get(target, name) {
      const answer = answers[name as keyof Rows] ?? target[name as keyof Rows]
      return typeof answer === 'function' ? answer.bind(target) : answer
    },
  })
}

/** A request as the present holder at the present tail would make it, whoever makes it. */
export function asHolder<Request extends { readonly lease: Lease }>(
  rows: Rows,
  request: Request,
): Request {
  const session = rows.session(request.lease.sessionId)
  if (session === undefined || session.runner === null || session.holder === null) return request
  const { fence, holder, runner } = session
  const lease: Lease = { sessionId: session.id, fence, holder, runner }
  return atTail(rows, { ...request, lease })
}

export function atTail<Request extends { readonly lease: Lease; readonly tail?: Tail }>(
  rows: Rows,
  request: Request,
): Request {
  const session = rows.session(request.lease.sessionId)
  if (session === undefined || request.tail === undefined) return request
  return { ...request, tail: { number: session.tail, hash: session.tailHash } }
}

/** A session row as the rule is to see it. */
export function sessionWith(rows: Rows, change: (row: SessionRow) => SessionRow): Partial<Rows> {
  return {
    session: (id) => {
      const row = rows.session(id)
      return row && change(row)
    },
  }
}

/** As if every session stood alone. */
export function withoutKin(rows: Rows): Rows {
  return rowsWith(rows, {
    related: (root) => rows.related(root).filter(({ id }) => id === root),
  })
}
