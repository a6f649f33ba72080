import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { readRange } from '../../packages/core/src/session/context/source.ts'
import { openSqliteStore } from '../../packages/core/src/store/index.ts'
import { ORDERS } from './questions.ts'

const AI_SDK = join(import.meta.dirname, 'children', 'durable-ai-sdk.ts')
const LANGCHAIN = join(import.meta.dirname, 'children', 'durable-langchain.ts')
const RUNNER = join(import.meta.dirname, 'children', 'durable-runner.ts')

/** The program of each host that pays; `bare` is the framework alone, the control. */
const CHILDREN = {
  ...{ ai: AI_SDK, 'ai-stream': AI_SDK, ai6: AI_SDK, 'ai6-stream': AI_SDK, 'ai-bare': AI_SDK },
  ...{ langchain: LANGCHAIN, langgraph: LANGCHAIN, 'langchain-bare': LANGCHAIN },
  ...{ runner: RUNNER, 'runner-bare': RUNNER },
}
export type Host = keyof typeof CHILDREN

/** Kills the host after so many lines each time, lets it finish, and holds its effects against the store. */
export async function killRuns(
  host: Host,
  killsMax: number,
  nextLines: () => number,
): Promise<{ readonly kills: number; readonly findings: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-runs-'))
  const [path, effects] = [join(folder, 'store.db'), join(folder, 'effects')]
  const lines = () =>
    existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : []
  let kills = 0
  try {
    while (!lines().includes('all')) {
      const own = kills < killsMax ? [String(nextLines())] : []
      const child = spawn(process.execPath, [CHILDREN[host], path, effects, host, ...own], {
        stdio: 'inherit',
      })
      const [code, signal] = await once(child, 'exit')
      if (signal === 'SIGKILL') kills++
      else if (code !== 0) throw new Error(`The host ended with ${signal ?? code}.`)
    }
    return { kills, findings: await findBroken(path, lines()) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function findBroken(path: string, effects: readonly string[]): Promise<readonly string[]> {
  const findings: string[] = []
  for (const order of ORDERS) {
    for (const word of ['begin', 'end', 'done']) {
      const times = effects.filter((line) => line === `${word} ${order}`).length
      if (times > 1) findings.push(`happened ${times} times: ${word} ${order}`)
    }
    if (!effects.includes(`done ${order}`)) findings.push(`never done: ${order}`)
  }
  const store = await openSqliteStore({ path })
  const id = sessionId('orders')
  const row = await store.findSession(id)
  const entries = await readRange(store, id, 0, row?.tail ?? 0)
  const asked = entries.filter(({ kind }) => kind === 'input').map(({ body }) => body ?? '')
  const orders = asked.map((body) => /order-\d/.exec(body)?.[0])
  if (orders.join() !== ORDERS.join()) findings.push(`recorded: ${orders.join()}`)
  const made = entries.filter(({ kind }) => kind === 'assistant' || kind === 'result').length
  if (made !== ORDERS.length * 3) findings.push(`recorded ${made} messages of models and tools`)
  findings.push(...(await store.verify({})).map((problem) => JSON.stringify(problem)))
  await store.close()
  return findings
}
