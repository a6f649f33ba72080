import type { JsonValue } from '../../base/json.ts'
import { show } from '../../base/option-checks.ts'
import { ThroughlineError } from '../../base/throughline-error.ts'
import type { Codec } from '../../message/codec.ts'
import { normalizeFor } from '../../message/dialects/normalize.ts'
import type { ProviderDialect } from '../../message/dialects/provider-dialect.ts'
import type { CodecName } from '../../message/formats/names.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import type { ModelFamily } from '../../tokens/family.ts'

/** The types of a library, carried by its format, so that callers never write them out. */
export interface FormatShape {
  /** One message in the library's type. */
  readonly message: unknown
  /** The request for the model: spread it into the library's call. */
  readonly request: object
  /** The library's response, or the assistant message in it. */
  readonly reply: unknown
}

const INTERNALS: unique symbol = Symbol.for('throughline.format')
declare const SHAPE: unique symbol

/**
 * A message format as a value. It loads no library: its types come from the one that you have
 * installed, an optional peer of this package.
 */
export interface Format<Shape extends FormatShape = FormatShape> {
  readonly name: string
  readonly [SHAPE]?: Shape
  readonly [INTERNALS]: FormatInternals
}

/** A tool as a request describes it to a model. */
export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly schema: { readonly [key: string]: unknown }
}

/** How a format reads and writes. Not part of the public interface. */
export interface FormatInternals {
  readonly codec: Codec<CodecName>
  readonly dialect: ProviderDialect
  /** Makes messages legal where the dialect's rules are not the library's. */
  legal?(messages: readonly Message[]): readonly Message[]
  /** The model whose tokens are counted if none is named. */
  readonly family: ModelFamily
  request(messages: readonly Message[], tools: readonly ToolDescription[]): object
  /** The messages of a response in the codec's format; null: it has none. */
  itemsOf(reply: unknown): unknown
}

// biome-ignore lint/suspicious/noExplicitAny: the bound of a generic; `unknown` would be too narrow
export type AnyFormat = Format<any>
type ShapeOf<F extends AnyFormat> = NonNullable<F[typeof SHAPE]>
/** One message of a format. */
export type MessageOf<F extends AnyFormat> = ShapeOf<F>['message']
/** The request of a format. */
export type RequestFor<F extends AnyFormat> = ShapeOf<F>['request']
/** The response of a format's library. */
export type ReplyOf<F extends AnyFormat> = ShapeOf<F>['reply']

export function makeFormat<Shape extends FormatShape>(internals: FormatInternals): Format<Shape> {
  return { name: internals.codec.name, [INTERNALS]: internals }
}

/** Throws `unknown-format` for anything that is not a format. */
export function internalsOf(format: Format): FormatInternals {
  const given: unknown = format
  if (typeof given === 'object' && given !== null && INTERNALS in given) return format[INTERNALS]
  throw new ThroughlineError(
    'unknown-format',
    `"format" is ${show(given)}. Import a format instead: openaiChat or openaiResponses from ` +
      '"@throughline/core/openai", anthropic from "@throughline/core/anthropic", gemini from ' +
      '"@throughline/core/gemini", aiSdk from "@throughline/core/ai-sdk", or langchain from ' +
      '"@throughline/core/langchain".',
    { at: 'format' },
  )
}

/** Messages as the format's library takes them. */
export function legalMessages(
  { dialect, legal }: FormatInternals,
  messages: readonly Message[],
): readonly Message[] {
  return legal === undefined ? normalizeFor(dialect, messages) : legal(messages)
}

/** The messages as a document that the codec can read; throws `wrong-format` if it cannot. */
export function checkItems({ codec }: FormatInternals, items: unknown, at: string): JsonValue {
  const document = items as JsonValue
  const problem = Array.isArray(items)
    ? (deepIn(items) ?? codec.reject(document) ?? codec.doubt?.(document))
    : `expected an array of messages, found ${show(items)}`
  if (problem === undefined) return document
  throw new ThroughlineError(
    'wrong-format',
    `These messages are not in the format ${codec.name}: ${problem}.`,
    { at },
  )
}

/** As deep as the bodies of a store may be. */
const DEPTH_MAX = 256

function deepIn(items: readonly unknown[]): string | undefined {
  const deep = items.findIndex((item) => isDeep(item, DEPTH_MAX))
  if (deep < 0) return undefined
  return `item ${deep} contains itself, or is nested deeper than ${DEPTH_MAX} levels`
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false
  return levels === 0 || Object.values(value).some((each) => isDeep(each, levels - 1))
}

/** Splits off the system text, for libraries that take it beside the messages. */
export function splitSystem(messages: readonly Message[]): {
  readonly system: string
  readonly rest: readonly Message[]
} {
  const first = messages.findIndex(({ role }) => role !== 'system')
  const end = first < 0 ? messages.length : first
  const texts = messages.slice(0, end).map((message) => textOf(message))
  return { system: texts.join('\n\n'), rest: messages.slice(end) }
}
