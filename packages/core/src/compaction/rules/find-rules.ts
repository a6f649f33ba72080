import type { Message } from '../../message/message.ts'
import { plainText } from '../../message/text.ts'
import { bounded } from '../ledger/gather.ts'
import { ownWords } from '../own-words/pieces.ts'
import { redact } from '../redact/redact.ts'
import { isBare } from './bare.ts'
import { LIFTS } from './lifts.ts'
import { dropQuotations, endsAsQuestion, splitSentences } from './sentences.ts'
import { weigh } from './weigh.ts'

/**
 * Standing instructions in a person's own words: what to do always or never, when to ask first,
 * budgets, deadlines, preferences. Found by weighed words, without a model, and kept word for word.
 * Only the person's own text counts: no tool result, host block, pasted text or quotation.
 */
export interface FoundRule {
  readonly text: string
  /** Revokes an earlier rule. */
  readonly lifts: boolean
}

/** A longer message is a document; the person's rules come before or after it. */
const MESSAGE_CHARACTERS_MAX = 3_000
/** In a message of more sentences most describe something, so a rule must be put more plainly. */
const DOCUMENT_SENTENCES = 8
const DOCUMENT_WEIGHT = 50

export function findRules(message: Message): readonly FoundRule[] {
  if (message.role !== 'user' || message.synthetic === true) return []
  const own = bounded(unquoted(ownWords(plainText(message.parts))), MESSAGE_CHARACTERS_MAX)
  const [speaker, said] = splitSpeaker(own)
  const sentences = splitSentences(said)
  const least = sentences.length > DOCUMENT_SENTENCES ? DOCUMENT_WEIGHT : 0
  return sentences.flatMap((sentence) => {
    const text = sentence.toLowerCase()
    const lifts = LIFTS.some((lift) => lift.test(text))
    if (!lifts && !isRule(sentence, least)) return []
    return [{ text: redact(`${speaker}${sentence}`), lifts }]
  })
}

/** Without lines that a chat or mail program marks as quoted from another person or the model. */
function unquoted(text: string): string {
  const lines = text.split('\n').filter((line) => !/^\s*[>|]/.test(line))
  return lines.join('\n').trim()
}

/** In a group chat each message begins with its sender's name. */
function splitSpeaker(text: string): [speaker: string, said: string] {
  const found = SPEAKER.exec(text)
  if (found === null || LABEL.test(found[0])) return ['', text]
  return [`${found[1]}: `, text.slice(found[0].length)]
}

const SPEAKER = /^((?:@?\p{Lu}[\p{L}\p{N}_.-]{0,30})(?: \p{Lu}[\p{L}\p{N}_.-]{0,30}){0,2}): /u
const LABEL =
  /^(?:rules?|note|notes|important|please|ps|fyi|todo|reminder|warning|attention|hint|remember|also|update|edit|caution|constraint|regel|wichtig|hinweis|bitte|achtung|règle|important|attention|regla|nota|importante|regra|atenção|regola|let op): /i

const ASKED_FOR =
  /^(?:can|could|would|will) you (?:please )?(?!explain|tell|show|check|find|look|see|say|remind).*\b(?:from now on|always|never|in (?:the )?future)\b/i

function isRule(sentence: string, least: number): boolean {
  const bare = dropQuotations(sentence)
  if (endsAsQuestion(bare)) return ASKED_FOR.test(bare)
  return weigh(bare).sum > least && !isBare(bare)
}
