import type { LogLine } from './log-line.ts'

/** What a log line says about compaction, turns and auxiliary calls; other lines are not events. */
export type LogFact =
  | { readonly kind: 'started'; readonly sessionId: string; readonly messages: number }
  | {
      readonly kind: 'done'
      readonly sessionId: string
      readonly before: number
      readonly after: number
      /** In the form of later versions, which no longer rewrite a session by deleting rows. */
      readonly isNewForm: boolean
    }
  | { readonly kind: 'using'; readonly task: string; readonly route: string }
  | { readonly kind: 'summary-failed'; readonly error: string }
  | { readonly kind: 'connection-failed' }
  | { readonly kind: 'summary-written' }
  | { readonly kind: 'skipped'; readonly sessionId: string }
  | { readonly kind: 'split'; readonly from: string; readonly to: string }
  | { readonly kind: 'turn'; readonly sessionId: string; readonly said: string }
  | {
      readonly kind: 'turn-ended'
      readonly sessionId: string | null
      readonly reason: string
      readonly isAnswered: boolean
    }
  | { readonly kind: 'inbound'; readonly said: string }
  | { readonly kind: 'dropped'; readonly key: string }

export interface LogEvent {
  readonly fact: LogFact
  readonly at: number | null
  readonly tag: string | null
  readonly logger: string | null
  readonly path: string
  readonly line: number
  readonly text: string
}

const COMPACTION =
  /^(?:context )?compression (started|done):\s+session=(\S+)\s+messages=(\d{1,9})(?:->(\d{1,9}))?/
const USING = /^Auxiliary (\S{1,60}): using (.+)$/
const FAILED = 'Failed to generate context summary: '
const COOLDOWN =
  /^Skipping preflight compression: same-session cooldown active \(.{0,60}session (\S+)\)/
const SPLIT = /^Session split detected: (\S+) (?:→|->) (\S+)/
const ADOPTED = /^compression recovery: stale session=(\S+) adopted live child=(\S+)/
const TURN = /^conversation turn: session=(\S+) /
const DROPPED = /^Dropping busy-mode follow-up for session (\S+)/
const SUMMARIZED = /^Compressed: \d{1,9} -> \d{1,9} messages/

export function readFact({ message, logger }: LogLine): LogFact | null {
  const compaction = COMPACTION.exec(message)
  if (compaction !== null) return readCompaction(compaction, message)
  if (message.startsWith(FAILED)) {
    return { kind: 'summary-failed', error: message.slice(FAILED.length) }
  }
  const using = USING.exec(message)
  if (using !== null) return { kind: 'using', task: using[1] ?? '', route: using[2] ?? '' }
  if (SUMMARIZED.test(message)) return { kind: 'summary-written' }
  const skipped = COOLDOWN.exec(message)
  if (skipped !== null) return { kind: 'skipped', sessionId: skipped[1] ?? '' }
  const split = SPLIT.exec(message) ?? ADOPTED.exec(message)
  if (split !== null) return { kind: 'split', from: split[1] ?? '', to: split[2] ?? '' }
  const turn = TURN.exec(message)
  if (turn !== null) return { kind: 'turn', sessionId: turn[1] ?? '', said: readSaid(message) }
  if (message.startsWith('Turn ended: ')) return readTurnEnd(message)
  if (message.startsWith('inbound message: ')) return { kind: 'inbound', said: readSaid(message) }
  const dropped = DROPPED.exec(message)
  if (dropped !== null) return { kind: 'dropped', key: dropped[1] ?? '' }
  return isAuxiliaryConnectionError(message, logger) ? { kind: 'connection-failed' } : null
}

function readCompaction(match: RegExpExecArray, message: string): LogFact | null {
  const [, phase, sessionId = '', before, after] = match
  if (phase === 'started') return { kind: 'started', sessionId, messages: Number(before) }
  if (after === undefined) return null
  const isNewForm = message.includes('rough_tokens=') || message.includes('awaiting_real_usage')
  return { kind: 'done', sessionId, before: Number(before), after: Number(after), isNewForm }
}

/** The preview at the end, `msg='…'`, quoted as Python does. */
function readSaid(message: string): string {
  const start = message.indexOf(' msg=')
  if (start < 0) return ''
  const quoted = message.slice(start + 5)
  const end = quoted.endsWith(quoted.charAt(0)) && quoted.length > 1 ? -1 : undefined
  return quoted.slice(1, end)
}

function readTurnEnd(message: string): LogFact {
  const field = (name: string) => {
    const start = message.indexOf(` ${name}=`)
    if (start < 0) return null
    const rest = message.slice(start + name.length + 2)
    const end = rest.indexOf(' ')
    return end < 0 ? rest : rest.slice(0, end)
  }
  const responseLength = Number(field('response_len') ?? 0)
  return {
    kind: 'turn-ended',
    sessionId: field('session'),
    reason: field('reason') ?? 'unknown',
    isAnswered: responseLength > 0,
  }
}

/** The loop logs failures of the main route; any others are of auxiliary calls. */
function isAuxiliaryConnectionError(message: string, logger: string | null): boolean {
  if (!message.includes('failed: Connection error') && !message.startsWith('Connection error')) {
    return false
  }
  return logger === null || !MAIN_LOGGERS.has(logger)
}

const MAIN_LOGGERS = new Set(['run_agent', 'agent.conversation_loop'])
