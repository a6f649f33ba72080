import { z } from 'zod'
import type { JsonObject } from '#core/base/json'
import type { Tool, ToolAnswer, ToolCall } from './tool.ts'

/** A call whose input was parsed by the tool's schema. */
export type ParsedCall<Input extends z.ZodObject> = Omit<ToolCall, 'input'> & {
  readonly input: z.output<Input>
}

/**
 * A tool whose input is defined once: the schema sent to the model and the type that `run` receives
 * come from the same definition. Providers require a plain object at the top level, so choices are
 * optional fields.
 */
export function defineTool<Input extends z.ZodObject>(tool: {
  readonly name: string
  readonly description: string
  readonly input: Input
  readonly isRepeatable: boolean
  readonly run: (call: ParsedCall<Input>, signal: AbortSignal) => Promise<ToolAnswer>
}): Tool {
  const { name, description, input, isRepeatable, run } = tool
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' })
  return {
    name,
    description,
    inputSchema: inputSchema as JsonObject,
    isRepeatable,
    run: (call, signal) => run({ ...call, input: input.parse(call.input) }, signal),
  }
}

export function ok(output: string): ToolAnswer {
  return { outcome: 'ok', output }
}

/** An error that the caller can read and act on; nothing was done. */
export function refuse(output: string): ToolAnswer {
  return { outcome: 'error', output }
}
