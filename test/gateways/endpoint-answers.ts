import { ENDPOINTS } from '../../packages/server/src/gateway/http/endpoints/all.ts'
import { HttpProblem } from '../../packages/server/src/gateway/http/problems.ts'

/** The answers of a session, its memory and a runtime by the name of the method, or what makes them. */
export type Answers = Readonly<Record<string, unknown>>

export const ONCE = { source: 'http', key: 'k' }
export const SUMMARY = {
  ...{ id: 's1', agent: 'main', state: 'idle', entries: 9, compaction: 5, windowTokens: 1_000 },
}
export const OPEN = { sessions: null, may: () => true }
export const MAIL = { sessionId: 's1', mail: 3 }
export const ADMITTED = { kind: 'admitted', ...MAIL }
export const ACCEPTED = { status: 202, body: { ...MAIL, duplicate: false } }
export const UNKNOWN_SESSION = problem('unknown-session')

export function problem(code: string, facts: object = {}, detail?: string) {
  return { code, facts, ...(detail !== undefined && { detail }) }
}

interface Asked {
  readonly session?: Answers
  readonly memory?: Answers
  readonly runtime?: Answers
}

/** What a route asks of the session `s1`, its memory and the runtime, and its answer. */
export async function ask(
  route: string,
  request: object,
  { session = {}, memory = {}, runtime = {} }: Asked = {},
) {
  const asked: unknown[] = []
  const those = (name: string, answers: Answers) =>
    Object.fromEntries(
      Object.entries(answers).map(([method, answer]) => [
        method,
        async (...given: readonly unknown[]) => {
          const told = given.filter((each) => !(each instanceof AbortSignal))
          asked.push([`${name}${method}`, ...told])
          return typeof answer === 'function' ? answer(...given) : answer
        },
      ]),
    )
  const handle = {
    ...{ id: 's1', memory: those('memory.', memory) },
    ...those('', { summary: SUMMARY, ...session }),
  }
  const edge = {
    runtime: { ...those('runtime.', runtime), session: () => handle },
    waitMsMax: 10_000,
  }
  const whole = {
    ...{ params: { id: 's1' }, query: {}, body: {}, once: ONCE, principal: OPEN },
    ...{ signal: new AbortController().signal, ...request },
  }
  const answer = await endpointOf(route)
    .run(whole as never, edge as never)
    .catch((error: unknown) => {
      if (!(error instanceof HttpProblem)) throw error
      return problem(error.code, error.facts, error.detail)
    })
  return { asked: asked.filter((each) => String(each) !== 'summary'), answer }
}

export function endpointOf(route: string) {
  const endpoint = ENDPOINTS.find(({ method, path }) => `${method} ${path}` === route)
  if (endpoint === undefined) throw new Error(`no ${route}`)
  return endpoint
}
