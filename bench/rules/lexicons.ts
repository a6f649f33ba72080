import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { STEM_LENGTHS } from '../../packages/core/src/compaction/rules/cues/find-cues.ts'
import { writeHashedSets } from './write-hashed-sets.ts'

/**
 * A lexicon has a line for each kind of cue: `kind:word,several words,stem*`. Where two languages differ,
 * the one that comes first here decides.
 */
const LANGUAGES = [
  ...['english', 'german', 'french', 'spanish', 'portuguese', 'italian', 'dutch', 'others'],
  ...['russian', 'east-asian', 'all-languages'],
]

/**
 * One text in 500 that is no cue is taken for a word, so of the unknown words one in 80, whose forms are all looked
 * up; the weights are fitted with that. A phrase that is found by chance hides the words in it, so it is one in 4,000.
 */
const WORD_STRAY_BITS = 9
const PHRASE_STRAY_BITS = 12

export function writeLexicons(): { readonly words: string; readonly phrases: string } {
  const kinds = readLexicons()
  const only = (wanted: (cue: string) => boolean) =>
    new Map([...kinds].map(([kind, cues]) => [kind, [...cues].filter(wanted)]))
  return {
    words: writeHashedSets(
      only((cue) => !isPhrase(cue)),
      WORD_STRAY_BITS,
    ),
    phrases: writeHashedSets(only(isPhrase), PHRASE_STRAY_BITS),
  }
}

/** Several words, or several characters of a script without spaces. */
function isPhrase(cue: string): boolean {
  return (
    cue.includes(' ') || (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(cue) && cue.length > 1)
  )
}

function readLexicons(): ReadonlyMap<string, ReadonlySet<string>> {
  const kinds = new Map<string, Set<string>>()
  const known = new Set<string>()
  for (const language of LANGUAGES) {
    const text = readFileSync(join(import.meta.dirname, 'lexicons', `${language}.txt`), 'utf8')
    for (const line of text.trim().split('\n')) {
      const [kind = '', list = ''] = line.split(':')
      const phrases = kinds.get(kind) ?? new Set()
      kinds.set(kind, phrases)
      for (const phrase of list.split(',').map(lookedUp)) {
        if (known.has(phrase)) continue
        known.add(phrase)
        phrases.add(phrase)
      }
    }
  }
  return kinds
}

/** A stem as the reader looks it up. */
function lookedUp(phrase: string): string {
  if (!phrase.endsWith('*')) return phrase
  const length = Math.min(phrase.length - 1, Math.max(...STEM_LENGTHS))
  if (!STEM_LENGTHS.includes(length) || phrase.includes(' '))
    throw new Error(
      `Write the words of "${phrase}" out: a stem stands alone and has 4 letters or more.`,
    )
  return `${phrase.slice(0, length)}*`
}
