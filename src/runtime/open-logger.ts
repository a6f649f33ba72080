import { destination, type Logger as PinoLogger, pino } from 'pino'
import type { Config } from './config/schema.ts'
import type { Logger } from './logger.ts'

/** What a process tells about itself: JSON lines for programs, plain lines on a terminal. */
export interface OpenLogger extends Logger {
  setLevel(level: Config['logging']['level']): void
  /** Writes what waits; may be called twice. */
  close(): void
}

export function openLogger(
  { level, file, pretty }: Config['logging'],
  terminal: NodeJS.WriteStream & { readonly fd: number },
): OpenLogger {
  const isPlain = pretty === true || (pretty === 'auto' && file === undefined && terminal.isTTY)
  // Synchronous: the line before a crash is the one that is wanted.
  const output = destination({ sync: true, mkdir: true, mode: 0o600, dest: file ?? terminal.fd })
  const to = isPlain ? { write: (line: string) => void output.write(plainLine(line)) } : output
  const logger: PinoLogger = pino({ level, base: { process: process.pid } }, to)
  return {
    debug: (fields, text) => logger.debug(fields, text),
    info: (fields, text) => logger.info(fields, text),
    warn: (fields, text) => logger.warn(fields, text),
    error: (fields, text) => logger.error(fields, text),
    setLevel(next) {
      logger.level = next
    },
    close: () => output.flushSync(),
  }
}

const LEVELS: { readonly [level: number]: string } = {
  20: 'debug',
  30: '',
  40: 'warn',
  50: 'error',
}

/** `08:30:01 warn model is down route=main failures=3` */
export function plainLine(json: string): string {
  const { level, time, msg, process: _, ...facts } = JSON.parse(json) as Record<string, unknown>
  const clock = new Date(Number(time)).toISOString().slice(11, 19)
  const told = Object.entries(facts).map(([key, value]) => `${key}=${factText(value)}`)
  const words = [clock, LEVELS[Number(level)] ?? '', String(msg ?? ''), ...told]
  return `${words.filter((word) => word !== '').join(' ')}\n`
}

function factText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // Quoted as JSON does it, so that nothing in it reaches the terminal as an escape sequence.
  return /^[\w./:@%+,-]*$/.test(text) ? text : JSON.stringify(value)
}
