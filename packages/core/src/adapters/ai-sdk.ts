/** `@throughline/core/adapters/ai-sdk`: for programs that keep the loop of the AI SDK (`ai` 6 or 7). */
import type { LanguageModelMiddleware, ModelMessage } from 'ai'
import { type CompactMessagesOptions, compactMessages } from '../agent/compact-messages.ts'
import type { DurableRun } from '../agent/durable-run.ts'
import { aiSdk } from '../agent/typed-formats/ai-sdk.ts'
import { isThroughlineError } from '../base/throughline-error.ts'

/**
 * For `prepareStep` of `generateText` and `streamText`: makes the messages of a step fit. If they
 * cannot fit, they stay unchanged and the provider reports it. Changes only what the model
 * receives.
 *
 * ```ts
 * generateText({ model, messages, tools, prepareStep: compactStep({ contextWindow: 200_000 }) })
 * ```
 */
export function compactStep(
  options: CompactMessagesOptions,
): (step: { readonly messages: ModelMessage[] }) => Promise<{ messages?: ModelMessage[] }> {
  let last: { readonly from: readonly ModelMessage[]; readonly to: ModelMessage[] } | undefined
  return async ({ messages }) => {
    // AI SDK 7 continues from what a step returned; 6 starts each step with all messages again.
    const isLonger = last?.from.every((message, index) => messages[index] === message) === true
    const input =
      last !== undefined && isLonger ? [...last.to, ...messages.slice(last.from.length)] : messages
    const result = await compactMessages(aiSdk, input, options)
    if (result.kind === 'compacted') last = { from: [...messages], to: result.messages }
    return result.messages === messages ? {} : { messages: result.messages }
  }
}

/**
 * Keeps each answer of the model under the run's key. Run again, kept answers come from there, also where
 * they are streamed; a stream ends when its answer is durable.
 *
 * ```ts
 * const run = journal.run(conversationId, messageId)
 * const model = wrapLanguageModel({ model: openai('gpt-5'), middleware: durableModel(run) })
 * await generateText({ model, tools: durableTools(run, tools), messages })
 * ```
 */
export function durableModel(run: DurableRun): LanguageModelMiddleware {
  const nameOf = () => `model ${run.count('model')}`
  const middleware = {
    specificationVersion: 'v4',
    wrapGenerate: ({ doGenerate }: { doGenerate(): PromiseLike<object> }) =>
      run.once(nameOf(), async () => await doGenerate(), { repeatable: true }),
    wrapStream: ({ doStream }: { doStream(): PromiseLike<Streamed> }) =>
      streamOnce(run, nameOf(), doStream),
  }
  // 6 and 7 differ in types that this middleware only passes on.
  return middleware as unknown as LanguageModelMiddleware
}

interface Part {
  readonly type: string
}
interface Streamed {
  readonly stream: ReadableStream<Part>
}

/**
 * Passed on while it is collected, and kept when it is whole. Tools start at the call or at the end of
 * the answer, depending on the version: a process that is killed meanwhile would ask the model again and
 * run the tool of another call. So from the first call on, parts wait until the answer is kept.
 */
async function streamOnce(run: DurableRun, name: string, doStream: () => PromiseLike<Streamed>) {
  const live = Promise.withResolvers<Streamed>()
  const whole = Promise.withResolvers<readonly Part[]>()
  const kept = run.once(
    name,
    async () => {
      const streamed = await doStream()
      const parts: Part[] = []
      const held: Part[] = []
      const stream = streamed.stream.pipeThrough(
        new TransformStream<Part, Part>({
          transform(part, out) {
            parts.push(part)
            const isHeld = held.length > 0 || part.type === 'tool-call' || part.type === 'finish'
            if (isHeld) held.push(part)
            else out.enqueue(part)
          },
          async flush(out) {
            const isWhole =
              parts.some(({ type }) => type === 'finish') &&
              parts.every(({ type }) => type !== 'error')
            if (isWhole) whole.resolve(parts)
            else whole.reject(new Error('The stream of the model ended early.'))
            await kept.catch((error: unknown) => {
              if (isWhole) throw error
            })
            for (const part of held) {
              if (isWhole || part.type !== 'tool-call') out.enqueue(part)
            }
          },
        }),
      )
      live.resolve({ ...streamed, stream })
      return await whole.promise
    },
    { repeatable: true },
  )
  return await Promise.race([live.promise, kept.then((parts) => ({ stream: streamOf(parts) }))])
}

function streamOf(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start(out) {
      for (const part of parts) out.enqueue(part)
      out.close()
    },
  })
}

/**
 * The same tools, each call of which is done once in the run: one that ended does not run again, and of one
 * that was cut short the model reads that its outcome is unknown. Tools in `repeatable` run again instead.
 */
export function durableTools<Tools extends Record<string, object>>(
  run: DurableRun,
  tools: Tools,
  { repeatable = [] }: { readonly repeatable?: readonly (keyof Tools)[] } = {},
): Tools {
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { readonly execute?: Execute }
    if (typeof execute !== 'function') return [name, tool]
    const once: Execute = async (input, options) => {
      const call = `tool ${options.toolCallId}`
      const again = run.count(call)
      const attempt = again === 0 ? call : `${call} again ${again}`
      try {
        return await run.once(
          attempt,
          async () => await lastOf(execute.call(tool, input, options)),
          {
            repeatable: repeatable.includes(name),
          },
        )
      } catch (error) {
        if (isThroughlineError(error, 'outcome-unknown')) return error.message
        throw error
      }
    }
    return [name, { ...tool, execute: once }]
  })
  return Object.fromEntries(wrapped) as Tools
}

type Execute = (input: unknown, options: { readonly toolCallId: string }) => unknown

/** A tool may yield results on the way; the last one is its output. */
async function lastOf(output: unknown): Promise<unknown> {
  const value = await output
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value
  let last: unknown
  for await (const each of value as AsyncIterable<unknown>) last = each
  return last
}
