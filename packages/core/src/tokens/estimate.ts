import { isAscii } from '../base/bytes.ts'
import { isArray, type JsonValue } from '../base/json.ts'
import { writeEnvelope } from '../message/handoff/envelope.ts'
import type { BlobSource, Message, Part } from '../message/message.ts'
import type { ModelFamily } from './family.ts'

/**
 * Counts tokens without a tokenizer: characters, weighted by how tokenizers treat them, divided by
 * the family's density. Instant and accurate on the whole; a single message may be off by a third,
 * which calibration does not correct but a long conversation averages out.
 */

/**
 * Characters per token, measured on agent text (code, JSON, logs, prose): Claude on the growth of
 * billed input, OpenAI against o200k. Google documents four characters per token of prose, and
 * agent text is a seventh denser than that in every vocabulary measured. An unknown model is counted
 * rather too high than too low: an overflow costs more than an early compaction.
 */
const CHARACTERS_PER_TOKEN = { claude: 2.87, openai: 3.5, gemini: 3.5, generic: 3.2 } as const

/**
 * The weight of a non-ASCII character in ASCII characters, by its length in UTF-8; a four-byte
 * character is two units of two bytes each. Checked per script: o200k for OpenAI, the published
 * older vocabulary for Claude, which is worse at Greek and Thai (0.6 of it) than at the rest.
 */
const WEIGHTS = {
  claude: { twoBytes: 2, threeBytes: 3, surrogate: 3.5 },
  openai: { twoBytes: 1, threeBytes: 2.2, surrogate: 3 },
  gemini: { twoBytes: 1, threeBytes: 2.2, surrogate: 3 },
  generic: { twoBytes: 1.6, threeBytes: 2.7, surrogate: 3.2 },
} as const

/** For tool output: code, JSON, logs. Prose is less dense; `estimatePart` distinguishes them. */
export function estimateText(text: string, family: ModelFamily): number {
  return tokens(weigh(text, family), family)
}

function estimateProse(text: string, family: ModelFamily): number {
  return tokens(weigh(text, family) / PROSE_PER_OUTPUT, family)
}

function tokens(weight: number, family: ModelFamily): number {
  return Math.ceil(weight / CHARACTERS_PER_TOKEN[family])
}

// What people and models write is less dense than what tools print: 3.6 against 2.87 characters per
// token on Claude's bills, 4.2 against 3.4 bytes in o200k, over the same sessions.
const PROSE_PER_OUTPUT = 1.25

/** Role and turn markers around a message. */
export const MESSAGE_TOKENS = 4
/** The wrapping of one call or result, by provider bills: the id alone is about twenty tokens. */
const TOOL_TOKENS = { claude: 30, openai: 12, gemini: 12, generic: 20 } as const

/** In units of one ordinary ASCII character. */
function weigh(text: string, family: ModelFamily): number {
  const beyondAscii = isAscii(text) ? 0 : weighBeyondAscii(text, family)
  return text.length + beyondAscii + weighRuns(text, family)
}

/** The extra weight of non-ASCII characters beyond one each. */
function weighBeyondAscii(text: string, family: ModelFamily): number {
  const { twoBytes, threeBytes, surrogate } = WEIGHTS[family]
  let weight = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x80) continue
    const isSurrogate = code >= 0xd800 && code <= 0xdfff
    weight += (code < 0x800 ? twoBytes : isSurrogate ? surrogate : threeBytes) - 1
  }
  return weight
}

// Two kinds of runs are nothing like ordinary text. Base64 and hex give about 1.6 characters per
// token in every vocabulary; long white space gives 16 and more.
const RUN_MIN = 64
const DENSE_CHARACTERS_PER_TOKEN = 1.6
const SPACE_CHARACTERS_PER_TOKEN = 16

/**
 * The extra weight of long runs (base64, hex), or their lower weight (white space). A run of
 * `RUN_MIN` covers a multiple of half of it, so only those positions are checked, which is faster
 * than reading the text.
 */
function weighRuns(text: string, family: ModelFamily): number {
  let weight = 0
  let behind = 0
  for (let at = RUN_MIN / 2; at < text.length; at += RUN_MIN / 2) {
    const kind = kindOf(text.charCodeAt(at))
    if (kind === OTHER) continue
    let from = at
    while (from > behind && kindOf(text.charCodeAt(from - 1)) === kind) from--
    let to = at + 1
    while (to < text.length && kindOf(text.charCodeAt(to)) === kind) to++
    const length = to - from
    if (length >= RUN_MIN) {
      const density =
        kind === SPACE
          ? SPACE_CHARACTERS_PER_TOKEN
          : isDense(text, from, to)
            ? DENSE_CHARACTERS_PER_TOKEN
            : CHARACTERS_PER_TOKEN[family]
      weight += length * (CHARACTERS_PER_TOKEN[family] / density - 1)
    }
    behind = to
    at = to - 1
  }
  return weight
}

/** One character of base64 in six is a digit; names and paths of that length have hardly any. */
function isDense(text: string, from: number, to: number): boolean {
  let digits = 0
  for (let index = from; index < to; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0x30 && code <= 0x39) digits++
  }
  return digits * 12 >= to - from
}

const OTHER = 0
const WORD = 1
const SPACE = 2
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[A-Za-z0-9+/=_]/.test(character)) return WORD
  return /\s/.test(character) ? SPACE : OTHER
})

function kindOf(code: number): number {
  return code < 128 ? (KINDS[code] ?? OTHER) : OTHER
}

/** The message with its role and wrapping; a handoff counts as the text it is sent as. */
export function estimateMessage(message: Message, family: ModelFamily): number {
  const parts = message.role === 'handoff' ? writeEnvelope(message.handoff).parts : message.parts
  let sum = MESSAGE_TOKENS
  for (const part of parts) sum += estimatePart(part, family)
  return sum
}

/** One part, without the message around it. */
export function estimatePart(part: Part, family: ModelFamily): number {
  switch (part.type) {
    case 'text':
      return estimateProse(part.text, family)
    case 'reasoning':
      // Sealed reasoning repeats the text in another form.
      return part.text === '' && part.sealed !== undefined
        ? estimateJson(part.sealed.value, family)
        : estimateProse(part.text, family)
    case 'tool-call':
      return (
        TOOL_TOKENS[family] +
        estimateText(part.name, family) +
        (part.inputText === undefined
          ? estimateJson(part.input, family)
          : estimateText(part.inputText, family))
      )
    case 'tool-result': {
      let sum = TOOL_TOKENS[family]
      for (const output of part.output) {
        sum +=
          output.type === 'text' ? estimateText(output.text, family) : estimatePart(output, family)
      }
      return sum
    }
    case 'image':
      return IMAGE_TOKENS[family]
    case 'file':
      return estimateFile(part.source, family)
    case 'opaque':
      return estimateJson(part.value, family)
    default:
      return part satisfies never
  }
}

/** Tool schemas, which are sent with every request. */
export function estimateTools(schemas: JsonValue, family: ModelFamily): number {
  return estimateJson(schemas, family)
}

// The cost of a 16:9 screenshot after the provider's own scaling: Claude width x height / 750 with
// at most about 1.2 megapixels, OpenAI six tiles of 170 and 85, Gemini six tiles of 258.
const IMAGE_TOKENS = { claude: 1600, openai: 1105, gemini: 1548, generic: 1600 } as const

/** A page of a document costs its text and, with most providers, an image of it. */
const PAGE_TOKENS = 2500
const PAGE_BYTES = 50_000

function estimateFile(source: BlobSource, family: ModelFamily): number {
  if (source.kind !== 'base64') return PAGE_TOKENS
  const bytes = source.data.length * 0.75
  if (source.mediaType.startsWith('text/')) return tokens(bytes, family)
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_TOKENS
}

/** Without recursion, so that deep nesting is safe, and without building the JSON text. */
function estimateJson(value: JsonValue, family: ModelFamily): number {
  let weight = 0
  const waiting: JsonValue[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string')
      weight += 2 + (isSealed(next) ? weighSealed(next) : weigh(next, family))
    else if (typeof next !== 'object' || next === null) weight += String(next).length
    else if (isArray(next)) {
      weight += 1 + next.length
      for (const item of next) waiting.push(item)
    } else {
      weight += 2
      for (const [key, item] of Object.entries(next)) {
        weight += key.length + 4
        waiting.push(item)
      }
    }
  }
  return tokens(weight, family)
}

// Encrypted reasoning and compaction items travel as base64 around a header; what the model is
// billed for is the text inside. On 4,800 signatures of Claude three quarters of the length less 175
// is the length of the thought.
const SEALED_CHARACTERS_MIN = 400
const SEALED_HEADER_BYTES = 175

function isSealed(text: string): boolean {
  return text.length >= SEALED_CHARACTERS_MIN && /^[\w+/=-]{400}/.test(text)
}

function weighSealed(text: string): number {
  return Math.max(0, text.length * 0.75 - SEALED_HEADER_BYTES)
}
