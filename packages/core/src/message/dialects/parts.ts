import { isObject } from '../../base/json.ts'
import type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  ImagePart,
  Message,
  Part,
  ResultPart,
  SystemMessage,
  TextPart,
  ToolResultPart,
  UserMessage,
  UserPart,
} from '../message.ts'
import { isSame, withParts } from '../same.ts'
import { textOf } from '../text.ts'
import type { Accepted } from './accepted.ts'
import { sendableBlob } from './blobs.ts'
import { isBlank } from './findings.ts'

/**
 * Which parts a dialect accepts in which role, and what happens to the others. An item of another
 * provider becomes a marker in a user or tool message and is dropped from a reply; images in a
 * position where they are not allowed become markers or move.
 */

export function systemParts(message: SystemMessage, accepts: Accepted): SystemMessage | undefined {
  return spoken(message, accepts, (part): TextPart => (part.type === 'text' ? part : marker(part)))
}

export function userParts(message: UserMessage, accepts: Accepted): UserMessage | undefined {
  return spoken(message, accepts, (part): UserPart => {
    if (part.type === 'text') return part
    if (part.type === 'opaque') return accepts.fromUser?.(part) === true ? part : marker(part)
    return accepts.textOnly === true ? marker(part) : sendableBlob(part, accepts)
  })
}

export function assistantParts(
  message: AssistantMessage,
  accepts: Accepted,
): AssistantMessage | undefined {
  const kept = keepParts(message, (part) => {
    if (part.type === 'reasoning') return accepts.reasoning?.(part) === true
    return part.type !== 'opaque' || accepts.fromAssistant?.(part) === true
  })
  return spoken(kept, accepts, (part): AssistantPart => {
    const isBlob = part.type === 'image' || part.type === 'file'
    if (isBlob) return accepts.blobInReply === true ? sendableBlob(part, accepts) : marker(part)
    return part.type === 'tool-call' ? withObjectInput(part, accepts) : part
  })
}

/** The result in the dialect's form, and the images and files to show after the results instead. */
export function resultParts(
  result: ToolResultPart,
  accepts: Accepted,
): { readonly result: ToolResultPart; readonly moved: readonly (ImagePart | FilePart)[] } {
  const moved: (ImagePart | FilePart)[] = []
  const { strictResults = false, textResults = false } = accepts
  const isStrictError = strictResults && result.isError === true
  const isTextOnly = textResults || isStrictError
  const sendable = result.output.map((part): ResultPart => {
    if (part.type === 'text') return part
    if (part.type === 'opaque') {
      return accepts.inResult?.(part) === true && !isTextOnly ? part : marker(part)
    }
    if (accepts.textOnly === true) return marker(part)
    const blob = sendableBlob(part, accepts)
    if (blob.type === 'text' || !isTextOnly) return blob
    moved.push(blob)
    return { type: 'text', text: `${textOf(part)} (shown behind the results)` }
  })
  const output = strictResults
    ? sendable.filter((part) => part.type !== 'text' || part.text.trim() !== '')
    : sendable
  if (isStrictError && output.length === 0) output.push({ type: 'text', text: '(no output)' })
  return { result: isSame(output, result.output) ? result : { ...result, output }, moved }
}

/** The message with the parts that pass; the same object if all do. */
export function keepParts<M extends AssistantMessage>(
  message: M,
  passes: (part: AssistantPart) => boolean,
): M {
  return withParts(message, message.parts.filter(passes))
}

/** Maps the parts and drops blank text; undefined if nothing else is left. */
function spoken<M extends Exclude<Message, { role: 'handoff' | 'tool' }>>(
  message: M,
  accepts: Accepted,
  map: (part: M['parts'][number]) => M['parts'][number],
): M | undefined {
  const mapped = message.parts.map(map)
  const parts =
    accepts.blankText === true
      ? mapped
      : mapped.filter((part) => part.type !== 'text' || !isBlank(part.text))
  const saysSomething = parts.some((part) => {
    if (part.type === 'text') return !isBlank(part.text)
    return part.type !== 'reasoning' || accepts.reasoningAlone === true
  })
  if (!saysSomething) return undefined
  return withParts(message, parts)
}

/** The substitute for a part that cannot be sent: the item itself if it is short enough to read. */
function marker(part: Part): TextPart {
  const json = part.type === 'opaque' && isObject(part.value) ? JSON.stringify(part.value) : ''
  const isReadable = json !== '' && json.length <= MARKER_LENGTH_MAX
  return { type: 'text', text: isReadable ? json : textOf(part) }
}

const MARKER_LENGTH_MAX = 2000

function withObjectInput(
  call: Extract<AssistantPart, { type: 'tool-call' }>,
  { objectInput = false }: Accepted,
) {
  if (!objectInput || isObject(call.input)) return call
  const { inputText: _, ...rest } = call
  return { ...rest, input: { input: call.input } }
}
