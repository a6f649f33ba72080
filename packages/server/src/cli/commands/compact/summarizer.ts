import { spawn } from 'node:child_process'
import { KnownError } from '#core/base/errors'
import type { SummaryWriter } from '#core/compaction/summary/summary-writer'
import { UsageError } from '../../../host/errors.ts'
import { END_SIGNALS, killGroup, LEADS_GROUP } from '../../../host/operating-system.ts'
import { readTextFile } from '../../terminal/input.ts'

/** Far more than any budget accepts; a program that never stops writing is ended here. */
const SUMMARY_BYTES_MAX = 1024 * 1024

/** How much of a failing program's error output is shown. */
const COMPLAINT_CHARACTERS_MAX = 400

export type Summarizer =
  | { readonly by: 'digest' }
  | { readonly by: 'given'; readonly text: string }
  | { readonly by: 'model'; readonly write: SummaryWriter }

export class SummarizerError extends KnownError {
  override readonly name = 'SummarizerError'
  readonly code = 'summarizer-failed'
  readonly retryable = true
}

/** Reads `digest`, `file:PATH` or `command:CMD`. */
export function parseSummarizer(text: string, options: { readonly timeoutMs: number }): Summarizer {
  if (text === 'digest') return { by: 'digest' }
  const [kind, rest = ''] = splitOnce(text)
  if (kind === 'file' && rest !== '') return givenText(rest)
  if (kind === 'command' && rest.trim() !== '') {
    return { by: 'model', write: commandWriter(rest, options.timeoutMs) }
  }
  throw new UsageError(
    `--summarizer takes digest, file:PATH or command:CMD, not ${JSON.stringify(text)}.`,
  )
}

function splitOnce(text: string): [string, string?] {
  const colon = text.indexOf(':')
  return colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)]
}

function givenText(path: string): Summarizer {
  const text = readTextFile(path, SUMMARY_BYTES_MAX)
  if (text.trim() === '') throw new UsageError(`${path} is empty; it should contain the summary.`)
  return { by: 'given', text }
}

function commandWriter(command: string, timeoutMs: number): SummaryWriter {
  return async ({ system, prompt }, signal) => {
    const text = await runCommand({ command, input: `${system}\n\n${prompt}\n`, timeoutMs, signal })
    if (text.trim() === '') throw new SummarizerError('the command wrote nothing')
    return { text, finish: 'stop' }
  }
}

interface CommandRun {
  readonly command: string
  readonly input: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Runs the shell command on `input` and returns its output. The command leads its own process
 * group, so that its children end with it; the terminal's Ctrl-C does not reach that group, so we
 * pass signals on.
 */
function runCommand({ command, input, timeoutMs, signal }: CommandRun): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // Before the child starts: a signal in between would leave it running.
  const stopForwarding = forwardSignals(() => killGroup(child))
  const child = spawn(command, {
    shell: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: LEADS_GROUP,
  })
  const output: Buffer[] = []
  let outputBytes = 0
  let complaint = ''

  const fail = (message: string) => {
    killGroup(child)
    // A grandchild that left the group may still hold the pipes; do not wait for it.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
    reject(new SummarizerError(message))
  }
  const onAbort = () => fail('it was cancelled')
  const onTimeout = () =>
    fail(`the command took longer than ${timeoutMs / 1_000} s (--summarizer-timeout)`)
  const timer = setTimeout(onTimeout, timeoutMs)
  signal.addEventListener('abort', onAbort, { once: true })

  // A command may read only part of its input, or none.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  child.stdout.on('data', (chunk: Buffer) => {
    output.push(chunk)
    outputBytes += chunk.length
    if (outputBytes > SUMMARY_BYTES_MAX) {
      fail(`the command wrote more than ${SUMMARY_BYTES_MAX / 1024} kB`)
    }
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-COMPLAINT_CHARACTERS_MAX)
  })
  child.on('error', (error) => fail(`the command could not be started: ${error.message}`))
  child.on('close', (code, endedBy) => {
    if (code === 0) return resolve(Buffer.concat(output).toString())
    const end = code === null ? `was killed by ${endedBy}` : `ended with exit code ${code}`
    const said = complaint.trim()
    fail(`the command ${end}${said === '' ? '' : `, saying: ${said}`}`)
  })
  return promise.finally(() => {
    clearTimeout(timer)
    stopForwarding()
    signal.removeEventListener('abort', onAbort)
  })
}

/** On a signal the command ends first, then we die of the same signal, as a shell expects. */
function forwardSignals(endCommand: () => void): () => void {
  const handlers = END_SIGNALS.map((signal) => {
    const handler = () => {
      endCommand()
      stop()
      process.kill(process.pid, signal)
    }
    process.once(signal, handler)
    return { signal, handler }
  })
  const stop = () => {
    for (const { signal, handler } of handlers) process.off(signal, handler)
  }
  return stop
}
