import { ThroughlineError } from '../base/throughline-error.ts'
import type { Message } from '../message/message.ts'
import type { ToolOutcome, ToolRequest, ToolRunner } from '../session/step.ts'
import type { OpenAgentOptions } from './agent-types.ts'
import { callListener, textOfError, untilAborted, withDeadline } from './attempt.ts'
import type { AnyTool, SchemaIssue, StandardSchema } from './tool.ts'
import type { AnyFormat } from './typed-formats/format.ts'

const TIMEOUT_MS = 600_000

type ToolOptions = Pick<OpenAgentOptions<AnyFormat>, 'tools' | 'toolTimeoutMs' | 'onError'>

/** Runs the program's tools; the model always gets a result. */
export class AgentTools implements ToolRunner {
  readonly #options: ToolOptions
  readonly #count: (message: Message) => number

  constructor(options: ToolOptions, count: (message: Message) => number) {
    this.#options = options
    this.#count = count
  }

  isRepeatable(name: string): boolean {
    return this.#find(name)?.repeatable === true
  }

  async run(request: ToolRequest, lease: AbortSignal): Promise<ToolOutcome> {
    const { sessionId, turn, call } = request
    const found = this.#find(call.name)
    if (found === undefined) {
      return this.#outcome(call.id, 'error', `There is no tool "${call.name}".`)
    }
    try {
      return await this.#execute(found, request, lease)
    } catch (error) {
      if (lease.aborted) return this.#outcome(call.id, 'interrupted', 'Stopped.')
      const where = { sessionId, turn, attempt: 1, tool: call.name }
      const text = callListener(textOfError(error), 'onError', () =>
        this.#options.onError?.(error, where),
      )
      return this.#outcome(call.id, 'error', text)
    }
  }

  async #execute(found: AnyTool, request: ToolRequest, lease: AbortSignal): Promise<ToolOutcome> {
    const { sessionId, call, key } = request
    const schema: StandardSchema = found.input
    const checked = await schema['~standard'].validate(call.input)
    if (checked.issues !== undefined) {
      const issues = checked.issues.map(describeIssue).join('; ')
      return this.#outcome(call.id, 'error', `The input is not valid. ${issues}`)
    }
    const timeoutMs = found.timeoutMs ?? this.#options.toolTimeoutMs ?? TIMEOUT_MS
    const deadline = withDeadline(lease, timeoutMs)
    const { signal } = deadline
    try {
      const context = { sessionId, callId: call.id, key, signal }
      const output = await untilAborted(() => found.execute(checked.value, context), signal)
      return this.#outcome(call.id, 'ok', outputText(call.name, output))
    } catch (error) {
      if (!deadline.isOver()) throw error
      const problem = `The tool "${call.name}" did not answer within ${timeoutMs} ms.`
      throw new ThroughlineError('tool-timeout', problem, { at: call.name, cause: error })
    } finally {
      deadline.end()
    }
  }

  #find(name: string): AnyTool | undefined {
    const { tools = {} } = this.#options
    return Object.hasOwn(tools, name) ? tools[name] : undefined
  }

  #outcome(callId: string, outcome: ToolOutcome['outcome'], output: string): ToolOutcome {
    const part = { type: 'tool-result', callId, output: [{ type: 'text', text: output }] } as const
    return { outcome, output, tokens: this.#count({ role: 'tool', parts: [part] }) }
  }
}

function describeIssue({ message, path = [] }: SchemaIssue): string {
  const names = path.map((step) => String(typeof step === 'object' ? step.key : step))
  return `${names.join('.') || 'input'}: ${message}`
}

/** As JSON they would be empty objects. */
function refuseCollections(_: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) throw new Error('A Map or Set is no JSON.')
  return value
}

function outputText(name: string, output: unknown): string {
  if (typeof output === 'string') return output
  if (output === undefined) return ''
  let text: string | undefined
  let cause: unknown
  try {
    text = JSON.stringify(output, refuseCollections)
  } catch (error) {
    cause = error
  }
  if (text !== undefined) return text
  throw new ThroughlineError(
    'unserialisable-output',
    `The result of the tool "${name}" cannot be written as JSON. Return a string or plain data.`,
    { at: name, cause },
  )
}
