import { CommanderError } from 'commander'
import { KnownError } from '../../packages/core/src/base/errors.ts'
import { buildProgram } from '../../packages/server/src/cli/program.ts'

export interface Screen {
  /** Null: it ended with an error, which stands in `stderr`. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command within this process: what it prints and its exit code. */
export async function runHere(...args: readonly string[]): Promise<Screen> {
  const { stdout, stderr } = process
  const written = { stdout: '', stderr: '' }
  const writers = [stdout.write, stderr.write] as const
  stdout.write = catching((text) => {
    written.stdout += text
  })
  stderr.write = catching((text) => {
    written.stderr += text
  })
  const before = process.exitCode
  process.exitCode = undefined
  try {
    const program = await buildProgram(args)
    await program.parseAsync([...args], { from: 'user' })
    return { exitCode: Number(process.exitCode ?? 0), ...written }
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode, ...written }
    if (!(error instanceof KnownError)) throw error
    return {
      exitCode: null,
      ...written,
      stderr: `${written.stderr}${error.name}: ${error.message}`,
    }
  } finally {
    process.exitCode = before
    ;[stdout.write, stderr.write] = writers
  }
}

function catching(take: (text: string) => void): typeof process.stdout.write {
  return (text: string | Uint8Array, ...rest: readonly unknown[]) => {
    take(String(text))
    const done = rest.at(-1)
    if (typeof done === 'function') done()
    return true
  }
}
