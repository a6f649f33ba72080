import { afterEach, describe, expect, it } from 'vitest'
import type { Script } from '../../packages/server/src/stand-in/index.ts'
import type { Tool } from '../../packages/server/src/tools/tool.ts'
import { Journey, SUMMARIES, type Terms } from './journey.ts'

const opened: Journey[] = []
afterEach(async () => {
  for (const journey of opened.splice(0)) await journey.close()
})

async function open(terms: Terms): Promise<Journey> {
  const journey = await Journey.open(terms)
  opened.push(journey)
  return journey
}

const isTurn = ({ model }: { readonly model: string | undefined }) => model !== SUMMARIES
const PROSE = 'The harbour wall was measured twice and the second figure was the right one. '

/** Counts its calls; each answers with as much text as it is asked for. */
function counted() {
  const calls: string[] = []
  const fetchPage: Tool = {
    name: 'fetch',
    description: 'Fetches a page.',
    inputSchema: { type: 'object' },
    isRepeatable: false,
    async run({ key, input }) {
      calls.push(key)
      const { sentences } = input as { sentences: number }
      return { outcome: 'ok', output: PROSE.repeat(sentences) }
    },
  }
  return { calls, tools: [fetchPage] }
}

/** How the compactions ended that an overflow asked for, newest first. */
async function reactive(journey: Journey, id: string): Promise<readonly string[]> {
  const { json } = await journey.call(`/v1/sessions/${id}/compactions`)
  return json.compactions.flatMap(({ trigger, state }: { trigger: string; state: string }) =>
    trigger === 'reactive' ? [state] : [],
  )
}

async function fill(journey: Journey, id: string, messages: number): Promise<void> {
  for (let n = 1; n <= messages; n++) await journey.ask(id, `say noted ${n}\n${PROSE.repeat(20)}`)
}

/** Calls the tool so often in each turn, then says how often it was called in all. */
function caller(calls: readonly string[], perTurn: number): Script {
  return ({ model, messages }) => {
    if (model === SUMMARIES) return undefined
    const isBegun = messages.at(-1)?.role === 'tool'
    const isDone = calls.length % perTurn === 0 && isBegun
    if (isDone) return { text: `${calls.length} calls` }
    return { calls: [{ name: 'fetch', input: '{"sentences": 20}' }] }
  }
}

describe('a provider that refuses a request as too long', () => {
  it('in the middle of a tool loop is answered with one compaction, and no tool runs twice', async () => {
    const { calls, tools } = counted()
    const model = { script: caller(calls, 4) }
    const journey = await open({ agent: { tools }, windowTokens: 64_000, model })
    const id = await journey.make()
    for (let n = 1; n <= 2; n++) await journey.ask(id, `Note ${n}. ${PROSE.repeat(20)}`)
    journey.model.faults.next('context-overflow', {
      when: (target) => isTurn(target) && calls.length === 10,
    })
    const { reply } = await journey.ask(id, 'Once more.')
    expect(reply).toMatchObject({ ended: 'answered', text: '12 calls' })
    expect(journey.model.faults.waiting).toBe(0)
    expect(new Set(calls).size).toBe(12)
    expect(await reactive(journey, id)).toEqual(['committed'])
  })

  it('with a wrong window in the table is answered, with one compaction a step at most', async () => {
    const { calls, tools } = counted()
    const journey = await open({
      agent: { tools },
      windowTokens: 64_000,
      model: { windowTokens: 12_000, script: caller(calls, 2) },
    })
    const id = await journey.make()
    const replies: string[] = []
    for (let n = 1; n <= 12; n++) {
      const { reply } = await journey.ask(id, `Note ${n}. ${PROSE.repeat(20)}`)
      replies.push(reply.text)
    }
    expect(replies).toEqual(Array.from({ length: 12 }, (_, n) => `${2 * n + 2} calls`))
    expect(new Set(calls).size).toBe(24)
    expect((await reactive(journey, id)).length).toBeGreaterThan(1)
    expect(await reactive(journey, id)).not.toContain('failed')
    // Between two replies of the model stands one compaction at most.
    const { json } = await journey.call(`/v1/sessions/${id}/transcript?from=1&limit=200`)
    const kinds = json.entries.map(({ kind }: { kind: string }) => kind)
    const perStep = kinds.join(' ').split('assistant')
    expect(perStep.filter((step: string) => step.split('compaction').length > 2)).toEqual([])
  })

  it('for one message larger than the window: it is shown shortened, and answered', async () => {
    const journey = await open({ windowTokens: 12_000, model: { windowTokens: 12_000 } })
    const id = await journey.make()
    await fill(journey, id, 4)
    const { reply } = await journey.ask(id, `say I read it.\n${PROSE.repeat(2_000)}`)
    expect(reply).toMatchObject({ ended: 'answered', text: 'I read it.' })
  })

  it('for a request that cannot shrink is explained in plain words, and the session stays usable', async () => {
    // 6,400 of the 9,000 are asked for as output.
    const journey = await open({ windowTokens: 64_000, model: { windowTokens: 9_000 } })
    const id = await journey.make()
    await fill(journey, id, 2)
    const { reply } = await journey.ask(id, `say I read it.\n${PROSE.repeat(800)}`)
    expect(reply.ended).toBe('failed')
    expect(reply.text).toMatch(/Largest: entry \d+, user "say I read it\. The harbour wall/)
    expect((await journey.ask(id, 'say Still here.')).reply).toMatchObject({
      ended: 'answered',
      text: 'Still here.',
    })
    // The first time two digests did not make it fit; for the next message one did.
    expect(await reactive(journey, id)).toEqual(['committed', 'failed', 'failed'])
  })
})
