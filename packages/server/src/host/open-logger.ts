import { destination, type Logger as PinoLogger, pino } from 'pino'
import { KnownError } from '#core/base/errors'
import { FileRefusedError, openToAppend } from '#core/base/files/write'
import { type Logger, traceOf } from '#core/base/logger'
import type { Config } from './config/schema/schema.ts'

/** The log of a process: JSON lines for programs, plain lines on a terminal. */
export interface OpenLogger extends Logger {
  setLevel(level: Config['logging']['level']): void
  /** May be called twice. */
  close(): void
}

export function openLogger(
  { level, file, pretty }: Config['logging'],
  terminal: NodeJS.WriteStream & { readonly fd: number },
): OpenLogger {
  const isPlain = pretty === true || (pretty === 'auto' && file === undefined && terminal.isTTY)
  const output = openOutput(file ?? terminal.fd, (problem) => terminal.write(problem))
  let isOpen = true
  const to = {
    write(line: string) {
      // Lines after close are dropped.
      if (isOpen) output.write(isPlain ? plainLogLine(line) : line)
    },
  }
  // pino itself would write the message and every field: the text that a chat refused, for example.
  const serializers = { err: (error: unknown) => traceOf(error) }
  const logger: PinoLogger = pino({ level, base: { process: process.pid }, serializers }, to)
  return {
    debug: (fields, text) => logger.debug(fields, text),
    info: (fields, text) => logger.info(fields, text),
    warn: (fields, text) => logger.warn(fields, text),
    error: (fields, text) => logger.error(fields, text),
    setLevel(next) {
      logger.level = next
    },
    // Not flushed, because on a full disk that would never end.
    close() {
      isOpen = false
      output.destroy()
    },
  }
}

/** Unwritten lines kept for a retry, in bytes; more is lost. */
const WAITING_MAX = 1024 * 1024

/**
 * Synchronous, so that the line before a crash is written. A full disk loses only log lines; the
 * loss is reported once.
 */
function openOutput(dest: string | number, report: (problem: string) => void) {
  try {
    const fd = typeof dest === 'string' ? openToAppend(dest) : dest
    const output = destination({ sync: true, maxLength: WAITING_MAX, dest: fd })
    let isReported = false
    output.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (isReported) return
      isReported = true
      report(`throughline: the log ${dest} cannot be written (${code}); its lines are lost.\n`)
    })
    return output
  } catch (error) {
    if (error instanceof FileRefusedError) throw error
    throw new LogRefusedError(String(dest), error as NodeJS.ErrnoException)
  }
}

export class LogRefusedError extends KnownError {
  override readonly name = 'LogRefusedError'
  readonly code = 'log-refused'
  readonly retryable = false

  constructor(file: string, cause: NodeJS.ErrnoException) {
    super(
      `The log ${file} cannot be written (${cause.code}); set \`logging.file\` to another path.`,
      {
        cause,
      },
    )
  }
}

const LEVELS: { readonly [level: number]: string } = {
  20: 'debug',
  30: '',
  40: 'warn',
  50: 'error',
}

/** `08:30:01 warn model is down route=main failures=3` */
export function plainLogLine(json: string): string {
  const { level, time, msg, process: _, ...facts } = JSON.parse(json) as Record<string, unknown>
  const clock = new Date(Number(time)).toISOString().slice(11, 19)
  const pairs = Object.entries(facts).map(([key, value]) => `${key}=${factText(value)}`)
  const words = [clock, LEVELS[Number(level)] ?? '', String(msg ?? ''), ...pairs]
  return `${words.filter((word) => word !== '').join(' ')}\n`
}

function factText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // Quoted as in JSON, so that no escape sequence reaches the terminal.
  return /^[\w./:@%+,-]*$/.test(text) ? text : JSON.stringify(value)
}
