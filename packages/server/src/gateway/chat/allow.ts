import type { Incoming } from './platform.ts'

/** Who may talk; without a word about it, nobody. */
export interface AllowList {
  /** Chats, by id: everybody in them. */
  readonly chats: readonly string[]
  /** People, by id: in a chat of their own with us. */
  readonly users: readonly string[]
  /** Other bots, by id, where somebody may talk. Default: none. */
  readonly bots?: readonly string[]
}

/** Bots answer each other for ever if they are let; only those that are named are heard. */
export function isHeard({ bots = [] }: AllowList, { sender }: Incoming): boolean {
  return !sender.isBot || bots.includes(sender.id)
}

export function isSenderAllowed({ chats, users }: AllowList, { chat, sender }: Incoming): boolean {
  if (chats.includes(chat.id)) return true
  // A group is more than one person: who is allowed elsewhere does not open it to all the others.
  return chat.kind === 'private' && users.includes(sender.id)
}

/** What somebody who may not talk can tell the operator. */
export function strangerText(platform: string, { chat: place, sender }: Incoming): string {
  const [key, id] = place.kind === 'private' ? ['users', sender.id] : ['chats', place.id]
  return (
    `I do not talk here yet, and nothing said here is kept. Whoever runs me can allow it in the ` +
    `configuration: gateways.${platform}.allow.${key}: ["${id}"]`
  )
}
