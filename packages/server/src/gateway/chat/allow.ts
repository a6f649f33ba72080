import type { Incoming } from './platform.ts'

/** The people who may talk to the bot; none by default. */
export interface AllowList {
  /** Chat ids; everyone in these chats may talk. */
  readonly chats: readonly string[]
  /** User ids; these people may talk in a private chat with the bot. */
  readonly users: readonly string[]
  /** Ids of other bots that may talk in the allowed chats. Default: none. */
  readonly bots?: readonly string[]
}

/** Two bots can answer each other endlessly, so only listed bots are accepted. */
export function isHeard({ bots = [] }: AllowList, { sender }: Incoming): boolean {
  return !sender.isBot || bots.includes(sender.id)
}

export function isSenderAllowed({ chats, users }: AllowList, { chat, sender }: Incoming): boolean {
  if (chats.includes(chat.id)) return true
  // An allowed person does not open a whole group.
  return chat.kind === 'private' && users.includes(sender.id)
}

/** The reply to a person who is not allowed, with the line to pass on to the operator. */
export function strangerText(platform: string, { chat, sender }: Incoming): string {
  const [key, id] = chat.kind === 'private' ? ['users', sender.id] : ['chats', chat.id]
  return (
    `I do not talk here yet, and nothing said here is kept. My operator can allow it in the ` +
    `configuration: gateways.${platform}.allow.${key}: ["${id}"]`
  )
}
