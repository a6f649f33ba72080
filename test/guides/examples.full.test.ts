import { describe, expect, it } from 'vitest'
import { exampleRunner, joined } from './run-example.ts'

/** Examples do what their comments say. That the others run is in guides.test.ts. */
const run = exampleRunner()

describe('examples', { timeout: 240_000 }, () => {
  it('support-bot-hono streams the answer of a turn', async () => {
    const output = await run('support-bot-hono')
    expect(output).toContain('202 {"kind":"sent","mail":1,"isDuplicate":false}')
    expect(joined(output, 'text')).toContain('Order 7 left the warehouse.')
    expect(output.match(/^id: \d+\nevent: turn-ended$/gm)).toHaveLength(1)
  })

  it('langgraph-agent remembers its thread in the next process', async () => {
    const lengths = (output: string) => output.match(/^\d+(?= messages: )/gm)
    const first = await run('langgraph-agent')
    expect(first).toContain('GRANITE')
    expect(lengths(first)).toEqual(['2', '4'])
    expect(lengths(await run('langgraph-agent'))).toEqual(['6', '8'])
  })

  it('cron-agent does the work of an hour once', async () => {
    const first = await run('cron-agent', '2026-03-01T08:00:12Z')
    expect(first).toMatch(
      /^looking at the sky.*\n2026-03-01T08:00:00\.000Z: [\s\S]*It rains in Bergen/,
    )
    const again = await run('cron-agent', '2026-03-01T08:59:59Z')
    expect(again).toMatch(/^2026-03-01T08:00:00\.000Z \(again\): [\s\S]*It rains in Bergen/)
    expect(await run('cron-agent', '2026-03-01T09:00:00Z')).toMatch(/^looking at the sky/)
  })
})
