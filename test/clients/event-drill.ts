import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message } from '../../packages/core/src/message/message.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import type { Script } from '../../packages/server/src/stand-in/answer.ts'
import { Claude } from './claude.ts'
import type { DrillResult } from './drill.ts'
import { startProvider } from './provider.ts'
import { ProxyChild } from './proxy-child.ts'
import { readStoreFacts } from './store-check.ts'
import { startTee } from './tee.ts'

/** What people do in the middle of a conversation, with the real Claude Code. */

const said = (messages: readonly Message[]) => JSON.stringify(messages)

const script: Script = ({ tools, messages }) => {
  if (tools.length === 0) return { text: 'A title' }
  const all = said(messages)
  const last = messages.findLast(({ role }) => role !== 'system')
  const isSubAgent = all.includes('SUBTASK') && !all.includes('delegate now')
  if (isSubAgent) return { text: 'The sub-agent is done.' }
  if (last?.role === 'tool') return { text: 'Noted.' }
  const now = JSON.stringify(last ?? '')
  if (now.includes('a long tale'))
    return { text: 'Once upon a time there was a word. '.repeat(400) }
  if (now.includes('delegate now')) {
    const task = { description: 'Work', prompt: 'SUBTASK: do it', subagent_type: 'general-purpose' }
    return { calls: [{ name: 'Task', input: JSON.stringify(task) }] }
  }
  const bash = (command: string) => ({
    name: 'Bash',
    input: JSON.stringify({ command, description: 'Work' }),
  })
  return { text: 'Two at once.', calls: [bash('sleep 0.2; echo slow'), bash('echo fast')] }
}

/** Model switch, interrupt, sub-agent, resume and fork (laws 5, 6, 8, 10, 18, 23). */
export async function claudeEvents(): Promise<DrillResult> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-events-'))
  const provider = await startProvider({ script, speed: { outputTokensPerSecond: 300 } })
  const proxy = new ProxyChild(home, provider.url)
  await proxy.start()
  const tee = await startTee(() => proxy.url)
  const session = randomUUID()
  const broken: string[] = []
  const expectOk = ({ isError, text }: { isError: boolean; text: string }, what: string) => {
    if (isError) broken.push(`${what}: ${text.slice(0, 150)}`)
  }
  const facts = async (what: string) => {
    const lastBody =
      tee.sent.findLast(({ path, body }) => path === '/v1/messages' && body.includes('"tools":[{'))
        ?.body ?? ''
    const found = await readStoreFacts(proxy.store, 'claude', session, lastBody)
    if (found.lost + found.findings > 0) broken.push(`${what}: ${JSON.stringify(found)}`)
    return found
  }

  for (const [index, model] of [
    'claude-sonnet-4-5',
    'claude-opus-5',
    'claude-sonnet-4-5',
  ].entries()) {
    const flags = [index === 0 ? '--session-id' : '--resume', session]
    const claude = new Claude(home, tee.url, flags, model)
    expectOk(await claude.say(`With ${model}, time ${index}.`), 'model switch')
    await claude.end()
  }
  const switched = await facts('law 6')
  if (switched.rewinds > 0) broken.push(`law 6: ${switched.rewinds} steps were no extension`)

  const claude = new Claude(home, tee.url, ['--resume', session])
  const tale = claude.say('Tell me a long tale.')
  while (!provider.seen.at(-1)?.body.includes('a long tale')) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await new Promise((resolve) => setTimeout(resolve, 700))
  claude.interrupt()
  await tale
  expectOk(await claude.say('After the interrupt.'), 'law 18')
  const interrupted = await facts('law 18')
  const before = interrupted.sessions
  expectOk(await claude.say('Please delegate now.'), 'law 10')
  await claude.end()

  const forked = new Claude(home, tee.url, ['--resume', session, '--fork-session'])
  expectOk(await forked.say('In the fork.'), 'fork')
  await forked.end()
  await proxy.kill('SIGTERM')
  const store = await openSqliteStore({ path: proxy.store })
  const sessions = await store.listSessions({ limit: 20 })
  const findings = (await store.verify({})).length
  await store.close()
  const subAgents = sessions.filter(({ title }) => title?.startsWith('Sub-agent')).length
  if (subAgents !== 1) broken.push(`law 10: ${subAgents} sessions of sub-agents`)
  // The conversation, its sub-agent and the fork.
  if (sessions.length !== before + 2) broken.push(`law 9: ${sessions.length} sessions`)
  if (findings > 0) broken.push(`${findings} findings in the store`)
  const refused = provider.seen.filter(({ status }) => status !== 200).length
  if (refused > 0) broken.push(`law 23: ${refused} requests were refused`)
  await tee.close()
  await provider.close()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  return {
    name: 'claude-events',
    facts: {
      ...{ requests: provider.seen.length, sessions: sessions.length, 'sub-agents': subAgents },
      'rewinds after the interrupt': interrupted.rewinds,
    },
    broken,
  }
}
