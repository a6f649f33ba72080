import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { type LogEvent, readFact } from './log-event.ts'
import { parseLogLine } from './log-line.ts'

/**
 * Reads the logs of one profile as one stream of events. Rotation leaves the parts in any order,
 * and `errors.log` and `gateway.log` repeat lines of `agent.log`, so parts are sorted by time, and
 * a line with the same time in two files counts once. Logs are streamed; only events are kept.
 */
export interface LogReading {
  readonly events: readonly LogEvent[]
  readonly lines: number
  readonly remarks: readonly string[]
}

const EVENTS_MAX = 400_000
const QUOTE_LENGTH_MAX = 400

export async function readLogs(
  paths: readonly string[],
  onProgress?: (path: string, bytes: number) => void,
  eventsMax = EVENTS_MAX,
): Promise<LogReading> {
  const remarks: string[] = []
  const parts: LogEvent[][] = []
  let lines = 0
  let held = 0
  let isCut = false
  for (const path of paths) {
    const events: LogEvent[] = []
    parts.push(events)
    try {
      lines += await readLines(path, onProgress, (text, line) => {
        const event = eventOf(text, { path, line })
        if (event === null) return
        events.push(event)
        held += 1
        if (held < 2 * eventsMax) return
        held = keepNewest(parts, eventsMax)
        isCut = true
      })
    } catch (error) {
      remarks.push(`${path} could not be read to its end: ${(error as Error).message}.`)
    }
  }
  if (held > eventsMax) isCut = keepNewest(parts, eventsMax) > 0
  if (isCut) remarks.push(`Only the newest ${eventsMax} events of the logs were kept.`)
  return { events: mergeParts(parts), lines, remarks }
}

/** Drops the oldest events of all parts in place; returns how many are left. */
function keepNewest(parts: readonly LogEvent[][], eventsMax: number): number {
  const times = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let filled = 0
  for (const part of parts) for (const { at } of timesOf(part)) times[filled++] = at
  times.sort()
  const oldest = times[times.length - eventsMax] ?? Number.NEGATIVE_INFINITY
  // Of the events with the oldest time, keep only as many as fit.
  let surplus = times.length - times.indexOf(oldest) - eventsMax
  let held = 0
  for (const part of parts) {
    const kept = timesOf(part).flatMap(({ event, at }) => {
      if (at === oldest && surplus > 0) surplus -= 1
      else if (at >= oldest) return [event]
      return []
    })
    part.length = 0
    for (const event of kept) part.push(event)
    held += part.length
  }
  return held
}

/** A line without a time belongs to the one before it. */
function timesOf(events: readonly LogEvent[]) {
  let at = events.find((event) => event.at !== null)?.at ?? Number.NEGATIVE_INFINITY
  return events.map((event) => {
    at = event.at ?? at
    return { event, at }
  })
}

export function eventOf(
  text: string,
  place: { readonly path: string; readonly line: number },
): LogEvent | null {
  const line = parseLogLine(text)
  const fact = readFact(line)
  if (fact === null) return null
  const { at, tag, logger } = line
  return { fact, at, tag, logger, ...place, text: text.trimEnd().slice(0, QUOTE_LENGTH_MAX) }
}

/** A part without any time keeps its position. */
function mergeParts(parts: readonly (readonly LogEvent[])[]): LogEvent[] {
  const timed: { readonly event: LogEvent; readonly at: number; readonly part: number }[] = []
  for (const [part, events] of parts.entries()) {
    for (const one of timesOf(events)) timed.push({ ...one, part })
  }
  timed.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
  const seen = new Map<string, number>()
  const merged: LogEvent[] = []
  for (const { event, part } of timed) {
    const key = keyOf(event)
    const firstPart = key === null ? undefined : seen.get(key)
    const isRepeated = firstPart !== undefined && (firstPart !== part || isCompaction(event))
    if (isRepeated) continue
    if (key !== null) seen.set(key, part)
    merged.push(event)
  }
  return merged
}

const DAY_SECONDS = 86_400

/** People paste the same lines twice, once without the date; a compaction starts and ends once. */
function keyOf(event: LogEvent): string | null {
  if (event.at === null) return null
  const time = isCompaction(event) ? event.at % DAY_SECONDS : event.at
  return `${time} ${event.tag} ${JSON.stringify(event.fact)}`
}

function isCompaction({ fact }: LogEvent): boolean {
  return fact.kind === 'started' || fact.kind === 'done'
}

async function readLines(
  path: string,
  onProgress: ((path: string, bytes: number) => void) | undefined,
  take: (text: string, line: number) => void,
): Promise<number> {
  const form = await formOf(path)
  if (form === 'packed') throw new Error('it is packed as .xz, .bz2 or .zip; unpack it first')
  const raw = createReadStream(path, { highWaterMark: 1 << 18 })
  const pieces = form === 'gzip' || form === 'zstd' ? unpack(raw, form) : raw
  const decoder = decoderFor(form)
  let rest = ''
  let line = 0
  for await (const piece of pieces as AsyncIterable<Buffer>) {
    const text = decoder.write(piece)
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      line += 1
      take(rest + text.slice(start, end), line)
      rest = ''
      start = end + 1
    }
    // An endless line must not fill the memory; text beyond the limit is not used anyway.
    if (rest.length < REST_LENGTH_MAX) rest += text.slice(start, start + REST_LENGTH_MAX)
    onProgress?.(path, raw.bytesRead)
  }
  if (rest !== '') take(rest, line + 1)
  return rest === '' ? line : line + 1
}

/** For either byte order; Node supports only one of them. */
function decoderFor(form: Form): { write(piece: Buffer): string } {
  if (form !== 'utf16be') return new StringDecoder(form === 'utf16' ? 'utf16le' : 'utf8')
  const decoder = new StringDecoder('utf16le')
  let half = Buffer.alloc(0)
  return {
    write(piece) {
      const bytes = Buffer.concat([half, piece])
      const length = bytes.length - (bytes.length % 2)
      half = bytes.subarray(length)
      return decoder.write(Buffer.from(bytes.subarray(0, length)).swap16())
    },
  }
}

const REST_LENGTH_MAX = 8_192

function unpack(raw: ReturnType<typeof createReadStream>, form: 'gzip' | 'zstd') {
  const unpacked = form === 'gzip' ? createGunzip() : createZstdDecompress()
  raw.on('error', (error) => unpacked.destroy(error))
  return raw.pipe(unpacked)
}

type Form = 'text' | 'utf16' | 'utf16be' | 'gzip' | 'zstd' | 'packed'

/** By the first bytes, in hex: the names of rotated logs are not reliable. */
const FORMS: readonly (readonly [string, Form])[] = [
  ['1f8b', 'gzip'],
  ['28b52ffd', 'zstd'],
  // As PowerShell redirects output.
  ['fffe', 'utf16'],
  ['feff', 'utf16be'],
  ['fd377a585a00', 'packed'],
  ['425a68', 'packed'],
  ['504b0304', 'packed'],
]

const START_BYTES = 64

/** Without a byte order mark: in UTF-16, every other byte of ASCII text is zero. */
function unmarked(start: Buffer): Form {
  const zeros = [0, 0]
  for (const [at, byte] of start.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const half = start.length / 2
  if (start.length < 8 || Math.max(even, odd) < half * 0.8) return 'text'
  return odd > even ? 'utf16' : 'utf16be'
}

async function formOf(path: string): Promise<Form> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0)
    const start = buffer.toString('hex', 0, bytesRead)
    const known = FORMS.find(([mark]) => start.startsWith(mark))?.[1]
    return known ?? unmarked(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}
