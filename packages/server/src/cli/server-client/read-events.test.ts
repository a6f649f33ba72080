import { expect, it } from 'vitest'
import { readEvents } from './read-events.ts'

async function eventsIn(...lines: readonly string[]): Promise<unknown[]> {
  async function* source() {
    yield* lines
  }
  const events: unknown[] = []
  for await (const event of readEvents(source())) events.push(event)
  return events
}

it('reads the events of a stream, each with its type, and nothing else', async () => {
  const first = ['id: 7', 'event: turn-ended', 'data: {"turn":1}', '']
  const second = [': still here', 'retry: 500', '', 'event: live', 'data: {"type":"forged"}', '']
  expect(await eventsIn(...first, ...second, 'data: 5', '')).toEqual([
    { type: 'turn-ended', turn: 1 },
    { type: 'live' },
  ])
})
