/**
 * The log of a process, in the shape of pino and most others. Never contains conversation content.
 */
export interface Logger {
  debug(fields: object, text: string): void
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }
