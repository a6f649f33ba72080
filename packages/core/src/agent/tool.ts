import { isId } from '../base/ids.ts'
import {
  checkDelay,
  checkFunction,
  checkKeys,
  checkText,
  invalidOption,
  show,
} from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import type { ToolDescription } from './typed-formats/format.ts'

/** A schema of zod, valibot, arktype and others: the interface of standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

export type JsonSchema = { readonly [key: string]: unknown }

/** A schema that can write itself as JSON Schema: zod from 4.2, arktype from 2.2. */
interface SelfDescribing {
  readonly '~standard': {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-07' }) => JsonSchema
    }
  }
}

export interface ToolContext {
  readonly sessionId: string
  readonly callId: string
  /** The same for every repetition of this call: pass it to services that take an idempotency key. */
  readonly key: string
  /** Aborted when the turn is stopped, the time is over, or another process took the session. */
  readonly signal: AbortSignal
}

export interface AgentTool<Schema extends StandardSchema = StandardSchema, Output = unknown> {
  readonly description: string
  readonly input: Schema
  readonly jsonSchema?: JsonSchema
  /** May run again under the same key after a crash. Otherwise the model reads that it was interrupted. */
  readonly repeatable?: boolean
  readonly timeoutMs?: number
  execute(input: OutputOf<Schema>, context: ToolContext): Output | Promise<Output>
}

// biome-ignore lint/suspicious/noExplicitAny: the bound of a generic; `unknown` would be too narrow
export type AnyTool = AgentTool<any, any>

type NeedsJsonSchema<Schema> = Schema extends SelfDescribing
  ? { readonly jsonSchema?: JsonSchema }
  : { readonly jsonSchema: JsonSchema }

/**
 * A tool of an agent. Its input is checked before it runs, and it runs only when its call is durable.
 *
 * ```ts
 * const weather = tool({
 *   description: 'The weather in a town.',
 *   input: z.object({ town: z.string() }),
 *   execute: ({ town }, { key, signal }) => fetchWeather(town, key, signal),
 * })
 * ```
 */
export function tool<Schema extends StandardSchema, Output>(
  definition: Omit<AgentTool<Schema, Output>, 'jsonSchema'> & NeedsJsonSchema<Schema>,
): AgentTool<Schema, Output> {
  return definition as AgentTool<Schema, Output>
}

const FIELDS = ['description', 'input', 'jsonSchema', 'repeatable', 'timeoutMs', 'execute']

export function checkTools(tools: unknown): void {
  if (tools === undefined) return
  if (typeof tools !== 'object' || tools === null || Array.isArray(tools)) {
    throw invalidOption('tools', `"tools" is ${show(tools)}. Give an object: { name: tool }.`)
  }
  for (const [name, tool] of Object.entries(tools)) checkTool(name, tool)
}

function checkTool(name: string, tool: Partial<AnyTool>): void {
  const at = `tools.${name}`
  if (!isId(name)) {
    throw invalidOption(
      at,
      `No model can call ${show(name)}. Use 1 to 64 letters, digits, "_" or "-".`,
    )
  }
  checkKeys(tool, FIELDS, at)
  checkText(`${at}.description`, tool.description)
  checkFunction(`${at}.execute`, tool.execute)
  checkDelay(`${at}.timeoutMs`, tool.timeoutMs)
  const { '~standard': standard } = (tool.input ?? {}) as Partial<StandardSchema>
  if (typeof standard?.validate === 'function') return
  throw invalidOption(
    `${at}.input`,
    `"${at}.input" is ${show(tool.input)}. Give a schema of zod, valibot or arktype; JSON Schema goes into "jsonSchema".`,
  )
}

export function describeTool(
  name: string,
  { description, input, jsonSchema }: AnyTool,
): ToolDescription {
  if (jsonSchema !== undefined) return { name, description, schema: jsonSchema }
  const standard = (input as StandardSchema)['~standard']
  if (!('jsonSchema' in standard)) {
    throw new ThroughlineError(
      'no-json-schema',
      `The schema of the tool "${name}" cannot describe itself to a model. Give "jsonSchema" beside "input".`,
      { at: `tools.${name}.jsonSchema` },
    )
  }
  const { jsonSchema: own } = standard as unknown as SelfDescribing['~standard']
  return { name, description, schema: own.input({ target: 'draft-07' }) }
}
