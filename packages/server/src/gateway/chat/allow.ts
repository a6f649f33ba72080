import type { Incoming } from './platform.ts'

/** Who may talk; no one by default. */
export interface AllowList {
  /** Chats, by id: everyone in them. */
  readonly chats: readonly string[]
  /** People, by id: in a private chat with us. */
  readonly users: readonly string[]
  /** Other bots, by id, in the allowed chats. Default: none. */
  readonly bots?: readonly string[]
}

/** Two bots can answer each other endlessly, so only the named ones are heard. */
export function isHeard({ bots = [] }: AllowList, { sender }: Incoming): boolean {
  return !sender.isBot || bots.includes(sender.id)
}

export function isSenderAllowed({ chats, users }: AllowList, { chat, sender }: Incoming): boolean {
  if (chats.includes(chat.id)) return true
  // An allowed person does not open a whole group.
  return chat.kind === 'private' && users.includes(sender.id)
}

/** The reply to a person who may not talk, to pass on to the operator. */
export function strangerText(platform: string, { chat, sender }: Incoming): string {
  const [key, id] = chat.kind === 'private' ? ['users', sender.id] : ['chats', chat.id]
  return (
    `I do not talk here yet, and nothing said here is kept. My operator can allow it in the ` +
    `configuration: gateways.${platform}.allow.${key}: ["${id}"]`
  )
}
