import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../support/seeded-random.ts'
import { type Killed, killAgent } from './kill-agent.ts'
import { type Host, killRuns } from './kill-runs.ts'

/**
 * `npm run drill:kills [-- --kills N --seed N --only HOST --resume]`: kills each host that claims durable tools
 * so many times with `kill -9` and starts it again. No tool that ended may run twice, no acknowledged message
 * may be lost. `agent` is `openAgent`; the others are loops of the AI SDK, LangChain, LangGraph and
 * Anthropic's tool runner with their adapters.
 */
const HOSTS: readonly (Host | 'agent')[] = [
  ...(['agent', 'ai', 'ai-stream', 'ai6', 'ai6-stream'] as const),
  ...(['langchain', 'langgraph', 'runner'] as const),
]
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    resume: { type: 'boolean', default: false },
  },
})
const FILE = join(import.meta.dirname, '..', '..', '.throughline', 'kills-drill.json')
/** Few enough that little is lost when the drill itself is stopped. */
const KILLS_PER_ROUND = 10

interface Progress {
  [host: string]: { kills: number; rounds: number; broken: number }
}

const wanted = Number(values.kills)
const hosts = HOSTS.filter((host) => values.only === undefined || values.only === host)
if (!(wanted > 0) || hosts.length === 0) {
  throw new Error(`Give --kills as a number above 0 and --only as one of ${HOSTS.join(', ')}.`)
}
const progress: Progress = values.resume ? read() : {}
for (const host of hosts) {
  const done = progress[host] ?? { kills: 0, rounds: 0, broken: 0 }
  progress[host] = done
  while (done.kills < wanted) {
    const random = seededRandom(Number(values.seed) + done.rounds)
    const round = await kill(host, Math.min(KILLS_PER_ROUND, wanted - done.kills), random)
    done.kills += round.kills
    done.rounds += 1
    done.broken += round.findings.length
    for (const finding of round.findings) console.log(`${host}, round ${done.rounds}: ${finding}`)
    mkdirSync(dirname(FILE), { recursive: true })
    writeFileSync(FILE, JSON.stringify(progress))
  }
  console.log(`${host}: ${done.kills} kills, ${done.broken} broken promises`)
}
process.exitCode = hosts.some((host) => progress[host]?.broken !== 0) ? 1 : 0

async function kill(host: Host | 'agent', kills: number, random: () => number): Promise<Killed> {
  const upTo = (most: number) => 1 + Math.floor(random() * most)
  if (host !== 'agent') return await killRuns(host, kills, () => upTo(5))
  // Half of them between two lines of its effects, half at any moment.
  return await killAgent(kills, () =>
    random() < 0.5 ? { lines: upTo(20) } : { afterMs: 300 + upTo(900) },
  )
}

function read(): Progress {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'))
  } catch {
    return {}
  }
}
