import { isId } from '../base/ids.ts'
import {
  checkBelowWindow,
  checkCount,
  checkDelay,
  checkFunction,
  checkKeys,
  checkString,
  checkTokens,
  invalidOption,
  show,
} from '../base/option-checks.ts'
import type { Message } from '../message/message.ts'
import { limitsFor, WindowTooSmallError } from '../session/limits.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { OpenAgentOptions } from './agent-types.ts'
import { checkTools, describeTool } from './tool.ts'
import {
  type AnyFormat,
  internalsOf,
  legalMessages,
  type RequestFor,
} from './typed-formats/format.ts'

export const LOOP_OPTIONS = [
  ...['store', 'name', 'format', 'contextWindow', 'maxOutputTokens', 'system', 'tools'],
  ...['summarize', 'concurrency', 'stepTimeoutMs', 'toolTimeoutMs', 'retry', 'onError'],
]
const OPTIONS = [...LOOP_OPTIONS, 'step']

export function checkAgentOptions(options: OpenAgentOptions<AnyFormat>): void {
  checkKeys(options, OPTIONS)
  internalsOf(options.format)
  const { store, name, contextWindow, maxOutputTokens, retry = {} } = options
  if (typeof store?.readStore !== 'function') {
    throw invalidOption(
      'store',
      `"store" is ${show(store)}. Open one with openMemoryStore or openSqliteStore of "@throughline/core/store".`,
    )
  }
  checkId('name', name)
  if (contextWindow === undefined) throw invalidOption('contextWindow', 'Give "contextWindow".')
  checkTokens('contextWindow', contextWindow)
  checkTokens('maxOutputTokens', maxOutputTokens, 1)
  checkBelowWindow('maxOutputTokens', maxOutputTokens, contextWindow)
  checkString('system', options.system)
  checkTools(options.tools)
  checkFunction('step', options.step)
  checkCount('concurrency', options.concurrency, 'steps')
  checkDelay('stepTimeoutMs', options.stepTimeoutMs)
  checkDelay('toolTimeoutMs', options.toolTimeoutMs)
  checkKeys(retry, ['attempts', 'delayMs', 'isRetryable'], 'retry')
  checkCount('retry.attempts', retry.attempts, 'attempts')
  checkDelay('retry.delayMs', retry.delayMs)
  for (const [at, given] of [
    ['summarize', options.summarize],
    ['onError', options.onError],
    ['retry.isRetryable', retry.isRetryable],
  ] as const) {
    if (given !== undefined) checkFunction(at, given)
  }
}

export function checkId(at: string, value: unknown): void {
  if (typeof value === 'string' && isId(value)) return
  throw invalidOption(at, `"${at}" is ${show(value)}. Use 1 to 64 letters, digits, "_" or "-".`)
}

/** Resolved options: the shares of the window, the counters, and the form of requests. */
export function agentSettings<F extends AnyFormat>(options: OpenAgentOptions<F>) {
  const { system = '', tools = {}, maxOutputTokens } = options
  const internals = internalsOf(options.format)
  const { family } = internals
  const descriptions = Object.entries(tools).map(([tool, each]) => describeTool(tool, each))
  const countMessage = messageCounter(family)
  const countTokens = (text: string) => estimateText(text, family)
  const fixedTokens = countTokens(
    system + (descriptions.length === 0 ? '' : JSON.stringify(descriptions)),
  )
  const limits = limitsOf({
    ...{ windowTokens: options.contextWindow, fixedTokens },
    ...(maxOutputTokens !== undefined && { outputTokensMax: maxOutputTokens }),
  })
  const request = (context: readonly Message[]) =>
    internals.request(legalMessages(internals, context), descriptions) as RequestFor<F>
  return { limits, fixedTokens, request, countMessage, countTokens }
}

function limitsOf(given: Parameters<typeof limitsFor>[0]): ReturnType<typeof limitsFor> {
  try {
    return limitsFor(given)
  } catch (error) {
    if (error instanceof WindowTooSmallError) throw invalidOption('contextWindow', error.message)
    throw error
  }
}
