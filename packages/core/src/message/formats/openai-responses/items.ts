import type { CodecName } from '../../format-name.ts'
import { writeEnvelope } from '../../handoff/envelope.ts'
import type { Message, Origin, Part } from '../../message.ts'
import { blobText, canSay } from '../blob.ts'
import { hasWord, originOf, ownOrigin, type Position } from '../origin.ts'

export type PlainMessage = Exclude<Message, { role: 'handoff' }>

/** One foreign item about to be written: what it was when it was read, and what it holds now. */
export interface ResponsesItem<P = Part> {
  readonly message: PlainMessage
  readonly origin: Origin | undefined
  readonly parts: readonly P[]
}

/**
 * Handoffs as the user-ranked messages that the world outside knows. An image that the format
 * cannot say becomes words before the envelope is sealed: later they would break its seal.
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

/** A message again as the items it was read from; one that was made here is one item. */
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
  // An item whose parts were all dropped since is gone; one that never had any goes back.
  return [...items.values()].filter(
    (item) => item.parts.length > 0 || hasWord(item.origin, 'hollow'),
  )
}

/** For a message of several items: every part says which one it was in. */
export function positioned<P extends Part>(
  parts: readonly P[],
  { format, at }: Position,
): readonly P[] {
  return parts.map((part) => (part.origin ? part : { ...part, origin: originOf(format, at) }))
}
