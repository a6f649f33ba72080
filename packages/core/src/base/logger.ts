/** Where a process tells what it does; the shape of pino and of most others. Never content. */
export interface Logger {
  debug(fields: object, text: string): void
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }
