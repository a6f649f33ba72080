import { isObject, type JsonObject } from '#core/base/json'

/**
 * Writes a handoff into a client's own log, so that the client continues from it without the proxy.
 * The versions named here opened such logs. Clients update themselves every few days without a change
 * to the format, so later patch versions are taken as well; another version may refuse its log.
 */
export interface ClientLog {
  /** Newest first. */
  readonly versions: readonly [string, ...string[]]
  /** Below the user's home. */
  readonly folder: string
  /** Where the client lists its running processes, below the user's home; null: nowhere. */
  readonly running: string | null
  isLogOf(fileName: string, session: string): boolean
  versionOf(lines: readonly JsonObject[]): string | null
  /** The lines to append. */
  write(lines: readonly JsonObject[], handoff: LogHandoff): readonly JsonObject[]
}

export interface LogHandoff {
  readonly text: string
  /** Of the next request, with the client's system text and tools. */
  readonly tokens: number
  readonly at: Date
  readonly newId: () => string
}

const COMMON_FIELDS = [
  ...['sessionId', 'cwd', 'version', 'userType', 'entrypoint', 'gitBranch', 'slug'],
] as const

export const claudeLog: ClientLog = {
  versions: ['2.1.326', '2.1.325', '2.1.197'],
  folder: '.claude/projects',
  running: '.claude/sessions',
  isLogOf: (fileName, session) => fileName === `${session}.jsonl`,
  versionOf: (lines) => textOf(lines.findLast(hasId)?.['version']),
  write(lines, { text, tokens, at, newId }) {
    const last = lines.findLast(hasId)
    if (last === undefined) throw new Error('The log holds no message.')
    const common = Object.fromEntries(
      COMMON_FIELDS.filter((name) => last[name] !== undefined).map((name) => [name, last[name]]),
    ) as JsonObject
    const boundary = newId()
    const base = { isSidechain: false, ...common, timestamp: at.toISOString() }
    return [
      {
        ...{ parentUuid: null, logicalParentUuid: last['uuid'] ?? null, ...base },
        ...{ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted' },
        ...{ isMeta: false, level: 'info', uuid: boundary },
        compactMetadata: { trigger: 'manual', preTokens: tokens, postTokens: tokens },
      },
      {
        ...{ parentUuid: boundary, ...base, type: 'user', uuid: newId() },
        ...{ isCompactSummary: true, isVisibleInTranscriptOnly: true },
        message: { role: 'user', content: text },
      },
    ]
  },
}

function hasId(line: JsonObject): boolean {
  return (
    (line['type'] === 'user' || line['type'] === 'assistant') && typeof line['uuid'] === 'string'
  )
}

export const codexLog: ClientLog = {
  versions: ['0.169.0', '0.166.0'],
  folder: '.codex/sessions',
  running: null,
  isLogOf: (fileName, session) => fileName.endsWith(`-${session}.jsonl`),
  versionOf(lines) {
    const payload = lines.find(({ type }) => type === 'session_meta')?.['payload']
    return isObject(payload) ? textOf(payload['cli_version']) : null
  },
  write(lines, { text, tokens, at }) {
    // The client refuses to open a log with an unnumbered line.
    const ordinal = lines.at(-1)?.['ordinal']
    if (typeof ordinal !== 'number') throw new Error('The lines of the log have no numbers.')
    const timestamp = at.toISOString()
    const content = [{ type: 'input_text', text }]
    const message = { type: 'message', role: 'user', content }
    const compacted = { message: text, replacement_history: [message] }
    return [
      { timestamp, ordinal: ordinal + 1, type: 'compacted', payload: compacted },
      // Without it the client compacts again before its next turn.
      { timestamp, ordinal: ordinal + 2, type: 'event_msg', payload: usageEvent(lines, tokens) },
    ]
  },
}

function usageEvent(lines: readonly JsonObject[], tokens: number): JsonObject {
  const event = lines.findLast((line) => {
    const { payload } = line
    return isObject(payload) && payload['type'] === 'token_count' && isObject(payload['info'])
  })
  const payload = isObject(event?.['payload']) ? event['payload'] : {}
  const info = isObject(payload['info']) ? payload['info'] : {}
  const last = isObject(info['last_token_usage']) ? info['last_token_usage'] : {}
  const none = Object.fromEntries(Object.keys(last).map((name) => [name, 0]))
  const usage = { ...none, input_tokens: tokens, output_tokens: 0, total_tokens: tokens }
  const total = info['total_token_usage'] ?? usage
  return {
    ...{ rate_limits: null, ...payload, type: 'token_count' },
    info: {
      model_context_window: null,
      ...info,
      total_token_usage: total,
      last_token_usage: usage,
    },
  }
}

export const CLIENT_LOGS = { claude: claudeLog, codex: codexLog } as const

/** Whether a version differs from the newest one that was tried only by a higher patch number. */
export function isLaterPatch(version: string, { versions: [newest] }: ClientLog): boolean {
  const [series, patch] = splitVersion(version)
  const [newestSeries, newestPatch] = splitVersion(newest)
  return series === newestSeries && patch > newestPatch
}

/** A preview version belongs to no series. */
function splitVersion(version: string): readonly [series: string, patch: number] {
  const [, series = '', patch = ''] = /^(\d{1,9}\.\d{1,9})\.(\d{1,9})$/.exec(version) ?? []
  return [series, Number(patch)]
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
