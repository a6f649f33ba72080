import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Script } from '../../packages/server/src/stand-in/answer.ts'
import { Claude } from './claude.ts'
import { configureCodex, runCodex } from './codex.ts'
import type { DrillResult } from './drill.ts'
import { type Provider, startProvider } from './provider.ts'
import { PROGRAM, ProxyChild } from './proxy-child.ts'

/** Leaving the proxy (law 20): the client goes on alone, without overflow and without compacting. */

function throughline(home: string, args: readonly string[]): string | null {
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const ran = spawnSync(process.execPath, [PROGRAM, ...args], { env, encoding: 'utf8' })
  return ran.status === 0 ? null : `${args[0]} ended with ${ran.status}: ${ran.stderr.slice(-200)}`
}

interface Shown {
  readonly state: string
  readonly share: number
  /** What the provider counted in the last request, and what it is estimated at. */
  readonly counted: number
  readonly tokens: number
}

/** The session as `sessions` and `show` have it. */
function shownOf(home: string, id: string): Shown {
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const ask = (...args: string[]) => {
    const all = [PROGRAM, ...args, '--store', join(home, 'clients.db'), '--json']
    return JSON.parse(spawnSync(process.execPath, all, { env, encoding: 'utf8' }).stdout)
  }
  const summary = ask('sessions')
  const { countedTokens, tokens } = ask('show', id, '--context')
  const share = Math.round((summary.contextTokens / summary.windowTokens) * 100)
  const state = summary.left === null ? summary.state : 'left'
  return { state, share, counted: countedTokens, tokens }
}

/** What is shown of a session that was left, and of one that has returned. */
function judgeShown(before: Shown, after: Shown): string[] {
  const broken: string[] = []
  if (before.state !== 'left') broken.push(`the session that was left is ${before.state}`)
  if (after.state !== 'idle') broken.push(`the session that has returned is ${after.state}`)
  const { counted, tokens } = after
  if (Math.abs(tokens - counted) > counted * ESTIMATE_SHARE) {
    broken.push(`the next request is shown with ${tokens} tokens where the last had ${counted}`)
  }
  return broken
}

function percentages(left: Shown, back: Shown) {
  return { 'percent when left': left.share, 'percent when back': back.share }
}

/** Estimates differ from what a provider counts; system text and tools are more than this. */
const ESTIMATE_SHARE = 0.25

function findLog(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return join(folder, files.find((file) => file.endsWith('.jsonl')) ?? '')
}

/** Leaves, takes it back and compares, and leaves again. */
function leaveTwice(home: string, client: string, session: string, log: string): string[] {
  const args = ['leave', client, session, '--store', join(home, 'clients.db')]
  const before = readFileSync(log)
  const broken = [throughline(home, args), throughline(home, [...args, '--undo'])]
  if (!readFileSync(log).equals(before)) broken.push('--undo did not restore every byte')
  broken.push(throughline(home, args))
  return broken.filter((sentence) => sentence !== null)
}

function judge(provider: Provider, count: { compactions: number }): string[] {
  const broken: string[] = []
  const refused = provider.seen.filter(({ status }) => status !== 200).length
  if (refused > 0) broken.push(`law 20: ${refused} requests were refused`)
  if (count.compactions > 0) broken.push(`law 20: it compacted ${count.compactions} times`)
  const first = provider.seen.find(({ hasTools }) => hasTools)?.body ?? ''
  if (!first.includes('[handoff ')) broken.push('law 20: the handoff was not sent')
  if (!first.includes('heron')) broken.push('the code word was not sent')
  return broken
}

const step = (name: string, input: object): Script => {
  let calls = 0
  return ({ tools, messages }) => {
    if (tools.length === 0) return { text: 'A title' }
    const last = messages.findLast(({ role }) => role !== 'system')
    if (last?.role === 'tool') return { text: 'Noted.' }
    calls += 1
    return { text: `Step ${calls}.`, calls: [{ name, input: JSON.stringify(input) }] }
  }
}

const noise = (bytes: number) =>
  `node -e "console.log(Array.from({length:${Math.ceil(bytes / 40)}},()=>Math.random().toString(36)+' and some words').join('\\n'))"`

export async function claudeLeaves(turns: number, bytes: number): Promise<DrillResult> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-leave-'))
  const session = randomUUID()
  const window = 100_000
  const script = step('Bash', { command: noise(bytes), description: 'Work' })
  const first = await startProvider({ script, windowTokens: window })
  const proxy = new ProxyChild(home, first.url, ['--window', String(window)])
  await proxy.start()
  const claude = new Claude(home, proxy.url, ['--session-id', session])
  await claude.say('The code word is heron.')
  for (let turn = 2; turn <= turns; turn += 1) await claude.say(`Turn ${turn}.`)
  const early = throughline(home, ['leave', 'claude', session, '--store', proxy.store])
  await claude.end()
  await proxy.kill('SIGTERM')
  await first.close()
  const broken = leaveTwice(home, 'claude', session, findLog(join(home, '.claude/projects')))
  if (early?.includes('ended with 2') !== true || !early.includes('End it first')) {
    broken.push(`leave did not refuse while the client ran: ${early}`)
  }
  const count = { compactions: 0 }
  const own: Script = (ask) => {
    const text = JSON.stringify(ask.messages.at(-1) ?? '')
    if (text.includes('CRITICAL: Respond with TEXT ONLY')) count.compactions += 1
    return script(ask)
  }
  const alone = await startProvider({ script: own, windowTokens: window })
  const resumed = new Claude(home, alone.url, ['--resume', session])
  for (const turn of [1, 2, 3]) {
    const { isError, text } = await resumed.say(`Alone ${turn}`)
    if (isError) broken.push(`alone, turn ${turn}: ${text.slice(0, 100)}`)
  }
  await resumed.end()
  broken.push(...judge(alone, count))
  const requests = alone.seen.length
  const id = `claude-${session}`
  const left = shownOf(home, id)
  const back = new ProxyChild(home, alone.url, ['--window', String(window)])
  await back.start()
  const returned = new Claude(home, back.url, ['--resume', session])
  await returned.say('Back again.')
  await returned.end()
  await back.kill('SIGTERM')
  const shown = shownOf(home, id)
  broken.push(...judgeShown(left, shown))
  await alone.close()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  const facts = { turns, 'requests alone': requests, ...percentages(left, shown) }
  return { name: 'claude-leave', facts, broken }
}

export async function codexLeaves(steps: number, bytes: number): Promise<DrillResult> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-leave-'))
  const window = 100_000
  let made = 0
  const script: Script = () => {
    made += 1
    const input = { cmd: noise(bytes), max_output_tokens: 20_000 }
    if (made > steps) return { text: 'Done.' }
    return { calls: [{ name: 'exec_command', input: JSON.stringify(input) }] }
  }
  const first = await startProvider({ script, windowTokens: window })
  const proxy = new ProxyChild(home, first.url, ['--window', String(window)])
  await proxy.start()
  configureCodex(home, proxy.url, { model: null })
  const broken: string[] = []
  const worked = await runCodex(home, ['The code word is heron. Do the steps.'])
  if (worked.code !== 0)
    broken.push(`codex ended with ${worked.code}: ${worked.output.slice(-200)}`)
  await proxy.kill('SIGTERM')
  await first.close()
  const log = findLog(join(home, '.codex/sessions'))
  const session = log.slice(-'.jsonl'.length - 36, -'.jsonl'.length)
  broken.push(...leaveTwice(home, 'codex', session, log))
  const count = { compactions: 0 }
  const own: Script = (ask) => {
    if (ask.tools.length === 0) count.compactions += 1
    return step('exec_command', { cmd: 'echo alone' })(ask)
  }
  const alone = await startProvider({ script: own, windowTokens: window })
  configureCodex(home, alone.url, { model: null })
  for (const turn of [1, 2]) {
    const { code, output } = await runCodex(home, ['resume', `Alone ${turn}`])
    if (code !== 0) broken.push(`alone, turn ${turn}: ${output.slice(-200)}`)
  }
  broken.push(...judge(alone, count))
  const requests = alone.seen.length
  const id = `codex-${session}`
  const left = shownOf(home, id)
  const back = new ProxyChild(home, alone.url, ['--window', String(window)])
  await back.start()
  configureCodex(home, back.url, { model: null })
  const { code, output } = await runCodex(home, ['resume', 'Back again'])
  if (code !== 0) broken.push(`back again: ${output.slice(-200)}`)
  await back.kill('SIGTERM')
  const shown = shownOf(home, id)
  broken.push(...judgeShown(left, shown))
  await alone.close()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  const facts = { steps, 'requests alone': requests, ...percentages(left, shown) }
  return { name: 'codex-leave', facts, broken }
}
