import type {
  Outgoing,
  Platform,
  PlatformHandlers,
  Sent,
} from '../../packages/server/src/gateway/chat/platform.ts'

/** What the protocol of the platform offers: here, whole messages in rooms. */
export interface ExampleRooms {
  listen(take: (message: ExampleMessage) => Promise<void>): void
  post(room: string, text: string): Promise<{ readonly id: string }>
  leave(): Promise<void>
}

interface ExampleMessage {
  readonly id: string
  readonly room: string
  readonly author: string
  readonly text: string
  acknowledge(): Promise<void>
}

export class ExamplePlatform implements Platform {
  readonly name = 'example'
  readonly account = 'one'
  readonly capabilities = {
    ...{ edits: false, threads: false, images: false, nonce: false },
    ...{ lengthMax: 1_000, editEveryMs: 1_000, typingMs: 5_000 },
  }
  readonly #rooms: ExampleRooms

  constructor(rooms: ExampleRooms) {
    this.#rooms = rooms
  }

  start({ receive }: PlatformHandlers): void {
    this.#rooms.listen(async ({ id, room, author, text, acknowledge }) => {
      await receive({
        key: id,
        address: room,
        chat: { kind: 'private', id: room, isAddressed: true },
        sender: { id: author, name: author, isBot: false },
        text,
        attachments: async () => [],
      })
      await acknowledge()
    })
  }

  async send({ address, text }: Outgoing): Promise<Sent> {
    try {
      const { id } = await this.#rooms.post(address, text)
      return { kind: 'sent', id }
    } catch {
      return { kind: 'failed', why: 'outage', text: 'the room cannot be reached' }
    }
  }

  // Never called without `edits`.
  async edit(): Promise<Sent> {
    return { kind: 'failed', why: 'final', text: 'messages cannot be edited' }
  }

  async remove(): Promise<Sent> {
    return { kind: 'failed', why: 'final', text: 'messages cannot be removed' }
  }

  async showTyping(): Promise<void> {}

  async close(): Promise<void> {
    await this.#rooms.leave()
  }
}
