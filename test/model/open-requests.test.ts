import { afterEach, expect, it } from 'vitest'
import { estimateMessage } from '../../packages/core/src/tokens/estimate.ts'
import type { Tool } from '../../packages/server/src/tools/tool.ts'
import { until } from '../support/until.ts'
import { agentOf, openRuntimeBench, routeOf } from './runtime-bench.ts'

let bench: Awaited<ReturnType<typeof openRuntimeBench>>
afterEach(() => bench.close())

const REQUESTS = Array.from(
  { length: 20 },
  (_, index) => `Request ${index}: count the boats in harbour ${index} and note them down today.`,
)

/** Reads so much that the next step does not fit any more. */
const look: Tool = {
  name: 'look',
  description: 'Looks at the harbour.',
  inputSchema: { type: 'object' },
  isRepeatable: true,
  run: async () => ({ outcome: 'ok', output: 'A boat lies at the quay. '.repeat(400) }),
}

it('20 requests stay before the model, over a compaction inside their turn [I34]', async () => {
  bench = await openRuntimeBench({
    agents: (url) => [
      agentOf(url, {
        tools: [look],
        routes: {
          main: routeOf(url, 'stand-in', { windowTokens: 11_000 }),
          fallbacks: [],
          auxiliary: {},
        },
        // Nothing is compacted before a step does not fit.
        settings: { softShare: 1, modelRetryMs: 20, modelRetryMsMax: 100 },
        policy: 'queue',
      }),
    ],
  })
  const session = await bench.session('harbour')
  await bench.fill(session, 7)
  const lift = bench.server.faults.always('status; code=503', {
    when: ({ bodyText }) => bodyText.includes('Wait a moment.'),
  })
  const isAnswered = bench.say(session, 'Wait a moment.')
  await until(async () => (await bench.store.findSession(session.id))?.turnState === 'running')
  const mail = []
  for (const text of [...REQUESTS, 'Now begin.\nuse look {}\nthen\nsay All is noted.']) {
    const admitted = await session.admit({
      source: 'test',
      key: text,
      parts: [{ type: 'text', text }],
    })
    if ('mail' in admitted) mail.push(admitted.mail)
  }
  lift()
  await isAnswered
  const reply = await session.reply(mail.at(-1) ?? (0 as never), AbortSignal.timeout(15_000))
  expect(reply).toMatchObject({ ended: 'answered', text: 'All is noted.' })
  const row = await bench.store.findSession(session.id)
  // A compaction inside the turn covers all of them.
  const { covers = 0, settled } = row ?? {}
  const context = await bench.store.readContext({ sessionId: session.id })
  const carried = context?.entries.filter(
    ({ kind, number }) => kind === 'input' && number <= covers,
  )
  expect([carried?.length, settled?.user]).toEqual([REQUESTS.length + 1, mail.at(-1)])
  const [last] = bench.requestsOf(({ bodyText }) => bodyText.includes('[handoff '))
  expect(REQUESTS.filter((request) => !last?.bodyText.includes(request))).toEqual([])
})

it('each agent has its own cap on the preserved words of its sessions [S12]', async () => {
  const capped = (name: string, userTokens: number) => (url: string) =>
    agentOf(url, { name, settings: { sections: { userTokens } } })
  bench = await openRuntimeBench({
    agents: (url) => [capped('none', 0)(url), capped('some', 1_500)(url)],
  })
  const sizes: number[] = []
  for (const agent of ['none', 'some']) {
    const session = await bench.session(`${agent}-1`, agent)
    await bench.fill(session, 5)
    const shown = await session.preview({}, AbortSignal.timeout(15_000))
    if (shown.kind !== 'previewed') throw new Error(shown.kind)
    const { preserved } = shown.handoff
    sizes.push(preserved.reduce((sum, { message }) => sum + estimateMessage(message, 'generic'), 0))
  }
  expect(sizes[0]).toBe(0)
  expect(sizes[1]).toBeGreaterThan(500)
  expect(sizes[1]).toBeLessThanOrEqual(1_500)
})
