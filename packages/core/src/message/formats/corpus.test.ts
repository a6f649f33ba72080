import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  CORPUS_ABSENT,
  CORPUS_SETS,
  conversationTexts,
  corpusDir,
  corpusFiles,
  corpusSkip,
  sampleFiles,
} from '../../../../../test/support/corpus.ts'
import type { Conversation } from '../codec.ts'
import { readConversation } from '../read.ts'
import { textOf } from '../text.ts'
import { convertConversation, writeConversation } from '../write.ts'
import { codecOf } from './file-formats.ts'
import { FORMAT_NAMES, type FormatName } from './names.ts'

describe('every conversation of the samples and of the corpus', () => {
  it.for(CORPUS_SETS)(
    'is detected, and has the same messages after it is written (%s)',
    (set, context) => {
      const files = [...sampleFiles(set), ...corpusFiles(set)]
      if (files.length === 0) context.skip(CORPUS_ABSENT)
      const failures: string[] = []
      let count = 0
      for (const file of files) {
        if (corpusSkip(file) !== undefined) continue
        for (const { name, text, format } of conversationTexts(file)) {
          count++
          const read = readConversation(text, 'auto')
          if (read.format !== format) failures.push(`${name}: taken for ${read.format}`)
          const written = writeConversation(read)
          const again = readConversation(written, format)
          if (!isDeepStrictEqual(again.messages, read.messages)) failures.push(`${name}: messages`)
          if (codecOf(format).framing === 'lines') continue
          if (!isDeepStrictEqual(JSON.parse(written), JSON.parse(text)))
            failures.push(`${name}: text`)
        }
      }
      expect(failures).toEqual([])
      expect(count).toBeGreaterThan(0)
    },
  )

  it('keeps the user’s text in every other format', () => {
    const lost: string[] = []
    const first = CORPUS_SETS.flatMap((set) =>
      corpusFiles(set)
        .filter((file) => corpusSkip(file) === undefined)
        .slice(0, 1),
    )
    for (const file of [...sampleFiles(), ...first]) {
      for (const { name, text, format } of conversationTexts(file).slice(0, 5)) {
        const read = readConversation(text, format)
        for (const to of FORMAT_NAMES) {
          const again = readConversation(writeConversation(convertConversation(read, to)), to)
          if (!isDeepStrictEqual(asks(again, to), asks(read, to))) lost.push(`${name} as ${to}`)
        }
      }
    }
    expect(lost).toEqual([])
  })

  it('is skipped with a reason if a file contains none', (context) => {
    if (corpusDir() === undefined) context.skip(CORPUS_ABSENT)
    const reasons = new Set(corpusFiles().map(corpusSkip))
    expect(reasons.size).toBe(3)
  })
})

/** The system text, which formats join or move to the front, and the user's texts in order. */
function asks({ messages }: Conversation, to: FormatName): readonly string[] {
  const textsOf = (role: string) => messages.filter((each) => each.role === role).map(textOf)
  const texts = [textsOf('system').join('\n'), ...textsOf('user')]
  // Other formats drop a provider's own block in a user message (a file from Cline).
  return to === 'anthropic' || to === 'claude-code'
    ? texts
    : texts.map((text) => text.replace(/\n\[file\]$/, ''))
}
