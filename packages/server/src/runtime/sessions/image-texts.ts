import { hash } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import { Recent } from '#core/base/recent'
import type { ImagePart, Message, Part } from '#core/message/message'
import { NOTHING_SPENT } from '../../auxiliary/attempts.ts'
import { quotedBlock, type Written } from '../../auxiliary/small-tasks.ts'
import type {
  CallOptions,
  Model,
  ModelRequest,
  ModelStream,
  StreamPiece,
} from '../../model/model.ts'
import { capabilitiesOf } from '../../model/routes/windows.ts'

const DESCRIBED_AT_ONCE_MAX = 16
/** Descriptions of at most 4,000 characters each. */
const TEXTS_MAX = 1_000

/**
 * For models that see no images: each is replaced by a description from the task `vision`, or by a
 * note that there is none. The transcript keeps the image. This process keeps the most recently
 * used descriptions by the hash of the image, so that an image is paid for once and the context
 * stays the same from step to step. After a restart a description is requested again and may
 * differ.
 *
 * Describing counts towards the deadline of the call that needs it and may take half of it. A later
 * description is left out of this call and used in the next one.
 */
export class ImageTexts {
  readonly #clock: Clock
  readonly #texts = new Recent<string, string>(TEXTS_MAX)
  readonly #asked = new Map<string, Promise<Written<string>>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Wraps a model that sees no images so that it gets descriptions, requested when it is called.
   */
  through(model: Model, describe: Describe): Model {
    if (capabilitiesOf(model.route).seesImages) return model
    return {
      route: model.route,
      renew: () => model.renew(),
      stream: (request, options) => {
        if (!request.messages.some(holdsImage)) return model.stream(request, options)
        return beginLater(() => this.#open(model, { request, options, describe }))
      },
    }
  }

  async #open(
    model: Model,
    asked: { request: ModelRequest; options: CallOptions; describe: Describe },
  ): Promise<ModelStream> {
    const { request, options, describe } = asked
    const { signal, deadlines } = options
    const startedAt = this.#clock.monotonic()
    const late = Promise.withResolvers<Written<string>>()
    const callOff = this.#clock.after(deadlines.totalMs / 2, () => late.resolve(TOO_LATE))
    const inTime = (image: ImagePart) =>
      Promise.race([this.#shared(keyOf(image), () => describe(image, signal)), late.promise])
    const replacing = this.#replace(request.messages, inTime)
    const messages = await orAborted(replacing, signal).finally(callOff)
    if (messages === null) return INTERRUPTED
    const totalMs = Math.max(0, deadlines.totalMs - (this.#clock.monotonic() - startedAt))
    const rest = { ...options, deadlines: { ...deadlines, totalMs } }
    return model.stream({ ...request, messages }, rest)
  }

  /** Waits for a description in progress; only a failed one is requested again. */
  async #shared(key: string, describe: () => Promise<Written<string>>): Promise<Written<string>> {
    for (let asked = this.#asked.get(key); asked !== undefined; asked = this.#asked.get(key)) {
      const written = await asked.catch(() => undefined)
      if (written?.kind === 'written') return written
    }
    const asked = describe()
    this.#asked.set(key, asked)
    try {
      const written = await asked
      if (written.kind === 'written') this.#texts.set(key, written.value)
      return written
    } finally {
      if (this.#asked.get(key) === asked) this.#asked.delete(key)
    }
  }

  /** Null: the result is no longer needed. */
  async #replace(
    messages: readonly Message[],
    describe: (image: ImagePart) => Promise<Written<string>>,
  ): Promise<readonly Message[] | null> {
    const images = new Map(messages.flatMap(imagesOf).map((image) => [keyOf(image), image]))
    const unknown = [...images].filter(([key]) => !this.#texts.has(key))
    const reasons = new Map(unknown.map(([key]) => [key, 'too many at once']))
    let isInterrupted = false
    // Describes the newest images first; the next step continues with older ones.
    await Promise.all(
      unknown.slice(-DESCRIBED_AT_ONCE_MAX).map(async ([key, image]) => {
        const written = await describe(image)
        if (written.kind === 'failed') reasons.set(key, written.reason)
        else if (written.kind === 'interrupted') isInterrupted = true
      }),
    )
    if (isInterrupted) return null
    const textOf = (image: ImagePart): string => {
      const key = keyOf(image)
      const text = this.#texts.get(key)
      if (text !== undefined) {
        // Mark it as the most recently used, so that descriptions in current contexts are evicted
        // last.
        this.#texts.set(key, text)
        return quotedBlock('image, as another model describes it', text)
      }
      const reason = reasons.get(key) ?? 'forgotten'
      return `[image: this model sees none, and no description could be had (${reason})]`
    }
    return messages.map((message) => withTexts(message, textOf))
  }
}

type Describe = (image: ImagePart, signal: AbortSignal) => Promise<Written<string>>

function keyOf({ source }: ImagePart): string {
  return hash('sha256', JSON.stringify(source), 'hex')
}

function holdsImage(message: Message): boolean {
  return imagesOf(message).length > 0
}

function imagesOf(message: Message): readonly ImagePart[] {
  if (message.role === 'handoff') return []
  return (message.parts as readonly Part[]).flatMap((part) => {
    if (part.type === 'tool-result') return part.output.filter((each) => each.type === 'image')
    return part.type === 'image' ? [part] : []
  })
}

function withTexts(message: Message, textOf: (image: ImagePart) => string): Message {
  if (!holdsImage(message) || message.role === 'handoff') return message
  const change = (part: Part): Part => {
    if (part.type === 'image') return { type: 'text', text: textOf(part) }
    if (part.type !== 'tool-result') return part
    return { ...part, output: part.output.map(change) as typeof part.output }
  }
  return { ...message, parts: (message.parts as readonly Part[]).map(change) } as Message
}

/** Null as soon as no caller waits for it; a shielded call continues, for the next turn. */
async function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const leave = () => resolve(null)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const result = await Promise.race([value, promise])
  signal.removeEventListener('abort', leave)
  return result
}

const TOO_LATE: Written<string> = { kind: 'failed', reason: 'not in time', spend: NOTHING_SPENT }

const INTERRUPTED: ModelStream = {
  async *[Symbol.asyncIterator]() {
    yield { kind: 'end', outcome: { kind: 'interrupted' }, reply: null }
  },
}

/** A stream that opens on its first read. */
function beginLater(open: () => Promise<ModelStream>): ModelStream {
  return {
    [Symbol.asyncIterator]: () => {
      let opened: Promise<AsyncIterator<StreamPiece>> | undefined
      const iterator = () => {
        opened ??= open().then((stream) => stream[Symbol.asyncIterator]())
        return opened
      }
      return {
        next: async () => await (await iterator()).next(),
        return: async () => {
          await (await opened)?.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
