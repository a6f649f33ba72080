import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { applyMutation, type Edit } from './mutations.ts'

/** A change of a source. */
export interface Change {
  readonly file: string
  readonly text: string
  readonly line: number
  readonly mutation: Edit
}

/**
 * Tells which changes the compiler refuses. It looks at many files with one change each at a time,
 * since a look takes as long for one. An error in a changed file is its change's. Errors in other files
 * alone halve the round until the change is found; that takes many looks, so it comes last.
 */
export async function refuseByTypes<C extends Change>(
  where: { root: string; copy: string },
  changes: readonly C[],
  onRefused: (change: C) => void,
): Promise<void> {
  const waiting = [...changes]
  const doubtful: C[][] = []
  while (waiting.length > 0) {
    const files = new Set<string>()
    let round: C[] = []
    for (const change of [...waiting]) {
      if (files.has(change.file)) continue
      files.add(change.file)
      round.push(...waiting.splice(waiting.indexOf(change), 1))
    }
    // Broken syntax hides every error of another kind, so the rest is looked at again.
    for (;;) {
      const wrong = await filesWithErrors(where, round)
      const own = round.filter(({ file }) => wrong.has(file))
      for (const change of own) onRefused(change)
      round = round.filter(({ file }) => !wrong.has(file))
      if (own.length === 0 && wrong.size > 0) doubtful.push(round)
      if (own.length === 0) break
    }
  }
  for (const round of doubtful) await halve(where, round, onRefused)
}

/** Of changes that cause errors in other files alone. */
async function halve<C extends Change>(
  where: { root: string; copy: string },
  round: readonly C[],
  onRefused: (change: C) => void,
): Promise<void> {
  const [only] = round
  if (only === undefined || (await filesWithErrors(where, round)).size === 0) return
  if (round.length === 1) return onRefused(only)
  const half = Math.ceil(round.length / 2)
  await halve(where, round.slice(0, half), onRefused)
  await halve(where, round.slice(half), onRefused)
}

async function filesWithErrors(
  { root, copy }: { root: string; copy: string },
  changes: readonly Change[],
): Promise<Set<string>> {
  const originals = changes.map(({ file }) => [file, readFileSync(join(copy, file))] as const)
  for (const { file, text, mutation } of changes) {
    writeFileSync(join(copy, file), applyMutation(text, mutation))
  }
  try {
    const output = await compile(root, copy)
    const files = [...output.matchAll(/^(\S+\.ts)\(\d+,\d+\): error/gm)].map(
      ([, file = '']) => file,
    )
    return new Set(files.map((file) => file.replaceAll('\\', '/')))
  } finally {
    for (const [file, original] of originals) writeFileSync(join(copy, file), original)
  }
}

/** Of the sources alone: tests would more than double the time. */
const PROJECT = {
  extends: './tsconfig.json',
  include: ['packages/core/src', 'packages/server/src'],
  exclude: ['**/*.test.ts'],
}

async function compile(root: string, copy: string): Promise<string> {
  const bin = join(root, 'node_modules', '.bin')
  const project = join(copy, 'tsconfig.mutate.json')
  writeFileSync(project, JSON.stringify(PROJECT))
  const kept = ['--incremental', '--tsBuildInfoFile', '.throughline-types']
  const child = spawn(join(bin, 'tsc'), ['--pretty', 'false', '--project', project, ...kept], {
    cwd: copy,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const part of child.stdout.setEncoding('utf8')) output += part
  return output
}
