import { isObject } from '../../base/json.ts'
import type { Message, ToolCallPart } from '../../message/message.ts'
import type { NumberOf } from '../layout.ts'
import { redact } from '../redact/redact.ts'

/**
 * Edits that replace one word by another: a version, a port, a name. The newest edit at a position
 * is current, and the word that it replaced must not be read as the current one.
 */
export interface ReplacedWord {
  readonly old: string
  readonly now: string
  readonly number: number
}

/** Edit tools take the old and the new text; the pair is recognized by its argument names. */
const PAIRS = [
  ['old_string', 'new_string'],
  ['oldText', 'newText'],
  ['old_str', 'new_str'],
  ['search', 'replace'],
] as const
const EDIT_CHARACTERS_MAX = 2_000
const WORD_CHARACTERS = { min: 4, max: 60 } as const

export function gatherReplacedWords(
  head: readonly Message[],
  numberOf: NumberOf,
): readonly ReplacedWord[] {
  const newest = new Map<string, ReplacedWord>()
  for (const [index, message] of head.entries()) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) {
      const change = part.type === 'tool-call' ? changeIn(part) : undefined
      if (change === undefined) continue
      const { around, old, now } = change
      newest.delete(around)
      newest.set(around, { old, now, number: numberOf(index) })
    }
  }
  return [...newest.values()]
}

function changeIn({ input }: ToolCallPart) {
  if (!isObject(input)) return undefined
  for (const [before, after] of PAIRS) {
    const [from, to] = [input[before], input[after]]
    if (typeof from !== 'string' || typeof to !== 'string') continue
    if (from.length > EDIT_CHARACTERS_MAX || to.length > EDIT_CHARACTERS_MAX) return undefined
    return oneWordChanged(redact(from).split(/\s+/), redact(to).split(/\s+/))
  }
  return undefined
}

function oneWordChanged(from: readonly string[], to: readonly string[]) {
  if (from.length !== to.length) return undefined
  const at = from.findIndex((word, index) => word !== to[index])
  if (at === -1 || from.some((word, index) => index > at && word !== to[index])) return undefined
  const [old, now] = [bare(from[at]), bare(to[at])]
  const { min, max } = WORD_CHARACTERS
  const isWord = (word: string) => word.length >= min && word.length <= max
  if (!isWord(old) || !isWord(now) || old === now || !/[\d_./-]|[a-z][A-Z]/.test(now))
    return undefined
  return { around: from.toSpliced(at, 1).join(' '), old, now }
}

function bare(word = ''): string {
  return word.replaceAll(/^\W+|\W+$/g, '')
}
