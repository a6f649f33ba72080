import type { RuntimeEvent } from '../../core/src/session/events/runtime-event.ts'

interface Frame {
  readonly event: RuntimeEvent
  readonly id: string | undefined
}

/** Parses server-sent events from chunks that may end anywhere. */
export class Frames {
  #rest = ''

  /** The frames that this chunk completes. */
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
