import { readFileSync } from 'node:fs'
import path from 'node:path'
import { writeDigest } from '../../packages/core/src/compaction/digest.ts'
import {
  judgeSummary,
  type SummaryContext,
} from '../../packages/core/src/compaction/judge/judge-summary.ts'
import { positionsFrom } from '../../packages/core/src/compaction/layout.ts'
import { handoffPrompt } from '../../packages/core/src/compaction/summary/prompt.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { plainText } from '../../packages/core/src/message/text.ts'
import {
  CORPUS_ABSENT,
  corpusConversations,
  corpusDir,
  corpusFiles,
} from '../../test/support/corpus.ts'
import { wordsOf } from '../retention/atoms.ts'
import { readSessions, type Session } from '../retention/sessions.ts'
import { type Case, CONTINUATIONS, OTHER_FAULTS, SUMMARIES } from './cases.ts'

/**
 * Texts that models gave for a summary: how many that are none are caught, and how many that are one
 * are refused. Real summaries and real replies come from the corpus; a reply is what a model writes
 * that goes on with the conversation. `--verbose` names every text that was judged wrongly.
 */
const isVerbose = process.argv.includes('--verbose')
const { ask } = handoffPrompt('', { tokensMax: 1_500 })

interface Judged extends Case {
  readonly context: SummaryContext
}

function main(): void {
  console.log(`${'texts'.padEnd(62)}faults  of  share`)
  const alone = (cases: readonly Case[]) =>
    cases.map((each) => ({ ...each, context: { range: [], ask } }))
  print('our own summaries, by form alone', alone(SUMMARIES))
  print('our own continuations, by form alone', alone(CONTINUATIONS))
  print('our own refusals, calls and loops', alone(OTHER_FAULTS))
  const folder = corpusDir()
  if (folder === undefined) {
    console.log(CORPUS_ABSENT)
    return
  }

  const recorded = JSON.parse(
    readFileSync(path.join(folder, 'lost-in-compaction', 'summaries.json'), 'utf8'),
  ) as { name: string; summary: string; isSummary: boolean }[]
  const of = (isSummary: boolean) =>
    recorded
      .filter((each) => each.isSummary === isSummary)
      .map(({ name, summary }) => ({ name, text: summary }))
  print('lost-in-compaction, read as no summary, by form alone', alone(of(false)))
  print('lost-in-compaction, read as a summary, by form alone', alone(of(true)))

  const sessions = readSessions(folder)
  const real = sessions.flatMap(realSummaries)
  print('FALSE ALARMS: recorded summaries, with their conversation', real)
  const asked = real.map((each) => ({ ...each, context: { ...each.context, ask } }))
  print('FALSE ALARMS: the same, as if asked in our words', asked)
  print('FALSE ALARMS: the same by form alone', alone(real))
  print('FALSE ALARMS: digests of the corpus', digests())
  const replies = [...sessions.flatMap((session) => repliesOf(session)), ...otherReplies()]
  print('CAUGHT: real replies to the newest message, with it', replies)
  print('CAUGHT: the same by form alone', alone(replies))
  const chat = replies.filter(({ name }) => name.startsWith('tau-bench'))
  print('  of them from customer service, with their conversation', chat)
  print('  of them from customer service, by form alone', alone(chat))
}

function print(title: string, cases: readonly Judged[]): void {
  const verdicts = cases.map((each) => ({
    ...each,
    fault: judgeSummary(each.text, each.context).fault,
  }))
  const faults = verdicts.filter(({ fault }) => fault !== undefined)
  const share = ((100 * faults.length) / Math.max(1, cases.length)).toFixed(1)
  console.log(
    `${title.padEnd(62)}${String(faults.length).padEnd(8)}${String(cases.length).padEnd(6)}${share} %`,
  )
  if (!isVerbose) return
  const wanted = /no summary|continuations|refusals|CAUGHT|of them/.test(title)
  for (const { name, text, fault } of verdicts) {
    if ((fault !== undefined) === wanted) continue
    console.log(`    ${name}: ${fault ?? 'no fault'}: ${JSON.stringify(text.slice(0, 120))}`)
  }
}

/** Each as it was written, and its two parts alone. */
function realSummaries({ id, messages, summaries }: Session): Judged[] {
  return summaries.flatMap((at, index) => {
    const message = messages[at]
    if (message === undefined) return []
    const range = messages.slice(summaries[index - 1] ?? 0, at)
    const whole = wordsOf(message)
      .replace(/^This session is being continued[^\n]*\n/, '')
      .replace(/\n+If you need specific details from before compaction[\s\S]*$/, '')
    const split = whole.indexOf('\nSummary:')
    const parts = split === -1 ? [whole] : [whole, whole.slice(0, split), whole.slice(split + 9)]
    const told = parts.filter((text) => text.trim() !== '')
    return told.map((text, part) => ({
      name: `${id.slice(0, 8)}.${index + 1} part ${part}`,
      text: text.trim(),
      context: { range, ask: '' },
    }))
  })
}

const DIGEST_MESSAGES_MIN = 20

function digests(): Judged[] {
  return [...corpusConversations()].flatMap(({ name, conversation: { messages } }) => {
    if (messages.length < DIGEST_MESSAGES_MIN) return []
    const head = messages.slice(0, Math.floor(messages.length * 0.8))
    const countTokens = (text: string) => Math.ceil(text.length / 4)
    const text = writeDigest({ head, numberOf: positionsFrom(1), tokensMax: 1_500, countTokens })
    return [{ name, text, context: { range: head, ask } }]
  })
}

const RANGE_MESSAGES = { min: 30, max: 300 }
const REPLY_CHARACTERS_MIN = 80

/** Replies that end a turn, each as if it had been given for a summary of what came before. */
function repliesOf(
  { id, messages }: Pick<Session, 'id' | 'messages'>,
  min = RANGE_MESSAGES.min,
): Judged[] {
  return messages.flatMap((message, at) => {
    if (at < min || message.role !== 'assistant') return []
    if (messages[at + 1]?.role === 'tool' || message.parts.some(({ type }) => type !== 'text'))
      return []
    const text = plainText(message.parts)
    if (text.length < REPLY_CHARACTERS_MIN) return []
    const range: readonly Message[] = messages.slice(Math.max(0, at - RANGE_MESSAGES.max), at)
    return [{ name: `${id.slice(0, 36)} ${at}`, text, context: { range, ask } }]
  })
}

function otherReplies(): Judged[] {
  return [...corpusConversations(corpusFiles('tau-bench'))].flatMap(({ name, conversation }) =>
    repliesOf({ id: name, messages: conversation.messages }, 12),
  )
}

main()
