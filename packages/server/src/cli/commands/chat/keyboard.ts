import { closeSync, constants, openSync, readSync } from 'node:fs'
import type { ReadStream, WriteStream } from 'node:tty'
import { signalExitCode } from '../../../host/operating-system.ts'

const INTERRUPT = '\u0003'

/**
 * Asks for bracketed paste, and for Shift+Enter to differ from Enter: the protocols of kitty, and
 * of xterm and tmux. A terminal without these ignores them.
 */
const TERMINAL_MODES = {
  on: '\u001b[?2004h\u001b[>1u\u001b[>4;1m',
  off: '\u001b[>4;0m\u001b[<u\u001b[?2004l',
}

/**
 * The keyboard of a chat, opened before everything else, so that what a person types or pastes while
 * the chat starts arrives as it is. Keys are kept until the chat reads. Ctrl-C ends a chat that is
 * still starting.
 */
export class Keyboard {
  readonly #input: ReadStream
  readonly #output: WriteStream
  #early = ''
  readonly #decoder = new TextDecoder()
  #onText: ((text: string) => void) | null = null
  #onEnd: () => void = () => process.exit(signalExitCode('SIGINT'))

  /** Null: no person is at a terminal. */
  static find(input: ReadStream, output: WriteStream): Keyboard | null {
    return input.isTTY && output.isTTY ? new Keyboard(input, output) : null
  }

  private constructor(input: ReadStream, output: WriteStream) {
    this.#input = input
    this.#output = output
    input.setRawMode(true)
    // Typed before, Enter is a line feed, as Ctrl-J is from now on.
    this.#early = this.#decode(typedBefore()).replaceAll('\n', '\r')
    input.on('data', this.#take)
    input.once('end', () => this.#onEnd())
    output.write(TERMINAL_MODES.on)
  }

  /** From now on, text goes there as it arrives; first what was typed before. */
  read(onText: (text: string) => void, onEnd: () => void): void {
    this.#onText = onText
    this.#onEnd = onEnd
    const early = this.#early
    this.#early = ''
    if (early !== '') onText(early)
  }

  close(): void {
    this.#output.write(TERMINAL_MODES.off)
    this.#input.off('data', this.#take).setRawMode(false).pause()
  }

  #decode(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true })
  }

  readonly #take = (data: Buffer): void => {
    const text = this.#decode(data)
    if (this.#onText !== null) this.#onText(text)
    else if (text.includes(INTERRUPT)) {
      this.close()
      process.exit(signalExitCode('SIGINT'))
    } else this.#early += text
  }
}

const BYTES_MAX = 64 * 1024

/** What the terminal already holds; nothing if it cannot be opened once more, as on Windows. */
function typedBefore(): Uint8Array {
  let terminal: number | undefined
  try {
    terminal = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const bytes = Buffer.alloc(BYTES_MAX)
    return bytes.subarray(0, readSync(terminal, bytes))
  } catch {
    return new Uint8Array() // nothing was typed (EAGAIN)
  } finally {
    if (terminal !== undefined) closeSync(terminal)
  }
}
