import { hash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { isId, sessionId } from '#core/base/ids'
import type { JsonObject, JsonValue } from '#core/base/json'
import type { Handoff } from '#core/message/handoff/handoff'
import { lastModel } from '#core/message/last-model'
import type { Message } from '#core/message/message'
import { firstSentence } from '#core/message/title'
import { messageCounter } from '#core/tokens/count'
import { estimateText } from '#core/tokens/estimate'
import { familyOf } from '#core/tokens/family'
import { type About, notImported } from '../hermes/import/chain.ts'
import { asideFor, type CountMessage, entryFor, isStorable } from '../hermes/import/entry.ts'
import type { ImportTarget } from '../hermes/import/import.ts'
import { addUp, type ConversationReport, type ImportReport } from '../import-report.ts'
import { SessionImport, SessionImporter } from '../session-importer.ts'
import { findLogs, type LogFormat, nameOfLog, readLog, type SessionLogLine } from './files.ts'
import { LOG_READERS, type Reading } from './reading.ts'

/**
 * Imports session logs of other programs: one file becomes one session, and every line is accounted
 * for. Logs only grow, so line numbers tell what was already imported; a second run imports only
 * what is new.
 */
export interface ImportLogs extends ImportTarget {
  readonly format: LogFormat
  readonly path: string
  readonly agent: string
  /** Hides secrets in titles. */
  readonly mask: (text: string) => string
  readonly onFile?: (files: number, of: number) => void
}

/** A line may contain several messages; each has its own number. */
const PER_LINE = 4_096
const NOTHING = { messages: 0, compactions: 0, rewound: 0, restored: [], made: 0 }

export async function importLogs(request: ImportLogs): Promise<ImportReport> {
  const { format, path, agent, target } = request
  const files = await findLogs(path, format)
  const reads = target.isDryRun ? target.reads : target.store
  const store = target.isDryRun ? null : target.store
  const { host, isGone = () => false, stageParts = null } = request
  const importer = new SessionImporter({ reads, store, host, isGone, stageParts })
  const conversations: ConversationReport[] = []
  try {
    for (const [index, file] of files.entries()) {
      conversations.push(await importLog(file, importer, request))
      request.onFile?.(index + 1, files.length)
      await breathe()
    }
  } finally {
    await importer.close()
  }
  const nothing = { remarks: [], routes: [], settings: [], proposal: '', memories: [] }
  const rows = addUp(conversations.map((one) => one.rows))
  const unit = 'line' as const
  const profile = { name: format, store: path, unit, agent, ...nothing, leftBehind: [] }
  const profiles = [{ ...profile, conversations, rows, kinds: null }]
  const { isDryRun } = target
  return { format: 'throughline-import', version: 1, path, isDryRun, profiles, unread: [] }
}

async function importLog(
  file: string,
  importer: SessionImporter,
  request: ImportLogs,
): Promise<ConversationReport> {
  const { format, agent, limits } = request
  const about = { rootId: file, sessionId: '', ids: [file], title: null }
  const lines = await readLog(file).catch((error: Error) => error.message)
  if (typeof lines === 'string') return left(about, 0, `${file} cannot be read: ${lines}.`)
  const reader = LOG_READERS[format]
  const documents = lines.flatMap((line) => line.documents ?? [])
  const reason = reader.codec.reject(documents)
  if (reason !== undefined) return left(about, lines.length, `It is no ${format} log: ${reason}.`)
  const { id, system, model } = reader.facts(documents)
  const readings = reader.read(documents)
  const foreign = id ?? nameOfLog(file)
  const name = isId(foreign) ? foreign : `${format}-${hash('sha256', foreign).slice(0, 24)}`
  const family = familyOf(model ?? lastModel(readings.flatMap(messagesOf)) ?? undefined)
  const hand = await importer.take({
    ...{ id: sessionId(name), agent, limits, rows: documents.length },
    createdAt: firstTime(readings, documents),
    settings: {
      ...(system !== null && { system }),
      importedFrom: { format, id: foreign, ids: [foreign] },
      tokens: system === null ? 0 : estimateText(system, family),
    },
  })
  const title = firstSentence(readings.flatMap(messagesOf), request.mask)
  const known: About = { rootId: foreign, sessionId: name, ids: [foreign], title }
  if (!(hand instanceof SessionImport)) return notImported(known, hand, lines.length)
  const writing = new LogWriting(hand, request, messageCounter(family))
  await writing.writeAll(lines, documents, readings)
  await hand.close()
  if (title !== null && !request.target.isDryRun && hand.state === 'new') {
    await request.target.store.setTitle({ sessionId: sessionId(name), title })
  }
  return writing.report(known, lines.length)
}

function left(about: About, lines: number, difference: string): ConversationReport {
  const rows = { in: lines, brought: 0, before: 0, copies: 0, silent: 0, left: lines }
  return { ...about, ...NOTHING, outcome: 'unreadable', rows, differences: [difference] }
}

function messagesOf(reading: Reading): readonly Message[] {
  return 'messages' in reading ? reading.messages : []
}

/** The first time found, in milliseconds. */
function firstTime(readings: readonly Reading[], documents: readonly JsonObject[]): number {
  const said = readings.flatMap(messagesOf).find(({ at }) => at !== undefined)?.at
  return timeOf(documents[0]?.['timestamp'] ?? null) ?? timeOf(said ?? null) ?? 0
}

function timeOf(value: JsonValue): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(time) && time >= 0 ? Math.floor(time) : null
}

type Placed = 'brought' | 'before' | 'silent' | 'left'

class LogWriting {
  readonly #hand: SessionImport
  readonly #request: ImportLogs
  readonly #count: CountMessage
  readonly #made: number
  readonly #lines: { [place in Placed]: number } = { brought: 0, before: 0, silent: 0, left: 0 }
  readonly #unread: number[] = []
  /** The number of the first row of each document. */
  readonly #firstRows: number[] = []
  #at = 0
  #messages = 0
  #compactions = 0
  #aside = 0
  #takenBack = 0
  #beyond = 0

  constructor(hand: SessionImport, request: ImportLogs, count: CountMessage) {
    this.#hand = hand
    this.#request = request
    this.#count = count
    this.#made = hand.added
  }

  async writeAll(
    lines: readonly SessionLogLine[],
    documents: readonly JsonObject[],
    readings: readonly Reading[],
  ): Promise<void> {
    let index = 0
    for (const { number, documents: here } of lines) {
      const positions = new Set<Placed>()
      let row = number * PER_LINE
      for (const _ of here ?? []) {
        const reading = readings[index]
        this.#at = timeOf(documents[index]?.['timestamp'] ?? null) ?? this.#at
        this.#firstRows[index] = row
        index += 1
        const entries = reading === undefined ? 0 : await this.#write(reading, row, positions)
        row += entries
      }
      if (here === null) this.#unread.push(number)
      const place = here === null ? 'left' : ORDER.find((one) => positions.has(one))
      this.#lines[place ?? 'silent'] += 1
    }
  }

  /** Returns how many rows it used. */
  async #write(reading: Reading, row: number, positions: Set<Placed>): Promise<number> {
    switch (reading.kind) {
      case 'silent':
        return 0
      case 'compaction':
        await this.#compact(reading, row, positions)
        return 1
      default: {
        const all = reading.messages.flatMap(oneByOne)
        // The numbers behind these belong to the next line: its messages would count as known.
        const messages = all.slice(0, PER_LINE - (row % PER_LINE) - 1)
        this.#beyond += all.length - messages.length
        for (const [index, message] of messages.entries()) {
          await this.#say(message, row + index, reading.kind === 'aside', positions)
        }
        return messages.length
      }
    }
  }

  async #say(
    message: Message,
    row: number,
    isAside: boolean,
    positions: Set<Placed>,
  ): Promise<void> {
    const { positions: known } = this.#hand
    if (known.has(row)) {
      positions.add('before')
      if (isAside && !known.isAside(row)) this.#takenBack += 1
      return
    }
    const { format } = this.#request
    const at = timeOf(message.at ?? null) ?? this.#at
    const told = storable({ ...message, origin: { ...message.origin, format, at: row } })
    const entry = isAside
      ? asideFor(told, { row, at })
      : entryFor(told, { row, at, format }, this.#count)
    await this.#hand.append(entry)
    positions.add('brought')
    if (isAside) this.#aside += 1
    else this.#messages += 1
  }

  async #compact(
    { text, keptFrom }: Reading & { kind: 'compaction' },
    row: number,
    brought: Set<Placed>,
  ): Promise<void> {
    const { positions } = this.#hand
    if (positions.has(row)) {
      brought.add('before')
      return
    }
    const covers = positions.coversBefore(
      keptFrom === null ? null : (this.#firstRows[keptFrom] ?? null),
    )
    const handoff: Handoff = {
      ...{ version: 1, by: 'given', covers, kept: positions.tail - covers },
      ...{ compactions: positions.handoffs + 1, preserved: [], tasks: [], files: [], ledger: [] },
      summary: text,
    }
    const tokens = this.#count({ role: 'handoff', handoff })
    const body = handoff as unknown as JsonValue
    await this.#hand.append({ kind: 'compaction', row, at: this.#at, covers, tokens, body })
    brought.add('brought')
    this.#compactions += 1
  }

  report(about: About, lines: number): ConversationReport {
    const { brought } = this.#lines
    const { state } = this.#hand
    const differences: string[] = []
    const tell = (count: number, sentence: string) => {
      if (count > 0) differences.push(`${count} ${sentence}`)
    }
    tell(this.#aside, 'messages are of branches that were left, and are kept beside it.')
    tell(this.#takenBack, 'messages that were brought before count as taken back there now.')
    tell(this.#beyond, `messages were left: one line can hold at most ${PER_LINE - 1}.`)
    tell(
      this.#unread.length,
      `lines cannot be read and were left, such as line ${this.#unread[0]}.`,
    )
    return {
      ...about,
      outcome: state === 'continued' && brought === 0 ? 'unchanged' : state,
      rows: { in: lines, copies: 0, ...this.#lines },
      ...{ messages: this.#messages, compactions: this.#compactions, rewound: this.#aside },
      ...{ restored: [], made: this.#made, differences },
    }
  }
}

/** A line counts as new if any part of it is. */
const ORDER: readonly Placed[] = ['brought', 'before', 'silent']

/** Each result of a tool message becomes an entry of its own. */
function oneByOne(message: Message): readonly Message[] {
  if (message.role !== 'tool' || message.parts.length < 2) return [message]
  return message.parts.map((part) => ({ ...message, parts: [part] }))
}

function storable(message: Message): Message {
  if (isStorable(message as unknown as JsonValue)) return message
  const text = JSON.stringify('parts' in message ? message.parts : message)
  const { origin } = message
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  return {
    role,
    parts: [{ type: 'text', text }],
    ...(origin && { origin: { format: origin.format, at: origin.at } }),
  }
}
