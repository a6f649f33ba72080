import { isObject } from '#core/base/json'
import type { RuntimeEvent } from '#core/session/events/runtime-event'

/** The events in the lines of a `text/event-stream`; comments and `retry` are skipped. */
export async function* readEvents(lines: AsyncIterable<string>): AsyncGenerator<RuntimeEvent> {
  let type = ''
  for await (const line of lines) {
    if (line.startsWith('event: ')) type = line.slice('event: '.length)
    if (!line.startsWith('data: ')) continue
    const value: unknown = JSON.parse(line.slice('data: '.length))
    if (isObject(value)) yield { ...value, type } as unknown as RuntimeEvent
  }
}
