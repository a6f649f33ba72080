import { randomUUID } from 'node:crypto'
import type { Script } from '../../packages/server/src/stand-in/answer.ts'
import { runCli } from '../support/run-cli.ts'
import { Claude } from './claude.ts'
import { type DrillResult, inHome } from './drill.ts'
import { startProvider } from './provider.ts'
import { ProxyChild } from './proxy-child.ts'

const TURNS_MAX = 60

/** The handoff of a running Claude Code is undone: the whole history goes out, also after a kill. */
export async function claudeUndoes(): Promise<DrillResult> {
  return await inHome(async (home) => {
    const script: Script = ({ tools, messages }) => {
      if (tools.length === 0) return { text: 'A title' }
      const last = messages.findLast(({ role }) => role !== 'system')
      if (last?.role === 'tool') return { text: 'Noted.' }
      const input = { command: 'seq 1 1200', description: 'Count' }
      return { text: 'I count.', calls: [{ name: 'Bash', input: JSON.stringify(input) }] }
    }
    const provider = await startProvider({ script })
    const proxy = new ProxyChild(home, provider.url, ['--window', '60000'])
    await proxy.start()
    const session = randomUUID()
    const claude = new Claude(home, proxy.url, ['--session-id', session])
    const broken: string[] = []
    const hasHandoff = () => provider.seen.at(-1)?.body.includes('[handoff ') === true
    let turns = 0
    const say = async () => {
      turns += 1
      const { isError, text } = await claude.say(`The word of turn ${turns} is heron${turns}.`)
      if (isError) broken.push(`turn ${turns} ended with an error: ${text.slice(0, 100)}`)
    }
    while (!hasHandoff() && turns < TURNS_MAX) await say()
    if (!hasHandoff()) broken.push(`no handoff in ${turns} turns`)
    const store = ['--store', proxy.store]
    const undo = ['compact', '--session', `claude-${session}`, '--undo', ...store]
    const { exitCode, stderr } = await runCli(undo, { cwd: home })
    if (exitCode !== 0) broken.push(`not undone: ${stderr}`)
    const before = provider.seen.length
    await say()
    await proxy.kill('SIGKILL')
    await proxy.start()
    await say()
    const after = provider.seen.slice(before).filter(({ body }) => body.includes('heron'))
    const short = after.filter(
      ({ body }) => body.includes('[handoff ') || !body.includes('heron1.'),
    )
    if (after.length === 0 || short.length > 0) {
      broken.push(`${short.length} of ${after.length} requests after the undo had a handoff`)
    }
    const refused = provider.seen.filter(({ status }) => status !== 200).length
    if (refused > 0) broken.push(`${refused} requests were refused`)
    await claude.end()
    await proxy.kill('SIGTERM')
    await provider.close()
    const facts = { turns, 'requests after the undo': after.length }
    return { name: 'claude-undo', facts, broken }
  })
}
