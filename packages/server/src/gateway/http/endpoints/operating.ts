import { SCOPES } from '../access/access.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import {
  access,
  agentList,
  auditView,
  health,
  proof,
  proofQuery,
  rehearsalView,
  status,
} from '../schemas.ts'

/** For operators: liveness, readiness and health. */
export const operatingEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/v1/agents',
    summary: 'The agents of this process',
    scope: 'read',
    answers: { 200: { description: 'By name', schema: agentList } },
    problems: [],
    async run(_, { runtime }) {
      return { status: 200, body: { agents: runtime.agents } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/access',
    summary: 'What the caller may do: its scope, and the sessions that it is limited to',
    scope: 'read',
    answers: { 200: { description: '`sessions` null: all', schema: access } },
    problems: [],
    async run({ principal }) {
      const scope = SCOPES.findLast((each) => principal.may(each))
      const sessions = principal.sessions && [...principal.sessions]
      return { status: 200, body: { scope, sessions } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/proof',
    summary: 'Proves to the page that this server knows its token, before the page uses it',
    scope: null,
    query: proofQuery,
    answers: { 200: { description: 'Of the same form for an unknown token', schema: proof } },
    problems: ['wrong-address'],
    async run({ query, isFromPageAt }, { prove }) {
      if (!(await isFromPageAt(query.host))) throw new HttpProblem('wrong-address')
      return { status: 200, body: await prove(query) }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/health',
    summary: 'Store, leases, model routes and edges in detail',
    scope: 'read',
    isWhole: true,
    answers: { 200: { description: 'The health report', schema: health } },
    problems: [],
    async run(_, { runtime, diagnostics, streams }) {
      const { store, ...health } = await runtime.health()
      const bytes = await diagnostics.storeBytes()
      return { status: 200, body: { ...health, store: { ...store, bytes }, streams: streams() } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/audit',
    summary: 'What the audit logs prove so far, law by law; reads what was written since',
    scope: 'read',
    isWhole: true,
    answers: { 200: { description: 'The verdicts; null: no logs are kept', schema: auditView } },
    problems: [],
    async run(_, { diagnostics }) {
      return { status: 200, body: { audit: await diagnostics.audit() } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/rehearsal',
    summary: 'The picture of a rehearsal that runs on this machine, or the verdict of the last',
    scope: 'read',
    isWhole: true,
    answers: { 200: { description: 'Null: none lately', schema: rehearsalView } },
    problems: [],
    async run(_, { diagnostics }) {
      return { status: 200, body: { rehearsal: await diagnostics.rehearsal() } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/healthz',
    summary: 'The process answers',
    scope: null,
    isUnlimited: true,
    answers: { 200: { description: 'Alive', schema: status } },
    problems: [],
    async run() {
      return { status: 200, body: { status: 'alive' } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/readyz',
    summary: 'The store can be read and written, and this process may act',
    scope: null,
    isUnlimited: true,
    answers: {
      200: { description: 'Ready', schema: status },
      503: { description: 'Not now', schema: status },
    },
    problems: [],
    async run(_, { readiness }) {
      const reason = await readiness()
      if (reason === null) return { status: 200, body: { status: 'ready' } }
      return { status: 503, body: { status: 'not ready', reason } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/metrics',
    summary: 'Figures for Prometheus',
    scope: 'read',
    isWhole: true,
    answers: { 200: { description: 'In its text format', types: ['text/plain'] } },
    problems: [],
    async run(_, { readMetrics }) {
      return { status: 200, ...(await readMetrics()) }
    },
  }),
  endpoint({
    method: 'get',
    path: '/openapi.json',
    summary: 'This document',
    scope: null,
    answers: { 200: { description: 'OpenAPI 3.1' } },
    problems: [],
    async run(_, { openApi }) {
      return { status: 200, text: openApi(), type: 'application/json' }
    },
  }),
]
