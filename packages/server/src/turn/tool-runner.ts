import { z } from 'zod'
import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import { clip, splitsCharacter } from '#core/base/line'
import { scanDocument } from '#core/message/json-text'
import type { Message, ResultPart, ToolCallPart } from '#core/message/message'
import type { ToolOutcome, ToolRequest, ToolRunner } from '#core/session/step'
import type { Tool, ToolAnswer } from '../tools/tool.ts'

export interface ToolRunnerParts {
  /** By agent; a map that may change while it is used. */
  readonly tools: ReadonlyMap<string, readonly Tool[]>
  readonly clock: Clock
  readonly countMessage: (agent: string, message: Message) => number
  /** A call that takes longer is aborted and gets a result that says so. */
  readonly callMsMax: number
  /**
   * The error of a tool: a programmer's error. The input is not included, because it may contain
   * secrets.
   */
  readonly onFailure?: (failure: ToolFailure) => void
}

export interface ToolFailure {
  readonly sessionId: SessionId
  readonly tool: string
  readonly entry: number
  readonly error: unknown
}

export const CALL_MS_MAX = 120_000
/** The most that is stored of one result; a context shows far less and says where the rest is. */
export const OUTPUT_CHARACTERS_MAX = 1_000_000

/**
 * Runs the calls of a step separately: for every call (unknown, malformed, endless, a tool that
 * throws) the model gets a readable result.
 */
export function toolRunner(parts: ToolRunnerParts): ToolRunner {
  const checks = new WeakMap<Tool, Check>()
  return {
    isRepeatable(name) {
      const all = [...parts.tools.values()].flat().filter((tool) => tool.name === name)
      return all.length > 0 && all.every((tool) => tool.isRepeatable)
    },
    async run(request, signal) {
      const { call, agent } = request
      const tools = parts.tools.get(agent) ?? []
      const tool = tools.find(({ name }) => name === call.name)
      if (tool === undefined) return outcomeOf(parts, request, unknownTool(call.name, tools))
      const check = checks.get(tool) ?? checkOf(tool)
      checks.set(tool, check)
      const problem = problemOf(call, check)
      const answer = problem === null ? await carryOut(parts, { tool, request, signal }) : problem
      return outcomeOf(parts, request, answer)
    },
  }
}

type Check = (input: JsonValue) => string | null

function error(text: string): ToolAnswer {
  return { outcome: 'error', output: text }
}

function unknownTool(name: string, tools: readonly Tool[]): ToolAnswer {
  const names = tools.map((tool) => tool.name).join(', ')
  const offered = names === '' ? 'There are no tools here.' : `There are: ${names}.`
  return error(`There is no tool of the name ${JSON.stringify(clip(name, 80))}. ${offered}`)
}

/**
 * An unreadable schema checks nothing: it came with an external tool, which checks its own input.
 */
function checkOf(tool: Tool): Check {
  if (tool.isForeign === true) return () => null
  try {
    const schema = z.fromJSONSchema(tool.inputSchema as Parameters<typeof z.fromJSONSchema>[0])
    return (input) => {
      const checked = schema.safeParse(input)
      return checked.success ? null : z.prettifyError(checked.error)
    }
  } catch {
    return () => null
  }
}

const PROBLEM_CHARACTERS_MAX = 2_000

function problemOf({ input, inputText }: ToolCallPart, check: Check): ToolAnswer | null {
  // Arguments that are not JSON were kept as text.
  if (typeof input === 'string' && inputText === input) {
    const fault = scanDocument(input, 0)
    const where =
      typeof fault === 'number' ? '' : `: ${fault.problem}, at character ${fault.at + 1}`
    return error(`The arguments are not valid JSON${where}. Send one JSON object.`)
  }
  const problem = check(input)
  if (problem === null) return null
  const text = clip(problem, PROBLEM_CHARACTERS_MAX)
  return error(`The arguments do not fit the tool's schema; nothing was done.\n${text}`)
}

/** Ends when the tool does, when the turn is stopped, or when the time is up; whichever is first. */
async function carryOut(
  { clock, callMsMax, onFailure }: ToolRunnerParts,
  asked: { readonly tool: Tool; readonly request: ToolRequest; readonly signal: AbortSignal },
): Promise<ToolAnswer> {
  const { tool, request, signal } = asked
  const { call, ...rest } = request
  const controller = new AbortController()
  const ended = Promise.withResolvers<ToolAnswer>()
  const stop = (answer: ToolAnswer) => {
    controller.abort()
    // The tool's own final output counts if it arrives at once.
    setImmediate(() => ended.resolve(answer))
  }
  const cancelLimit = clock.after(callMsMax, () => {
    const seconds = Math.round(callMsMax / 1_000)
    stop(error(`Stopped after ${seconds} s, the limit for a call. It may have had its effect.`))
  })
  const onStop = () =>
    stop({ outcome: 'interrupted', output: 'Stopped. It may have had its effect.' })
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  const running = (async () => tool.run({ ...rest, input: call.input }, controller.signal))()
  running.then(ended.resolve, (thrown: unknown) => {
    const { sessionId, entry } = request
    onFailure?.({ sessionId, tool: tool.name, entry, error: thrown })
    ended.resolve(error(`The tool ${tool.name} failed for a reason of its own; it was reported.`))
  })
  try {
    return await ended.promise
  } finally {
    cancelLimit()
    signal.removeEventListener('abort', onStop)
  }
}

function outcomeOf(
  { countMessage }: ToolRunnerParts,
  { agent, call }: ToolRequest,
  { outcome, output }: ToolAnswer,
): ToolOutcome {
  const bounded = typeof output === 'string' ? boundText(output) : boundParts(output)
  const parts: readonly ResultPart[] =
    typeof bounded === 'string' ? [{ type: 'text', text: bounded }] : bounded
  const part = { type: 'tool-result', callId: call.id, output: parts } as const
  const tokens = countMessage(agent, { role: 'tool', parts: [part] })
  return { outcome, output: bounded as JsonValue, tokens }
}

/** The beginning is kept, with a note about the missing rest, which is stored nowhere. */
function boundText(text: string, charactersMax = OUTPUT_CHARACTERS_MAX): string {
  const whole = text.toWellFormed()
  if (whole.length <= charactersMax) return whole
  const end = splitsCharacter(whole, charactersMax) ? charactersMax - 1 : charactersMax
  return `${whole.slice(0, end)}\n[${whole.length - end} further characters were not kept]`
}

function boundParts(parts: readonly ResultPart[]): readonly ResultPart[] {
  let left = OUTPUT_CHARACTERS_MAX
  return parts.map((part): ResultPart => {
    const size = part.type === 'text' ? part.text.length : JSON.stringify(part).length
    const space = left
    left = Math.max(0, left - size)
    if (part.type === 'text') return { ...part, text: boundText(part.text, space) }
    if (size <= space) return part
    return { type: 'text', text: `[a part of type ${part.type} was too large and was not kept]` }
  })
}
