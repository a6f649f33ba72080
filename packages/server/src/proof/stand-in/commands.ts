import type { Message, UserMessage } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { StandInCall } from './protocols/protocol.ts'

/**
 * The script language in a user's own words. A line that begins with a command is one:
 *
 *     use read {"path":"a.txt"}      calls the tool, if it is offered; several lines, several calls
 *     think about the weather        thinks that first
 *     say Done.                      says exactly that
 *     then                           what follows is for the next step, when the results are in
 *
 * A message that begins with `slowly:` is answered at a few words a second.
 * Only the newest user message is read: nothing that a tool, a file or a handoff says is a command.
 * The step is found by counting the replies with calls since then, so the server keeps no state.
 */
export interface Step {
  readonly calls: readonly StandInCall[]
  readonly reasoning: string
  readonly text: string
}

/** At the beginning only: a transcript to be summarised may contain such lines. */
const SLOWLY = /^slowly:\s*/
/** An answer of two sentences takes some eight seconds: time enough to end a process meanwhile. */
const SLOW_TOKENS_PER_SECOND = 5

/** The pace that the newest user message asks for; undefined: none. */
export function findPace(messages: readonly Message[]): number | undefined {
  const spoken = messages.findLast(isSpoken)
  if (spoken === undefined || !SLOWLY.test(textOf(spoken))) return undefined
  return SLOW_TOKENS_PER_SECOND
}

/** What a user said, without how fast to answer. */
export function spokenText(message: UserMessage): string {
  return textOf(message).replace(SLOWLY, '')
}

const COMMAND = /^(use|say|think|then)(?:\s+(\S.*))?$/

/** The step that is due; nothing where the user gave no commands, or all have been played. */
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
