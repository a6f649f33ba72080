import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import { findStep, isSpoken, type Step, spokenText } from './commands.ts'
import {
  type Answer,
  type Ask,
  clipTokens,
  countTokens,
  type StandInCall,
} from './protocols/protocol.ts'
import { isQuestion, recall, subjectOf } from './recall.ts'
import { recordsOf, sentencesOf } from './records.ts'
import { asksForSummary, summarizeAsStandIn } from './summary.ts'
import { asksForTitle, titleOf } from './title.ts'

/**
 * The stand-in's answers. It knows only the request: a script passed by the caller comes first,
 * then a request for a handoff, the user's commands, tool results, and questions about the
 * conversation. It never pretends to be a model.
 */
export type Script = (ask: Ask) => Partial<Answer> | undefined

const INTRODUCTION = 'I am the stand-in model, so that you can try Throughline without a provider.'

const HELP = `${INTRODUCTION} I keep your message but do not understand it. Ask me about something you told me and I will quote it; a line such as use <tool> {"json": true} calls a tool. A configured model answers in my place.`

const RESULT_CHARACTERS_MAX = 400

export function makeAnswer(ask: Ask, script?: Script): Answer {
  const scripted = script?.(ask)
  const answer = scripted === undefined ? answerOf(ask) : { ...SILENT, ...scripted }
  const withThoughts =
    ask.wantsReasoning && answer.reasoning === '' && scripted === undefined
      ? { ...answer, reasoning: `I read ${ask.messages.length} messages.` }
      : answer
  return withinLimit(ended(withThoughts), ask)
}

const SILENT: Answer = { reasoning: '', text: '', calls: [], finish: 'stop' }

function answerOf(ask: Ask): Answer {
  const { messages } = ask
  // Claude Code adds system messages after the user's.
  const last = messages.findLast(({ role }) => role !== 'system')
  const spoken = messages.findLast(isSpoken)
  const asked = spoken === undefined ? '' : spokenText(spoken)
  if (last === spoken && asksForSummary(asked)) {
    return say(summarizeAsStandIn(messages, ask.tokensMax))
  }
  if (asksForTitle(messages)) return say(titleOf(last === undefined ? '' : textOf(last)))
  const step = findStep(messages)
  if (step !== undefined) return playStep(step, ask)
  if (last?.role === 'tool') return say(tellResults(last, messages))
  const questions = sentencesOf(asked).filter(isQuestion).toReversed()
  const [question] = questions
  if (question === undefined) return say(HELP)
  const records = recordsOf(messages)
  for (const each of questions) {
    const found = recall(each, records)
    if (found !== undefined) {
      return say(`${INTRODUCTION} I found this in ${found.where}: "${found.quote}"`)
    }
  }
  const subject = subjectOf(question)
  return say(subject === '' ? HELP : `${INTRODUCTION} I have no record of: ${subject}.`)
}

function say(text: string): Answer {
  return { ...SILENT, text }
}

function playStep(step: Step, ask: Ask): Answer {
  const calls = step.calls.map((call) =>
    ask.tools.includes(call.name) ? call : throughCode(call, ask),
  )
  const missing = calls.find(({ name }) => !ask.tools.includes(name))
  if (missing === undefined) return { ...SILENT, ...step, calls }
  const offered = ask.tools.length === 0 ? 'none' : ask.tools.join(', ')
  return say(`${INTRODUCTION} The tool ${missing.name} is not offered; offered: ${offered}.`)
}

/** The newest models of Codex get one tool that runs code, and call the others from there. */
const CODE_TOOL = 'exec'

function throughCode(call: StandInCall, { textTools = [] }: Ask): StandInCall {
  const isOffered = textTools.includes(CODE_TOOL) && /^[A-Za-z_]\w*$/.test(call.name)
  if (!isOffered) return call
  return { name: CODE_TOOL, input: `text(await tools.${call.name}(${call.input}))` }
}

function tellResults(
  message: Extract<Message, { role: 'tool' }>,
  messages: readonly Message[],
): string {
  const calls = messages
    .flatMap((each) => (each.role === 'assistant' ? each.parts : []))
    .filter((part) => part.type === 'tool-call')
  const nameOf = (callId: string) => calls.findLast(({ id }) => id === callId)?.name
  const results = message.parts.map((part) => {
    const text = textOf(part).slice(0, RESULT_CHARACTERS_MAX).toWellFormed()
    return `${part.name ?? nameOf(part.callId) ?? part.callId} ${part.isError === true ? 'failed' : 'answered'}: ${text}`
  })
  return [INTRODUCTION, ...results].join('\n')
}

function ended(answer: Answer): Answer {
  const isCalling = answer.finish === 'stop' && answer.calls.length > 0
  return isCalling ? { ...answer, finish: 'tool-calls' } : answer
}

/** The request's limit covers reasoning and text, as with a provider. */
function withinLimit(answer: Answer, { tokensMax = Number.POSITIVE_INFINITY }: Ask): Answer {
  const thoughts = countTokens(answer.reasoning)
  if (thoughts + countTokens(answer.text) <= tokensMax) return answer
  return {
    reasoning: clipTokens(answer.reasoning, tokensMax),
    text: clipTokens(answer.text, Math.max(0, tokensMax - thoughts)),
    calls: [],
    finish: 'length',
  }
}
