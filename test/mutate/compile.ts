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
 * The changes that the compiler refuses. It looks at many files with one change each at a time, since
 * a look takes as long for one. An error in a changed file is its change's; errors in other files alone
 * halve the round until the change is found.
 */
export async function refusedByTypes<C extends Change>(
  { root, copy }: { root: string; copy: string },
  changes: readonly C[],
): Promise<C[]> {
  const refused: C[] = []
  const waiting = [...changes]
  while (waiting.length > 0) {
    const files = new Set<string>()
    const round: C[] = []
    for (const change of [...waiting]) {
      if (files.has(change.file)) continue
      files.add(change.file)
      round.push(...waiting.splice(waiting.indexOf(change), 1))
    }
    refused.push(...(await refusedOf({ root, copy }, round)))
  }
  return refused
}

async function refusedOf<C extends Change>(
  where: { root: string; copy: string },
  round: readonly C[],
): Promise<C[]> {
  const wrong = await filesWithErrors(where, round)
  if (wrong.size === 0) return []
  const own = round.filter(({ file }) => wrong.has(file))
  // Broken syntax hides every error of another kind, so the rest is looked at again.
  if (own.length > 0) {
    const rest = round.filter(({ file }) => !wrong.has(file))
    return rest.length === 0 ? own : [...own, ...(await refusedOf(where, rest))]
  }
  if (round.length === 1) return [...round]
  const half = Math.ceil(round.length / 2)
  const first = await refusedOf(where, round.slice(0, half))
  return [...first, ...(await refusedOf(where, round.slice(half)))]
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
