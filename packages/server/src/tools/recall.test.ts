import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { tries } from '../../../../test/support/seeded-random.ts'
import { ToolHost } from '../../../../test/support/tool-host.ts'
import { RECALL_CHARACTERS_MAX, recallTool } from './recall.ts'

async function ada() {
  const host = new ToolHost(['ada'])
  host.tools.set('ada', [recallTool({ store: host.store })])
  const id = await host.open('ada', 's-ada')
  host.start()
  return { host, id }
}

const recall = (input: JsonObject) => [{ tool: 'recall', input }]

describe('recall', () => {
  it('finds entries with their number and neighbours, and not the searching call itself', async () => {
    const { host, id } = await ada()
    await host.ask(id, 'The vault code is kestrel-42.', ['Noted.'])
    await host.ask(id, 'Something else.', ['Fine.'])
    const [answer] = await host.ask(id, 'What was it?', recall({ query: 'kestrel vault' }))
    expect(answer).toMatch(/^#\d+ person, 2026-03-01T12:00Z: The vault code is kestrel-42\./)
    expect(answer).toContain('Noted.')
    expect(answer).not.toContain('kestrel vault')
    const [opened] = await host.ask(id, 'Once more.', recall({ from: 1, to: 9 }))
    expect(opened).toContain('turn 1 ended: answered')
    expect(opened).not.toContain('null')
  })

  it('shows the matching part of a long text', async () => {
    const { host, id } = await ada()
    await host.ask(id, `${'filler '.repeat(3_000)}the needle stands here`, ['ok'])
    const [answer] = await host.ask(id, '?', recall({ query: 'needle' }))
    expect(answer).toContain('the needle stands here')
  })

  it('skips as many of the best matches as `skip` says', async () => {
    const { host, id } = await ada()
    for (const bird of ['kestrel', 'osprey', 'plover'])
      await host.ask(id, `A vault ${bird}.`, ['ok'])
    const [all = ''] = await host.ask(id, '?', recall({ query: 'vault' }))
    const [rest = ''] = await host.ask(id, '?', recall({ query: 'vault', skip: 9 }))
    expect(all.match(/A vault \w+\./g)).toHaveLength(3)
    expect(rest).toMatch(/^There are no more matches/)
  })

  it('reports that nothing was found', async () => {
    const { host, id } = await ada()
    const [answer] = await host.ask(id, 'hm', recall({ query: 'zeppelin' }))
    expect(answer).toMatch(/^Nothing was found/)
    expect(await host.ask(id, 'hm', recall({}))).toEqual([
      'Give `query` to search, or `from` to open entries.',
    ])
    expect(await host.ask(id, 'hm', recall({ from: 5_000 }))).toEqual([
      expect.stringMatching(/^There is no entry 5000/),
    ])
  })

  it('searches and opens the other conversations of the same people, and no others [I21]', async () => {
    const store = openMemoryStore()
    const here = await StoreFixture.open(store, { scope: 'bea' })
    const earlier = await StoreFixture.open(store, { scope: 'bea' })
    const strangers = await StoreFixture.open(store, { scope: 'carl' })
    const foreign = await StoreFixture.open(store, { scope: 'bea', agent: 'another' })
    for (const each of [earlier, strangers, foreign]) {
      await each.exchange(`The vault code of ${each.id} is kestrel.`, 'Noted.')
    }
    await here.exchange('The vault is shut.', 'Good.')
    const tool = recallTool({ store })
    const run = async (input: JsonObject) => {
      const call = { sessionId: here.id, agent: 'ada', turn: 1, entry: 99, key: 'k', input }
      return String((await tool.run(call, new AbortController().signal)).output)
    }
    expect(await run({ query: 'kestrel' })).toMatch(/^Nothing was found/)
    const lines = (await run({ query: 'vault kestrel', everywhere: true })).split('\n')
    expect(lines[0]).toMatch(`${earlier.id} #1 person, `)
    expect(lines.at(-1)).toMatch(/^#\d+ /)
    for (const { id } of [strangers, foreign]) {
      expect(lines.join()).not.toContain(id)
      expect(await run({ session: id, from: 1 })).toBe(
        `There is no conversation ${id} with the same people.`,
      )
    }
    expect(await run({ session: 'nobody', from: 1 })).toMatch(/^There is no conversation nobody/)
    expect(await run({ session: earlier.id, from: 1 })).toContain('is kestrel.')
    expect(await run({ session: here.id, from: 1 })).toContain('The vault is shut.')
  })

  it('can be limited to an exact text, a speaker and days', async () => {
    const { host, id } = await ada()
    await host.ask(id, 'It failed: E_TIMEOUT (code 7) in src/net/dial.ts', ['A timeout, code 7.'])
    const ask = async (input: JsonObject) => (await host.ask(id, 'hm', recall(input)))[0]
    expect(await ask({ query: 'E_TIMEOUT (code 7)', exact: true })).toMatch(/^#\d+ person/)
    expect(await ask({ query: 'timeout code', speaker: 'agent', limit: 1 })).toMatch(/^#\d+ you/)
    expect(await ask({ query: 'timeout', until: '2026-03-01' })).toMatch(/^Nothing was found/)
  })

  it('says where to continue when more entries were requested than fit', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    for (let n = 0; n < 75; n++) await fixture.exchange('a', 'b')
    const tool = recallTool({ store })
    const call = {
      sessionId: fixture.id,
      agent: 'ada',
      turn: 1,
      entry: fixture.tail.number,
      key: 'k',
    }
    const seen: number[] = []
    for (let from = 1, calls = 0; from > 0 && calls < 9; calls++) {
      const input = { from, to: 5_000 }
      const { output } = await tool.run({ ...call, input }, new AbortController().signal)
      const numbers = String(output).matchAll(/^#(\d+) /gm)
      seen.push(...Array.from(numbers, ([, number]) => Number(number)))
      from = Number(/\[Go on with from: (\d+)\.\]$/.exec(String(output))?.[1] ?? 0)
    }
    expect(seen).toEqual(Array.from({ length: fixture.tail.number }, (_, index) => index + 1))
    expect(seen.length).toBeGreaterThan(200)
  })

  // One of the two would be split inside a character.
  it.each(['', 'x'])(
    'returns a long entry completely over several calls (%j before)',
    async (before) => {
      const { host, id } = await ada()
      const text = before + '😀'.repeat(20_000)
      await host.say(id, text)
      await host.pass(1_000)
      const input = (await host.transcript(id)).find(({ kind }) => kind === 'input')
      let collected = ''
      let offset = 0
      for (let call = 0; call < 20; call++) {
        const [answer = ''] = await host.ask(id, '?', recall({ from: input?.number ?? 0, offset }))
        expect(answer.length).toBeLessThan(RECALL_CHARACTERS_MAX + 200)
        expect(answer.isWellFormed()).toBe(true)
        const [, ...lines] = answer.split('\n')
        const next =
          /\[\d+ further characters of this entry; go on with from: \d+, offset: (\d+)\.\]$/
        const [note = '', to] = next.exec(answer) ?? []
        collected += lines.join('\n').slice(0, note === '' ? undefined : -(note.length + 2))
        if (to === undefined) break
        offset = Number(to)
      }
      expect(collected).toBe(text)
    },
  )

  it('opens a range and says where to continue', async () => {
    const { host, id } = await ada()
    for (const name of ['a', 'b', 'c']) await host.ask(id, `${name} ${'x'.repeat(5_000)}`, ['ok'])
    const [answer = ''] = await host.ask(id, '?', recall({ from: 1, to: 100 }))
    expect(answer).toMatch(/\[Go on with from: \d+\.\]$|further characters/)
    expect(answer.length).toBeLessThan(RECALL_CHARACTERS_MAX + 200)
  })

  it('never fails, for any query [fault 35]', async () => {
    const { host, id } = await ada()
    await host.ask(id, 'hello "world"', ['ok'])
    const [tool] = host.tools.get('ada') ?? []
    const odd = ['"', "' OR 1=1 --", '*', 'NEAR(', '\0', '\ud800', '()'.repeat(2_000), '', '漢字']
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
    const any = units.map((codes) => String.fromCharCode(...codes))
    const query = fc.oneof(any, fc.string({ unit: 'grapheme' }), fc.constantFrom(...odd))
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const call = { sessionId: id, agent: 'ada', turn: 1, entry: 99, key: 'k' }
        const signal = new AbortController().signal
        const answer = await tool?.run({ ...call, input: { query: text } }, signal)
        return answer?.outcome === 'ok'
      }),
      { numRuns: tries(200) },
    )
  })
})
