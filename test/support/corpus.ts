import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../packages/core/src/base/json.ts'
import type { Conversation } from '../../packages/core/src/message/codec.ts'
import type { FormatName } from '../../packages/core/src/message/formats/names.ts'
import { readConversation } from '../../packages/core/src/message/read.ts'

/**
 * Real conversations, if their folder is present (`THROUGHLINE_CORPUS`, else beside the project).
 * Sets in formats without a codec get a small adapter here.
 */
export const CORPUS_SETS = [
  'claude-code',
  'pi-mono',
  'codex',
  'cline',
  'openhands',
  'swe-agent',
  'tau-bench',
  'vercel-ai',
] as const

export type CorpusSet = (typeof CORPUS_SETS)[number]

export interface CorpusConversation {
  readonly name: string
  readonly set: CorpusSet
  readonly conversation: Conversation
}

export interface CorpusFile {
  readonly set: CorpusSet
  readonly name: string
  /** The file's text, unpacked. */
  read(): string
}

export const CORPUS_ABSENT = 'not run: corpus absent (THROUGHLINE_CORPUS says where it is)'

const PROJECT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

export function corpusDir(): string | undefined {
  const dir = process.env['THROUGHLINE_CORPUS'] ?? resolve(PROJECT, '../shared/corpus')
  return existsSync(dir) ? dir : undefined
}

/** Every file of a set, or of all sets, in a stable order; none if the corpus is absent. */
export function corpusFiles(set?: CorpusSet): readonly CorpusFile[] {
  const dir = corpusDir()
  if (dir === undefined) return []
  return (set === undefined ? CORPUS_SETS : [set]).flatMap((each) => {
    const folder = join(dir, each)
    if (!existsSync(folder)) return []
    const names = readdirSync(folder).filter((name) => name !== 'PROVENANCE.md')
    return names.sort().map((name) => fileOf(each, folder, name))
  })
}

/**
 * Sessions recorded with the real clients from our own prompts (`npm run samples`); every clone has
 * them.
 */
const SAMPLES: readonly (readonly [CorpusSet, string])[] = [
  ['claude-code', 'claude-code.jsonl'],
  ['codex', 'codex.jsonl'],
  ['codex', 'codex-remote.jsonl'],
  ['pi-mono', 'pi.jsonl'],
]

/** Each as the client left it, and as it was before the client compacted it. */
export function sampleFiles(set?: CorpusSet): readonly CorpusFile[] {
  const folder = resolve(PROJECT, 'test/fixtures/sessions')
  const chosen = SAMPLES.filter(([each]) => set === undefined || each === set)
  return chosen.flatMap(([each, name]) => {
    const whole = fileOf(each, folder, name)
    return [whole, { ...whole, name: `${whole.name} before`, read: () => untilCompaction(whole) }]
  })
}

const COMPACTION = /"subtype":"compact_boundary"|"type":"compact(?:ed|ion)"/

function untilCompaction({ read, name }: CorpusFile): string {
  const lines = read().split('\n')
  const at = lines.findIndex((line) => COMPACTION.test(line))
  if (at === -1) throw new Error(`${name} holds no compaction; make it again with npm run samples`)
  return lines.slice(0, at).join('\n')
}

function fileOf(set: CorpusSet, folder: string, name: string): CorpusFile {
  return {
    set,
    name: `${set}/${name}`,
    read: () => {
      const bytes = readFileSync(join(folder, name))
      return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
    },
  }
}

/** Why a file of the corpus has no conversation; undefined if it has one. */
export function corpusSkip(file: CorpusFile): string | undefined {
  if (file.name.includes('/tui-')) return 'a log of the interface, without a conversation'
  if (file.name.endsWith('.chunks.txt')) return 'a stream of events, without a whole message'
  return undefined
}

/** Every conversation of the files, or of the whole corpus, read one at a time. */
export function* corpusConversations(
  files: readonly CorpusFile[] = corpusFiles(),
): Generator<CorpusConversation> {
  for (const file of files) {
    if (corpusSkip(file) !== undefined) continue
    for (const { name, text, format } of conversationTexts(file)) {
      yield { name, set: file.set, conversation: readConversation(text, format) }
    }
  }
}

export interface ConversationText {
  readonly name: string
  readonly text: string
  readonly format: FormatName
}

/** The conversations of a file as texts that a codec reads. */
export function conversationTexts(file: CorpusFile): readonly ConversationText[] {
  const text = file.read()
  const { name } = file
  const numbered = (values: readonly JsonValue[], format: FormatName) =>
    values.map((value, index) => ({
      name: `${name}#${index}`,
      text: JSON.stringify(value),
      format,
    }))
  switch (file.set) {
    case 'claude-code':
      return [{ name, text, format: 'claude-code' }]
    case 'pi-mono':
      return [{ name, text, format: 'pi' }]
    case 'codex':
      return [{ name, text, format: 'codex' }]
    case 'cline':
      return [{ name, text, format: 'anthropic' }]
    case 'tau-bench':
      return numbered(
        (JSON.parse(text) as JsonObject[]).map(({ traj }) => traj ?? []),
        'openai-chat',
      )
    case 'swe-agent':
      return numbered([fromSweAgent(JSON.parse(text) as JsonObject)], 'openai-chat')
    case 'openhands': {
      const runs = text.split('\n').filter((line) => line.trim() !== '')
      return numbered(
        runs.map((line) => fromOpenHands(JSON.parse(line) as JsonObject)),
        'openai-chat',
      )
    }
    case 'vercel-ai':
      return [fromResponse(name, JSON.parse(text) as JsonObject)]
  }
}

/** SWE-agent's history is chat messages whose results name their calls in a list. */
function fromSweAgent({ history }: JsonObject): JsonValue {
  return objectsOf(history).map((message) => {
    const { role, content, tool_calls: calls, tool_call_ids: ids } = message
    if (role === 'tool') return { role, tool_call_id: Array.isArray(ids) ? ids[0] : '', content }
    return { role, content, ...(Array.isArray(calls) && { tool_calls: calls }) } as JsonObject
  }) as JsonValue
}

/** OpenHands records actions and observations; an action that is observed is a call. */
function fromOpenHands({ history }: JsonObject): JsonValue {
  const events = objectsOf(history)
  const messages: JsonValue[] = []
  for (const [index, event] of events.entries()) {
    const { action, observation, thought, content } = event
    const id = `call_${index}`
    if (action === 'message') messages.push({ role: 'user', content: content ?? '' })
    else if (observation !== undefined) {
      messages.push({ role: 'tool', tool_call_id: `call_${index - 1}`, content: content ?? '' })
    } else if (typeof action === 'string' && events[index + 1]?.['observation'] !== undefined) {
      const { command, code } = event
      const input = JSON.stringify(command === undefined ? { code } : { command })
      const call = { id, type: 'function', function: { name: action, arguments: input } }
      messages.push({ role: 'assistant', content: thought ?? null, tool_calls: [call] })
    } else messages.push({ role: 'assistant', content: thought ?? '' })
  }
  return messages
}

/** A provider's response becomes the conversation that would be sent back with it. */
function fromResponse(name: string, response: JsonObject): ConversationText {
  const ask = 'Go on with the next question, please.'
  const { output } = response
  if (isArray(output)) {
    const input = [{ role: 'user', content: ask }, ...output]
    return {
      name,
      text: JSON.stringify({ model: response['model'], input }),
      format: 'openai-responses',
    }
  }
  const { role, content } = response
  const messages = [
    { role: 'user', content: ask },
    { role, content },
  ]
  return { name, text: JSON.stringify({ model: response['model'], messages }), format: 'anthropic' }
}

/** The blocks of a message's `content`; a bare text counts as one. */
export function blocksOf(content: JsonValue | undefined): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content)
}

export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : []
}
