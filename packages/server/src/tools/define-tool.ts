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
  return {
    name,
    description,
    inputSchema: jsonSchemaOf(input),
    isRepeatable,
    run: (call, signal) => run({ ...call, input: input.parse(call.input) }, signal),
  }
}

/** Every agent has tools of its own with the same inputs. */
const converted = new WeakMap<z.ZodObject, JsonObject>()

function jsonSchemaOf(input: z.ZodObject): JsonObject {
  const known = converted.get(input)
  if (known !== undefined) return known
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' })
  converted.set(input, schema as JsonObject)
  return schema as JsonObject
}

export function ok(output: string): ToolAnswer {
  return { outcome: 'ok', output }
}

/** An error that the caller can read and act on; nothing was done. */
export function refuse(output: string): ToolAnswer {
  return { outcome: 'error', output }
}
