import { CommanderError } from 'commander'
import { KnownError } from '#core/base/errors'
import { FailedError } from '../host/errors.ts'
import { EXIT } from './exit.ts'
import { buildProgram } from './program.ts'
import { printable } from './terminal/printable.ts'

/**
 * The command `throughline`. Data goes to standard output, messages for people to standard error.
 */

const NO_SPACE = ['ENOSPC', 'EDQUOT']

/**
 * Errors about permissions, space, limits and the kind of a file, which the operator can fix; the
 * message names the call and the file.
 */
const REFUSALS = [
  ...NO_SPACE,
  ...['EACCES', 'EPERM', 'EROFS', 'EMFILE', 'ENFILE'],
  ...['ENOTDIR', 'EISDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'EIO'],
]

// A reader that has seen enough (`| head`) closes the pipe; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The writer handles any other error.
  if (error.code === 'EPIPE') process.exit(EXIT.done)
})
// A full disk loses messages for people, but not the work.
process.stderr.on('error', () => {})

try {
  const program = await buildProgram(process.argv.slice(2))
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has already printed the error.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
  if (error instanceof KnownError) {
    process.stderr.write(`throughline: ${printable(error.message)}\n`)
    return error instanceof FailedError || error.retryable ? EXIT.failed : EXIT.usage
  }
  if (isRefusedBySystem(error)) {
    const text = printable(error.message)
    const said = NO_SPACE.includes(error.code ?? '')
      ? `No space left on the device (${text}). Free some space and try again.`
      : `The system refused: ${text}.`
    process.stderr.write(`throughline: ${said}\n`)
    return EXIT.failed
  }
  // A bug of ours, so print the stack trace.
  process.stderr.write(`throughline failed unexpectedly; please report this.\n`)
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  return EXIT.failed
}

function isRefusedBySystem(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  // The working folder was removed, or no folder can be made there, as below /proc.
  return REFUSALS.includes(code) || syscall === 'uv_cwd' || syscall === 'mkdir'
}
