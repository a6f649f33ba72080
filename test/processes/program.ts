import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/**
 * The agent's program, put into a few files once: a process that lives for half a second should not
 * spend most of it reading two hundred modules in three threads (0.54 s of processor time per start
 * from the sources, 0.19 s from here). It also stays what it was while somebody edits the sources.
 */
export interface Program {
  readonly agent: string
  /** What `--import` is told in a child that carries a failpoint or a planted bug. */
  readonly plant: string
}

const ROOT = join(import.meta.dirname, '..', '..')

let present: Promise<Program> | undefined

/** The same for the whole life of this process; its files go with it. */
export function bundledProgram(): Promise<Program> {
  present ??= bundle()
  return present
}

async function bundle(): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-program-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // The names are told to each other by the sources: a store starts `thread.js` beside itself.
  const made = await rolldown({
    input: {
      agent: join(import.meta.dirname, 'agent.ts'),
      plant: join(import.meta.dirname, 'plant.ts'),
      thread: join(ROOT, 'packages', 'core', 'src', 'store', 'sqlite', 'worker', 'thread.ts'),
    },
    platform: 'node',
    logLevel: 'silent',
  })
  await made.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  })
  await made.close()
  return {
    agent: join(folder, 'agent.js'),
    plant: pathToFileURL(join(folder, 'plant.js')).href,
  }
}
