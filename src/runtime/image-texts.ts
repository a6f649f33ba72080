import { hash } from 'node:crypto'
import { fenced, type Written } from '../auxiliary/small-tasks.ts'
import { Recent } from '../base/recent.ts'
import type { ImagePart, Message, Part } from '../message/message.ts'
import type { Model, ModelStream, Piece } from '../model/model.ts'
import { capabilitiesOf } from '../model/windows.ts'

const DESCRIBED_AT_ONCE_MAX = 16
/** Of at most 4,000 characters each. */
const TEXTS_MAX = 1_000

/**
 * For models that see no images: in the place of each stands a text that the task `vision` wrote, or
 * plain words that there is none. The transcript keeps the image. A description is kept in this
 * process by the hash of what it describes, the ones used last, so that an image is paid for once
 * and the context stays the same from step to step. After a restart it is written anew, and may
 * differ.
 */
export class ImageTexts {
  readonly #texts = new Recent<string, string>(TEXTS_MAX)
  readonly #asked = new Map<string, Promise<Written<string>>>()

  /** The same model; one that is blind gets texts. They are made when it is asked, not before. */
  through(model: Model, describe: Describe): Model {
    if (capabilitiesOf(model.route).seesImages) return model
    return {
      route: model.route,
      renew: () => model.renew(),
      stream: (request, options) => {
        if (!request.messages.some(holdsImage)) return model.stream(request, options)
        return beginLater(async () => {
          const { signal } = options
          const replacing = this.#replace(request.messages, (image) => describe(image, signal))
          const messages = await orAborted(replacing, signal)
          return messages === null ? INTERRUPTED : model.stream({ ...request, messages }, options)
        })
      },
    }
  }

  /** What is being described already is waited for; only what came to nothing is asked again. */
  async #shared(key: string, describe: () => Promise<Written<string>>): Promise<Written<string>> {
    for (let asked = this.#asked.get(key); asked !== undefined; asked = this.#asked.get(key)) {
      const written = await asked.catch(() => undefined)
      if (written?.kind === 'written') return written
    }
    const asked = describe()
    this.#asked.set(key, asked)
    try {
      return await asked
    } finally {
      if (this.#asked.get(key) === asked) this.#asked.delete(key)
    }
  }

  /** Null: somebody wants no answer any more. */
  async #replace(
    messages: readonly Message[],
    describe: (image: ImagePart) => Promise<Written<string>>,
  ): Promise<readonly Message[] | null> {
    const images = new Map(messages.flatMap(imagesOf).map((image) => [keyOf(image), image]))
    const unknown = [...images].filter(([key]) => !this.#texts.has(key))
    const reasons = new Map(unknown.map(([key]) => [key, 'too many at once']))
    let isInterrupted = false
    // The newest are asked about; with the next step come the ones before.
    await Promise.all(
      unknown.slice(-DESCRIBED_AT_ONCE_MAX).map(async ([key, image]) => {
        const written = await this.#shared(key, () => describe(image))
        if (written.kind === 'written') this.#texts.set(key, written.value)
        else if (written.kind === 'failed') reasons.set(key, written.reason)
        else isInterrupted = true
      }),
    )
    if (isInterrupted) return null
    const textOf = (image: ImagePart): string => {
      const key = keyOf(image)
      const text = this.#texts.get(key)
      if (text !== undefined) {
        // Used, it is the newest again: what contexts hold is not forgotten for what they held.
        this.#texts.set(key, text)
        return fenced('image, as another model describes it', text)
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

/** Null as soon as nobody waits for it; what is shielded goes on, and is there for the next turn. */
async function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const leave = () => resolve(null)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const result = await Promise.race([value, promise])
  signal.removeEventListener('abort', leave)
  return result
}

const INTERRUPTED: ModelStream = {
  async *[Symbol.asyncIterator]() {
    yield { kind: 'end', outcome: { kind: 'interrupted' }, reply: null }
  },
}

/** A stream that is opened when its first piece is asked for. */
function beginLater(open: () => Promise<ModelStream>): ModelStream {
  return {
    [Symbol.asyncIterator]: () => {
      let opened: Promise<AsyncIterator<Piece>> | undefined
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
