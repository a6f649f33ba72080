import type { ReadStream, WriteStream } from 'node:tty'
import { signalExitCode } from '../../../host/platform.ts'

const INTERRUPT = '\u0003'

/**
 * The keyboard of a chat, opened before everything else, so that what a person types while the chat
 * starts is not lost. Until the chat reads, keys are kept: the terminal may still send Enter as a
 * line feed then, which would otherwise mean a new line. Ctrl-C ends a chat that is still starting.
 */
export class Keyboard {
  readonly #input: ReadStream
  #early = ''
  #onText: ((text: string) => void) | null = null
  #onEnd: () => void = () => process.exit(signalExitCode('SIGINT'))

  /** Null: no person is at a terminal. */
  static open(input: ReadStream, output: WriteStream): Keyboard | null {
    return input.isTTY && output.isTTY ? new Keyboard(input) : null
  }

  private constructor(input: ReadStream) {
    this.#input = input
    input.setRawMode(true).setEncoding('utf8')
    input.on('data', this.#take)
    input.once('end', () => this.#onEnd())
  }

  /** From now on, text goes there as it arrives; first what was typed before. */
  read(onText: (text: string) => void, onEnd: () => void): void {
    this.#onText = onText
    this.#onEnd = onEnd
    const early = this.#early.replaceAll('\n', '\r')
    this.#early = ''
    if (early !== '') onText(early)
  }

  close(): void {
    this.#input.off('data', this.#take).setRawMode(false).pause()
  }

  readonly #take = (data: Buffer | string): void => {
    const text = String(data)
    if (this.#onText !== null) this.#onText(text)
    else if (text.includes(INTERRUPT)) {
      this.close()
      process.exit(signalExitCode('SIGINT'))
    } else this.#early += text
  }
}
