import { writeEnvelope } from '../../handoff/envelope.ts'
import type { Message, Origin, Part } from '../../message.ts'
import { blobText, canSay } from '../blob.ts'
import type { CodecName } from '../names.ts'
import { hasWord, originOf, ownOrigin, type Position } from '../origin.ts'

export type PlainMessage = Exclude<Message, { role: 'handoff' }>

/** One foreign item to be written: its origin, and its present parts. */
export interface ResponsesItem<P = Part> {
  readonly message: PlainMessage
  readonly origin: Origin | undefined
  readonly parts: readonly P[]
}

/**
 * Writes a handoff as the user message that other programs understand. Images that the format
 * cannot express become text first, because a later change would invalidate the envelope's hash.
 */
export function plain(message: Message, format: CodecName): PlainMessage {
  if (message.role !== 'handoff') return message
  const preserved = message.handoff.preserved.map((kept) => {
    const parts = kept.message.parts.map((part) =>
      (part.type === 'image' || part.type === 'file') && !canSay(part, format)
        ? blobText(part)
        : part,
    )
    return { ...kept, message: { ...kept.message, parts } }
  })
  return writeEnvelope({ ...message.handoff, preserved })
}

/** Splits a message into the items that it was read from; a new message is one item. */
export function itemsOf(message: PlainMessage, format: CodecName): readonly ResponsesItem[] {
  const origin = ownOrigin(message, format)
  if (origin?.others === undefined) return [{ message, origin, parts: message.parts }]

  const items = new Map<number, ResponsesItem & { readonly parts: Part[] }>()
  for (const each of [origin, ...origin.others]) {
    items.set(each.at, { message, origin: each, parts: [] })
  }
  let current = items.get(origin.at)
  for (const part of message.parts) {
    current = items.get(ownOrigin(part, format)?.at ?? -1) ?? current
    current?.parts.push(part)
  }
  // An item that lost all its parts is dropped; one that never had any is written back.
  return [...items.values()].filter(
    (item) => item.parts.length > 0 || hasWord(item.origin, 'hollow'),
  )
}

/** For a message made from several items: marks every part with the item that it came from. */
export function positioned<P extends Part>(
  parts: readonly P[],
  { format, at }: Position,
): readonly P[] {
  return parts.map((part) => (part.origin ? part : { ...part, origin: originOf(format, at) }))
}
