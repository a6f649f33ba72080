import type { UserPart } from '#core/message/message'

/**
 * The interface of chat platforms: a platform is one folder that implements a protocol and nothing
 * else. It passes messages on and displays replies. Access, routing, retries and order are handled
 * once, behind this interface.
 *
 * Always true: an update is acknowledged to the platform only after `receive` resolved. A platform
 * that ends before that gets the same update again, and the update's key makes it harmless.
 */
export interface Platform {
  /** The first half of the channel: `telegram`, `discord`. */
  readonly name: string
  /** The account on the platform; it stays the same when a bot is renamed. */
  readonly account: string
  readonly capabilities: PlatformCapabilities
  /** Passes messages on until `close`; waits while the network is down. */
  start(handlers: PlatformHandlers): void
  send(out: Outgoing): Promise<Sent>
  /** Replaces the text of the message `id`. An unchanged text counts as sent. */
  edit(out: Outgoing & { readonly id: string }): Promise<Sent>
  /** Removes one of our messages. A message that is already gone counts as sent. */
  remove(message: { readonly address: string; readonly id: string }): Promise<Sent>
  /** Shows the typing indicator for a few seconds. Never throws: nothing depends on it. */
  showTyping(address: string): Promise<void>
  /** Accepts nothing more; a message that `receive` has not finished is not acknowledged. */
  close(): Promise<void>
}

export interface PlatformHandlers {
  /**
   * Resolves when the message is handled durably: admitted, run as a command, not for us, or
   * refused. If it throws, the update must stay unacknowledged.
   */
  receive(incoming: Incoming): Promise<'admitted' | 'other'>
  /** A chat has a new id from now on. Resolves when that is durable. */
  moved(chat: { readonly from: string; readonly to: string }): Promise<void>
  /**
   * An update that cannot be read and never will be: it is logged and counted, and counts as handled,
   * so that those behind it are read. `reason` has nothing of what people wrote.
   */
  setAside(update: { readonly id: string | null; readonly reason: string }): void
  /** Something an operator should know, in one sentence; null: it is over. */
  report(problem: string | null): void
}

export interface PlatformCapabilities {
  readonly edits: boolean
  readonly threads: boolean
  readonly images: boolean
  /** The longest message, in UTF-16 units of the text before markup. */
  readonly lengthMax: number
  /** One message is edited no more often than this. */
  readonly editEveryMs: number
  /** How long the platform shows the typing indicator. */
  readonly typingMs: number
  /** The platform itself refuses a second message with the same nonce. */
  readonly nonce: boolean
}

/**
 * Text is Markdown as models write it; the platform renders it so that no input can break the
 * message.
 */
export interface Outgoing {
  readonly address: string
  readonly text: string
  /** The same for every attempt at the same message. */
  readonly nonce: string
}

export type Sent =
  | { readonly kind: 'sent'; readonly id: string }
  /** `final`: never retry. `outage`: may be retried. `gone`: there is no such message. */
  | {
      readonly kind: 'failed'
      readonly why: 'rate' | 'outage' | 'final' | 'gone'
      readonly retryAfterMs?: number
      /** For the log: what the platform answered, without message text. */
      readonly text: string
    }

/** A message from a platform. The platform's folder has checked every field. */
export interface Incoming {
  /**
   * The platform's permanent id of the message, the same in every redelivery. An edit has the key
   * of the message that it changes, and as `edit` a number in digits that rises with each change.
   */
  readonly key: string
  readonly edit?: string
  /** Chat, or chat and topic or thread: one route each. */
  readonly address: string
  readonly chat: Chat
  readonly sender: { readonly id: string; readonly name: string; readonly isBot: boolean }
  /** As typed, including commands; '' if there is no text. */
  readonly text: string
  /** Attachments, fetched only if the sender may talk. */
  attachments(): Promise<readonly UserPart[]>
  /** An excerpt of the message that it answers. */
  readonly answers?: string
  /** A note of the platform for the agent; it follows the text. */
  readonly note?: string
  /** The reply to the sender if a part of the message cannot be read. */
  readonly unsupported?: string
  /**
   * Earlier messages that were held and started no turn; they are admitted with it, oldest first.
   */
  readonly earlier?: readonly Incoming[]
}

export interface Chat {
  readonly kind: 'private' | 'group'
  /** The id in the allow-list; for a topic or thread, that of its chat. */
  readonly id: string
  /** In a group: the message mentions us, replies to us or is a command. */
  readonly isAddressed: boolean
}
