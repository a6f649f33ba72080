/**
 * The client side of our event streams. Parses what frameEvent writes: one line of data per event.
 * Skips comments and unknown fields.
 */
export interface ReadEvent {
  readonly id: string | null
  readonly type: string
  readonly data: unknown
}

const FRAME_LENGTH_MAX = 16 * 1024 * 1024

export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ReadEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    // Only new data can contain the end of a frame, except for its first character.
    let from = Math.max(0, rest.length - 1)
    rest += decoder.decode(chunk, { stream: true })
    for (let end = rest.indexOf('\n\n', from); end !== -1; end = rest.indexOf('\n\n')) {
      const event = parseFrame(rest.slice(0, end))
      rest = rest.slice(end + 2)
      from = 0
      if (event !== undefined) yield event
    }
    if (rest.length > FRAME_LENGTH_MAX) throw new RangeError('An event does not end.')
  }
}

function parseFrame(frame: string): ReadEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(': ')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2))
  }
  const data = fields.get('data')
  if (data === undefined) return undefined
  const type = fields.get('event') ?? 'message'
  return { id: fields.get('id') ?? null, type, data: JSON.parse(data) }
}
