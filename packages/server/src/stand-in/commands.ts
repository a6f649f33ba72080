import type { Message, UserMessage } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { StandInCall } from './protocols/protocol.ts'

/**
 * Commands in a user message. A line that begins with one of these words is a command:
 *
 *     use read {"path":"a.txt"}      calls the tool, if it is offered; several lines, several calls
 *     think about the weather        thinks that first
 *     say Done.                      says exactly that
 *     then                           what follows is for the next step, when the results are in
 *
 * A message that begins with `slowly:` is answered at a few words a second; `fail: 429` is refused
 * with that status, as often as it is tried. Only the newest user
 * message is read, so no text of a tool, a file or a handoff is a command. The step is found by
 * counting the replies with calls since then, so the server keeps no state.
 */
export interface Step {
  readonly calls: readonly StandInCall[]
  readonly reasoning: string
  readonly text: string
}

/** Only at the beginning: a transcript to be summarized may contain such lines. */
const SLOWLY = /^slowly:\s*/
/** An answer of two sentences takes about eight seconds: time enough to kill a process. */
const SLOW_TOKENS_PER_SECOND = 5

/** The speed that the newest user message requests; undefined: none. */
export function findPace(messages: readonly Message[]): number | undefined {
  const spoken = messages.findLast(isSpoken)
  if (spoken === undefined || !SLOWLY.test(ownWords(spoken))) return undefined
  return SLOW_TOKENS_PER_SECOND
}

const FAIL = /^fail:\s*([45]\d\d)\s*$/

/** The status with which the newest user message asks to be refused; undefined: none. */
export function findFailure(messages: readonly Message[]): number | undefined {
  const spoken = messages.findLast(isSpoken)
  const [, status] = (spoken && FAIL.exec(ownWords(spoken))) ?? []
  return status === undefined ? undefined : Number(status)
}

/** Claude Code puts its reminders before the user's words, as parts of the same message. */
function ownWords({ parts }: UserMessage): string {
  const last = parts.findLast((part) => part.type === 'text')
  return last?.type === 'text' ? last.text.trim() : ''
}

/** The user's text without `slowly:`. */
export function spokenText(message: UserMessage): string {
  const parts = message.parts.map((part) =>
    part.type === 'text' ? { ...part, text: part.text.replace(SLOWLY, '') } : part,
  )
  return textOf({ ...message, parts })
}

const COMMAND = /^(use|say|think|then)(?:\s+(\S.*))?$/

/** The next step; undefined if the user gave no commands, or all were carried out. */
export function findStep(messages: readonly Message[]): Step | undefined {
  const at = messages.findLastIndex(isSpoken)
  const message = messages[at]
  if (message === undefined) return undefined
  const played = messages.slice(at + 1).filter(hasCalls).length
  return isSpoken(message) ? readSteps(spokenText(message))[played] : undefined
}

export function isSpoken(message: Message): message is UserMessage {
  return message.role === 'user' && message.synthetic !== true
}

function hasCalls(message: Message): boolean {
  return message.role === 'assistant' && message.parts.some((part) => part.type === 'tool-call')
}

function readSteps(text: string): readonly Step[] {
  const steps: { calls: StandInCall[]; reasoning: string[]; text: string[] }[] = []
  let isNew = true
  for (const line of text.split('\n')) {
    const [, command, rest = ''] = COMMAND.exec(line.trim()) ?? []
    if (command === undefined) continue
    if (command === 'then') {
      isNew = true
      continue
    }
    if (isNew) steps.push({ calls: [], reasoning: [], text: [] })
    isNew = false
    const step = steps.at(-1)
    if (command === 'say') step?.text.push(rest)
    else if (command === 'think') step?.reasoning.push(rest)
    else step?.calls.push(readCall(rest))
  }
  return steps.map((step) => ({
    calls: step.calls,
    reasoning: step.reasoning.join('\n'),
    text: step.text.join('\n'),
  }))
}

function readCall(rest: string): StandInCall {
  const at = rest.search(/\s/)
  return at === -1
    ? { name: rest, input: '{}' }
    : { name: rest.slice(0, at), input: rest.slice(at).trim() }
}
