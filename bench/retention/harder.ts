import { isObject } from '../../packages/core/src/base/json.ts'
import type { Message, ToolCallPart } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import type { Event } from './sessions.ts'

/**
 * What is harder to keep than names: decisions with their reasons, values after their last change,
 * open questions, and attempts that failed. The truth is mechanical, taken from the recorded history,
 * so it knows no meaning: a decision counts as kept where one paragraph holds most of its words, a
 * value where the newest one is in the context, a failed attempt where its command or its error
 * does, a question where it stands word for word.
 */
export const HARDER_KINDS = ['decision', 'value', 'question', 'failure'] as const
export type HarderKind = (typeof HARDER_KINDS)[number]

export interface HarderCase {
  readonly kind: HarderKind
  readonly name: string
  isKept(context: ContextText): boolean
  /** Whether what no longer holds stands there in its place. */
  isStale?(context: ContextText): boolean
}

export interface ContextText {
  readonly text: string
  readonly paragraphs: readonly ReadonlySet<string>[]
}

export function contextOf(text: string): ContextText {
  const paragraphs = text.split(/\n+/).map((line) => new Set(contentWords(line)))
  return { text: oneLine(text), paragraphs }
}

export function harderCases({ before }: Event): readonly HarderCase[] {
  return [
    ...decisionsIn(before),
    ...valuesIn(before),
    ...questionsIn(before),
    ...failuresIn(before),
  ]
}

const DECISIONS_MAX = 20
const REASONED =
  /\b(?:because|so that|instead of|rather than|decided to|the reason|to avoid|which means)\b/i
const WORDS_SHARE = 0.6

/** The newest sentences of the agent that give a reason. */
function decisionsIn(messages: readonly Message[]): readonly HarderCase[] {
  const sentences = messages.flatMap((message) =>
    message.role !== 'assistant'
      ? []
      : message.parts.flatMap((part) => (part.type === 'text' ? sentencesOf(part.text) : [])),
  )
  return sentences
    .filter((sentence) => REASONED.test(sentence))
    .slice(-DECISIONS_MAX)
    .map((name) => {
      const words = [...new Set(contentWords(name))]
      const isIn = (paragraph: ReadonlySet<string>) =>
        words.filter((word) => paragraph.has(word)).length >= words.length * WORDS_SHARE
      return { kind: 'decision', name, isKept: ({ paragraphs }) => paragraphs.some(isIn) }
    })
}

/** Lines of a file of which an edit changed one word: the newest word holds. */
function valuesIn(messages: readonly Message[]): readonly HarderCase[] {
  const newest = new Map<string, { readonly old: string; readonly now: string }>()
  for (const call of callsIn(messages)) {
    const change = changeOf(call)
    if (change === undefined) continue
    const { line, old, now } = change
    newest.set(line, { old, now })
  }
  return [...newest].map(([name, { old, now }]) => ({
    kind: 'value',
    name: `${name.slice(0, 80)}: ${now}`,
    isKept: ({ text }) => text.includes(now),
    isStale: ({ text }) => text.includes(old) && !text.includes(now),
  }))
}

function changeOf({ name, input }: ToolCallPart) {
  if (name !== 'Edit' || !isObject(input)) return undefined
  const { file_path: file, old_string: before, new_string: after } = input
  if (typeof file !== 'string' || typeof before !== 'string' || typeof after !== 'string') return
  const [from, to] = [before.split(/\s+/), after.split(/\s+/)]
  if (from.length !== to.length) return undefined
  const changed = from.flatMap((word, at) => (word === to[at] ? [] : [at]))
  const [at, ...more] = changed
  if (at === undefined || more.length > 0) return undefined
  const [old = '', now = ''] = [from[at], to[at]].map((word) => word?.replaceAll(/^\W+|\W+$/g, ''))
  const isValue = now.length >= 4 && old.length >= 4 && /[\d_./-]|[a-z][A-Z]/.test(now)
  return isValue ? { line: `${file} ${from.toSpliced(at, 1).join(' ')}`, old, now } : undefined
}

/** Of the person's newest request. */
function questionsIn(messages: readonly Message[]): readonly HarderCase[] {
  const last = messages.findLast(({ role }) => role === 'user')
  if (last?.role !== 'user' || last.synthetic === true) return []
  return sentencesOf(textOf(last))
    .filter((sentence) => sentence.endsWith('?'))
    .map((name) => ({ kind: 'question', name, isKept: ({ text }) => text.includes(name) }))
}

const COMMAND_CHARACTERS = 50
const FAILURES_MAX = 20

/** Commands whose newest run failed. */
function failuresIn(messages: readonly Message[]): readonly HarderCase[] {
  const commands = new Map(
    callsIn(messages).flatMap(({ id, input }) => {
      const command = isObject(input) ? input['command'] : undefined
      return typeof command === 'string' ? [[id, oneLine(command)] as const] : []
    }),
  )
  const failed = new Map<string, string>()
  for (const message of messages) {
    if (message.role !== 'tool') continue
    for (const part of message.parts) {
      const command = commands.get(part.callId)
      if (command === undefined) continue
      failed.delete(command)
      if (part.isError === true) failed.set(command, errorLine(textOf(part)))
    }
  }
  return [...failed].slice(-FAILURES_MAX).map(([command, error]) => ({
    kind: 'failure',
    name: command.slice(0, 80),
    isKept: ({ text }) =>
      text.includes(command.slice(0, COMMAND_CHARACTERS)) || (error !== '' && text.includes(error)),
  }))
}

function errorLine(text: string): string {
  const lines = text.split('\n').map(oneLine)
  return (
    lines.find((line) => line.length >= 20 && /error|fail|not |cannot/i.test(line)) ?? ''
  ).slice(0, 80)
}

function callsIn(messages: readonly Message[]): readonly ToolCallPart[] {
  return messages.flatMap((message) =>
    message.role !== 'assistant'
      ? []
      : message.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : [])),
  )
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map(oneLine)
    .filter((sentence) => sentence.length >= 40 && sentence.length <= 300)
}

function contentWords(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}_./-]{4,}/gu) ?? []).map((word) =>
    word.replace(/[./-]+$/, ''),
  )
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
