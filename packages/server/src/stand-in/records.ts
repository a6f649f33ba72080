import { isObject, type JsonValue } from '#core/base/json'
import type { Handoff } from '#core/message/handoff/handoff'
import type { Message, Part } from '#core/message/message'
import { textOf } from '#core/message/text'
import { unseal } from './seal.ts'

/** The contents of a request in pieces, each with its position: all that the stand-in knows. */
export interface Record {
  /**
   * For people: `one of your messages`, `the handoff's summary`. Without numbers: a request also
   * holds instructions and pins, so that its third message need not be the third that a person sent.
   */
  readonly where: string
  readonly who: 'user' | 'assistant' | 'tool' | 'system' | 'handoff'
  readonly text: string
}

/** Oldest first. Handoffs and the stand-in's own compactions are unpacked. */
export function recordsOf(messages: readonly Message[]): readonly Record[] {
  return messages.flatMap((message): readonly Record[] => {
    if (message.role === 'handoff') return recordsOfHandoff(message.handoff)
    const sealed = message.parts.flatMap((part) => unsealedText(part))
    const opened = sealed.map((text) => ({
      where: 'the compaction',
      who: 'handoff' as const,
      text,
    }))
    const text = textOf(message)
    switch (message.role) {
      case 'user':
        return [...opened, { where: 'one of your messages', who: 'user', text }]
      case 'assistant':
        return [...opened, { where: 'one of my answers', who: 'assistant', text }]
      case 'tool':
        return [{ where: 'the result of a tool', who: 'tool', text }]
      case 'system':
        return [{ where: 'the system prompt', who: 'system', text }]
      default:
        return message satisfies never
    }
  })
}

function recordsOfHandoff(handoff: Handoff): readonly Record[] {
  const { summary, ledger, files, tasks, preserved } = handoff
  const section = (name: string, lines: readonly string[]): readonly Record[] =>
    lines.length === 0
      ? []
      : [{ where: `the handoff's ${name}`, who: 'handoff', text: lines.join('\n') }]
  return [
    ...section('summary', [summary]),
    ...section(
      'ledger',
      ledger.map(({ kind, text }) => `${kind}: ${text}`),
    ),
    ...section(
      'files',
      files.map(({ access, path }) => `${access} the file ${path}`),
    ),
    ...section(
      'tasks',
      tasks.map(({ status, text }) => `${status} task: ${text}`),
    ),
    ...preserved.map(({ message }) => ({
      where: 'one of your messages, kept in the handoff',
      who: 'user' as const,
      text: textOf(message),
    })),
  ]
}

function unsealedText(part: Part): readonly string[] {
  if (part.type !== 'opaque') return []
  const { type, content } = isObject(part.value) ? part.value : {}
  // Anthropic's compactions are plain text.
  if (type === 'compaction' && typeof content === 'string') return [content]
  const sealed = encryptedContent(part.value)
  const text = sealed === undefined ? undefined : unseal(sealed)
  return text === undefined ? [] : [text]
}

function encryptedContent(value: JsonValue): string | undefined {
  const content = isObject(value) ? value['encrypted_content'] : undefined
  return typeof content === 'string' ? content : undefined
}

/** A very long line, such as a tool's JSON, is read in overlapping pieces. */
const PIECE_CHARACTERS = 1_000
const OVERLAP_CHARACTERS = 200

/** Sentences and lines, with their closing punctuation; bounded work per character. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(/(?<=[.!?])\s/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
    .flatMap(piecesOf)
}

function piecesOf(sentence: string): readonly string[] {
  if (sentence.length <= PIECE_CHARACTERS) return [sentence]
  const step = PIECE_CHARACTERS - OVERLAP_CHARACTERS
  const count = Math.ceil((sentence.length - OVERLAP_CHARACTERS) / step)
  return Array.from({ length: count }, (_, index) =>
    sentence.slice(index * step, index * step + PIECE_CHARACTERS).toWellFormed(),
  )
}
