import type { RuntimeEvent } from '../../server/src/runtime/events/runtime-event.ts'

interface Frame {
  readonly event: RuntimeEvent
  readonly id: string | undefined
}

/** Server-sent events out of a text that comes in pieces, cut wherever the network cuts it. */
export class Frames {
  #rest = ''

  /** What is complete with this piece. */
  take(piece: string): readonly Frame[] {
    const frames = (this.#rest + piece).split('\n\n')
    this.#rest = frames.pop() ?? ''
    return frames.map(readFrame).filter((frame) => frame !== null)
  }
}

function readFrame(frame: string): Frame | null {
  let type = ''
  let data = ''
  let id: string | undefined
  for (const line of frame.split('\n')) {
    if (line.startsWith('data: ')) data += line.slice(6)
    else if (line.startsWith('event: ')) type = line.slice(7)
    else if (line.startsWith('id: ')) id = line.slice(4)
  }
  return data === '' ? null : { event: { type, ...JSON.parse(data) }, id }
}
