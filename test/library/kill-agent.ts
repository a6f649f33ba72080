import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { readRange } from '../../packages/core/src/session/context/source.ts'
import { entryView } from '../../packages/core/src/session/view/transcript.ts'
import { openSqliteStore } from '../../packages/core/src/store/index.ts'
import { messagesOf } from './questions.ts'

const CHILD = join(import.meta.dirname, 'children', 'paying-agent.ts')

export interface Killed {
  readonly kills: number
  /** Broken promises, in words; empty is what is wanted. */
  readonly findings: readonly string[]
}

/** Dies by its own hand after so many lines, or is killed after a time. */
export type Death = { readonly lines: number } | { readonly afterMs: number }

/**
 * Starts the paying agent again after each death, until it died so often or is done; then lets it
 * finish and holds its effects against the store.
 */
export async function killAgent(killsMax: number, nextDeath: () => Death): Promise<Killed> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-kills-'))
  const [store, effects] = [join(folder, 'store.db'), join(folder, 'effects')]
  const lines = () =>
    existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : []
  let kills = 0
  try {
    while (!lines().includes('all')) {
      const death = kills < killsMax ? nextDeath() : null
      const own = death !== null && 'lines' in death ? [String(death.lines)] : []
      const child = spawn(process.execPath, [CHILD, store, effects, ...own], { stdio: 'inherit' })
      const timer =
        death !== null && 'afterMs' in death
          ? setTimeout(() => child.kill('SIGKILL'), death.afterMs)
          : undefined
      const [code, signal] = await once(child, 'exit')
      clearTimeout(timer)
      if (signal === 'SIGKILL') kills++
      else if (code !== 0) throw new Error(`The agent ended with ${signal ?? code}.`)
    }
    return { kills, findings: await findBroken(store, lines()) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function findBroken(path: string, effects: readonly string[]): Promise<readonly string[]> {
  const findings: string[] = []
  const twice = (word: string) => {
    const seen = new Set<string>()
    for (const line of effects.filter((each) => each.startsWith(`${word} `))) {
      if (seen.has(line)) findings.push(`happened twice: ${line}`)
      seen.add(line)
    }
  }
  twice('begin')
  twice('end')
  const store = await openSqliteStore({ path })
  for (const { session, texts } of messagesOf()) {
    const id = sessionId(session)
    const row = await store.findSession(id)
    const entries = await readRange(store, id, 0, row?.tail ?? 0)
    const inputs = entries
      .filter(({ kind }) => kind === 'input')
      .map((entry) => entryView(entry, 0).message)
      .map((message) => (message === null ? '' : textOf(message)))
    if (inputs.join() !== texts.join()) findings.push(`${session} was asked: ${inputs.join()}`)
    const ends = entries.filter(({ kind }) => kind === 'turn').length
    if (ends !== texts.length) findings.push(`${session} ended ${ends} turns`)
    for (const text of texts) {
      // A turn whose process died again and again is given up, and its question answered with that.
      const answers = ['answered', 'failed'].map((kind) => `${kind} ${session} ${text}`)
      if (!answers.some((line) => effects.includes(line))) findings.push(`no answer: ${text}`)
    }
  }
  const problems = await store.verify({})
  findings.push(...problems.map((problem) => JSON.stringify(problem)))
  await store.close()
  return findings
}
