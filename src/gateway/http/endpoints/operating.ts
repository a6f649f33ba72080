import { type Endpoint, endpoint } from '../endpoint.ts'
import { agentList, health, status } from '../schemas.ts'

/** For those who run it: is it alive, is it ready, how is it. */
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
    path: '/v1/health',
    summary: 'Store, leases, model routes and edges in detail',
    scope: 'read',
    isWhole: true,
    answers: { 200: { description: 'How it is', schema: health } },
    problems: [],
    async run(_, { runtime }) {
      return { status: 200, body: await runtime.health() }
    },
  }),
  endpoint({
    method: 'get',
    path: '/healthz',
    summary: 'The process answers',
    scope: null,
    answers: { 200: { description: 'Alive', schema: status } },
    problems: [],
    async run() {
      return { status: 200, body: { status: 'alive' } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/readyz',
    summary: 'The store can be read and this process may act',
    scope: null,
    answers: {
      200: { description: 'Ready', schema: status },
      503: { description: 'Not now', schema: status },
    },
    problems: [],
    async run(_, { runtime }) {
      // Whatever keeps us from telling keeps us from working.
      const isReady = await runtime.health().then(
        (found) => found.isReady,
        () => false,
      )
      if (isReady) return { status: 200, body: { status: 'ready' } }
      return { status: 503, body: { status: 'not ready' } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/metrics',
    summary: 'Figures for Prometheus',
    scope: 'read',
    isWhole: true,
    answers: { 200: { description: 'In its text format', type: 'text/plain' } },
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
      return { status: 200, body: openApi() }
    },
  }),
]
