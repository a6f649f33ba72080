import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message } from '../../packages/core/src/message/message.ts'
import type { Script } from '../../packages/server/src/stand-in/answer.ts'
import { CLAUDE_KEY, Claude } from './claude.ts'
import { CODEX_KEY, configureCodex, runCodex } from './codex.ts'
import { configureOpencode, configurePi, runThroughline } from './others.ts'
import { startProvider } from './provider.ts'
import { ProxyChild } from './proxy-child.ts'
import { readStoreFacts } from './store-check.ts'
import { startTee } from './tee.ts'

/** What a drill found: figures, and sentences about what broke a law. */
export interface DrillResult {
  readonly name: string
  readonly facts: { readonly [name: string]: number | string }
  readonly broken: readonly string[]
}

const textOf = ({ parts }: { readonly parts?: Message extends { parts: infer P } ? P : unknown }) =>
  ((parts ?? []) as readonly { text?: string }[]).map(({ text = '' }) => text).join('')

const lastOf = (messages: readonly Message[]) => messages.findLast(({ role }) => role !== 'system')

/** A command whose output has about this many bytes and says nothing twice. */
const noise = (bytes: number, seed: number) =>
  `node -e "console.log(Array.from({length:${Math.ceil(bytes / 60)}},(_,i)=>'line '+i+' of ${seed} '+` +
  `Math.sin(i*${seed}+i).toString(36)+' some words to fill').join('\\n'))"`

const OWN_COMPACTION = 'CRITICAL: Respond with TEXT ONLY'

/** One Bash call per prompt, then a word. Counts the client's own compactions. */
function bashScript(bytes: number, count: { compactions: number }): Script {
  let calls = 0
  return ({ tools, messages }) => {
    if (tools.length === 0) return { text: 'A title' }
    const last = lastOf(messages)
    if (last?.role === 'tool') return { text: 'Noted.' }
    if (textOf((last ?? {}) as never).includes(OWN_COMPACTION)) {
      count.compactions += 1
      return { text: '<summary>nothing</summary>' }
    }
    calls += 1
    const input = { command: noise(bytes, calls), description: 'Work' }
    return { text: `Step ${calls}.`, calls: [{ name: 'Bash', input: JSON.stringify(input) }] }
  }
}

export async function inHome<Value>(act: (home: string) => Promise<Value>): Promise<Value> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-drill-'))
  try {
    return await act(home)
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

const grepFolder = (folder: string, text: string) =>
  readdirSync(folder).filter(
    (file) => /clients\.db|\.log$/.test(file) && isFileWith(join(folder, file), text),
  )

function isFileWith(path: string, text: string): boolean {
  try {
    return readFileSync(path).includes(text)
  } catch {
    // A folder beside the store.
    return false
  }
}

/** Claude Code over a history of more than twice the window (laws 1, 2, 5, 9, 13, 15, 16, 19). */
export async function claudeLong(turns: number, bytes: number): Promise<DrillResult> {
  return await inHome(async (home) => {
    const count = { compactions: 0 }
    const script = bashScript(bytes, count)
    const provider = await startProvider({ script, windowTokens: 200_000 })
    const proxy = new ProxyChild(home, provider.url)
    await proxy.start()
    const tee = await startTee(() => proxy.url)
    const session = randomUUID()
    const claude = new Claude(home, tee.url, ['--session-id', session])
    const times: number[] = []
    const broken: string[] = []
    for (let turn = 1; turn <= turns; turn += 1) {
      const start = performance.now()
      const { isError, text } = await claude.say(`The code word of turn ${turn} is heron${turn}.`)
      times.push(performance.now() - start)
      if (isError) broken.push(`turn ${turn} ended with an error: ${text.slice(0, 100)}`)
    }
    await claude.end()
    await proxy.kill('SIGTERM')
    const sent = new Set(tee.sent.map(({ body }) => body))
    const touched = provider.seen.filter(({ body }) => !sent.has(body))
    const changed = touched.filter(({ body }) => !body.includes('[handoff ')).length
    if (changed > 0) broken.push(`law 1: ${changed} requests without a handoff were changed`)
    const lastBody = tee.sent.findLast(({ path }) => path === '/v1/messages')?.body ?? ''
    const store = await readStoreFacts(proxy.store, 'claude', session, lastBody)
    if (store.lost + store.findings > 0) broken.push(`law 4: ${JSON.stringify(store)}`)
    if (store.rewinds > 0) broken.push(`law 5: ${store.rewinds} steps were no extension`)
    if (store.sessions !== 1) broken.push(`law 9: ${store.sessions} sessions`)
    const handoffs = new Set(touched.map(({ body }) => /\[handoff (\w+)/.exec(body)?.[1]))
    if (handoffs.size > store.compactions) broken.push(`law 2: ${handoffs.size} handoffs were sent`)
    if (count.compactions > 0) broken.push(`law 16: ${count.compactions} compactions of its own`)
    const refused = provider.seen.filter(({ status }) => status !== 200).length
    if (refused > 0) broken.push(`${refused} requests were refused`)
    if (grepFolder(home, CLAUDE_KEY).length > 0) broken.push('law 19: the key is in a file')
    const share = provider.cachedShare()
    if (turns >= 100 && share < 0.97) broken.push(`the cached share is ${share.toFixed(4)}`)
    await tee.close()
    await provider.close()
    times.sort((a, b) => a - b)
    return {
      name: 'claude-long',
      facts: {
        ...{
          turns,
          requests: provider.seen.length,
          'untouched and equal': provider.seen.length - touched.length,
        },
        ...{
          handoffs: store.compactions,
          'cached share': share.toFixed(4),
          entries: store.entries,
        },
        'median turn ms': Math.round(times[times.length >> 1] ?? 0),
        'slowest turn ms': Math.round(times.at(-1) ?? 0),
      },
      broken,
    }
  })
}

/** `kill -9` of the proxy at random moments (laws 3, 4, 5). */
export async function claudeKilled(kills: number): Promise<DrillResult> {
  return await inHome(async (home) => {
    const count = { compactions: 0 }
    const provider = await startProvider({ script: bashScript(6_000, count) })
    const proxy = new ProxyChild(home, provider.url, ['--window', '60000'])
    await proxy.start()
    const tee = await startTee(() => proxy.url)
    const session = randomUUID()
    const claude = new Claude(home, tee.url, ['--session-id', session])
    const broken: string[] = []
    let cut = 0
    let turn = 0
    await claude.say('Before any kill.')
    for (let kill = 1; kill <= kills; kill += 1) {
      turn += 1
      const said = claude.say(`Turn ${turn}.`)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 700))
      await proxy.kill('SIGKILL')
      await proxy.start()
      if ((await said).isError) cut += 1
    }
    const last = await claude.say('After the last kill.')
    if (last.isError) broken.push(`the session did not go on: ${last.text.slice(0, 100)}`)
    await claude.end()
    await proxy.kill('SIGTERM')
    const lastBody = tee.sent.findLast(({ path }) => path === '/v1/messages')?.body ?? ''
    const store = await readStoreFacts(proxy.store, 'claude', session, lastBody)
    if (store.lost > 0) broken.push(`law 4: ${store.lost} units of the client are not stored`)
    if (store.findings > 0) broken.push(`${store.findings} findings in the store`)
    if (store.sessions !== 1) broken.push(`law 3: ${store.sessions} sessions`)
    const sent = new Set(tee.sent.map(({ body }) => body))
    const touched = provider.seen.filter(({ body }) => !sent.has(body))
    const handoffs = new Set(touched.map(({ body }) => /\[handoff (\w+)/.exec(body)?.[1]))
    if (handoffs.size > store.compactions) broken.push(`law 3: ${handoffs.size} handoffs were sent`)
    const changed = touched.filter(({ body }) => !body.includes('[handoff ')).length
    if (changed > 0) broken.push(`law 1: ${changed} requests without a handoff were changed`)
    await tee.close()
    await provider.close()
    return {
      name: 'claude-killed',
      facts: {
        kills,
        turns: turn + 2,
        'turns cut off': cut,
        handoffs: store.compactions,
        rewinds: store.rewinds,
        entries: store.entries,
      },
      broken,
    }
  })
}

/** Codex: one turn of many requests (laws 11, 13, 16), then a resumed one. */
export async function codexLong(steps: number, bytes: number): Promise<DrillResult> {
  return await inHome(async (home) => {
    let made = 0
    let titles = 0
    let largest = 0
    const script: Script = ({ tools, messages, inputTokens }) => {
      largest = Math.max(largest, inputTokens)
      if (tools.length === 0) {
        titles += 1
        return { text: 'A title or a summary' }
      }
      const last = lastOf(messages)
      if (made >= steps || textOf((last ?? {}) as never).includes('again')) return { text: 'Done.' }
      made += 1
      const input = { cmd: noise(bytes, made), max_output_tokens: 20_000 }
      const calls = [{ name: 'exec_command', input: JSON.stringify(input) }]
      return { reasoning: `I think about step ${made}.`, calls }
    }
    const provider = await startProvider({ script, windowTokens: 272_000 })
    const proxy = new ProxyChild(home, provider.url)
    await proxy.start()
    configureCodex(home, proxy.url)
    const broken: string[] = []
    for (const args of [['Do the steps.'], ['resume', 'Say it again']]) {
      const { code, output } = await runCodex(home, args)
      if (code !== 0) broken.push(`codex ended with ${code}: ${output.slice(-200)}`)
    }
    await proxy.kill('SIGTERM')
    const log = readdirSync(join(home, '.codex/sessions'), { recursive: true, encoding: 'utf8' })
    const logs = log.filter((file) => file.endsWith('.jsonl'))
    const own = logs.filter((file) =>
      isFileWith(join(home, '.codex/sessions', file), '"type":"compacted"'),
    )
    if (own.length > 0 || titles > 0) broken.push('law 16: Codex compacted by itself')
    const refused = provider.seen.filter(({ status }) => status !== 200).length
    if (refused > 0) broken.push(`law 11: ${refused} requests were refused`)
    if (made < steps) broken.push(`only ${made} of ${steps} steps were made`)
    if (grepFolder(home, CODEX_KEY).length > 0) broken.push('law 19: the key is in a file')
    const share = provider.cachedShare()
    if (steps >= 100 && share < 0.95) broken.push(`the cached share is ${share.toFixed(4)}`)
    await provider.close()
    return {
      name: 'codex-long',
      facts: {
        requests: provider.seen.length,
        'cached share': share.toFixed(4),
        'most tokens': largest,
      },
      broken,
    }
  })
}

/** Codex with a provider named OpenAI asks for its compactions, one after the other. */
export async function codexRemote(rounds: number): Promise<DrillResult> {
  return await inHome(async (home) => {
    const worked = new Set<string>()
    const script: Script = ({ messages }) => {
      // One call for each round, whatever a compaction in between has left of it.
      const [round = ''] =
        JSON.stringify(messages)
          .match(/Round \d+\./g)
          ?.slice(-1) ?? []
      if (worked.has(round)) return { text: 'Noted.' }
      worked.add(round)
      const input = { cmd: noise(6_000, messages.length), max_output_tokens: 9_000 }
      return { calls: [{ name: 'exec_command', input: JSON.stringify(input) }] }
    }
    const provider = await startProvider({ script })
    // A small window makes small handoffs: behind one, a round must fit below the client's limit.
    const proxy = new ProxyChild(home, provider.url, ['--window', '30000'])
    await proxy.start()
    const more = ['model_auto_compact_token_limit = 10400']
    configureCodex(home, proxy.url, { providerName: 'OpenAI', more })
    const broken: string[] = []
    // Not every round fills the window.
    for (let round = 0; round <= Math.ceil(rounds * 1.5) + 1; round += 1) {
      const words = `Round ${round}. The code word is heron${round}.`
      const args = round === 0 ? [words] : ['resume', words]
      const { code, output } = await runCodex(home, args)
      if (code !== 0) broken.push(`round ${round} ended with ${code}: ${output.slice(-200)}`)
    }
    await proxy.kill('SIGTERM')
    const files = readdirSync(join(home, '.codex/sessions'), { recursive: true, encoding: 'utf8' })
    const log = files.find((file) => file.endsWith('.jsonl')) ?? ''
    const text = readFileSync(join(home, '.codex/sessions', log), 'utf8')
    const compactions = text.split('"type":"compacted"').length - 1
    if (compactions < rounds) broken.push(`only ${compactions} of ${rounds} compactions`)
    const raw = provider.seen.filter(({ body }) => body.includes('throughline.codex-')).length
    if (raw > 0) broken.push(`${raw} addresses reached the provider`)
    const last = provider.seen.at(-1)?.body ?? ''
    if (!last.includes('heron0')) broken.push('the first code word is not in the last request')
    const refused = provider.seen.filter(({ status }) => status !== 200).length
    if (refused > 0) broken.push(`${refused} requests were refused`)
    await provider.close()
    return {
      name: 'codex-remote',
      facts: { rounds, compactions, requests: provider.seen.length },
      broken,
    }
  })
}

/** A client as a person starts it, with nothing set but its provider's address (laws 1, 5, 9). */
export async function asInstalled(
  name: 'codex' | 'opencode' | 'pi',
  turns: number,
): Promise<DrillResult> {
  return await inHome(async (home) => {
    const script: Script = ({ tools, messages }) => {
      if (tools.length === 0) return { text: 'A title' }
      if (lastOf(messages)?.role === 'tool') return { text: 'Noted.' }
      // The newest models of Codex call every other tool from one that runs code.
      const code = { name: 'exec', input: `text(await tools.exec_command({ cmd: 'echo hi' }))` }
      if (name === 'codex') return { text: 'I do it.', calls: [code] }
      const input = JSON.stringify({ command: 'echo hi', description: 'Say hi' })
      return { text: 'I do it.', calls: [{ name: 'bash', input }] }
    }
    const provider = await startProvider({ script })
    const store = join(home, 'clients.db')
    if (name === 'opencode') configureOpencode(home, provider.url)
    if (name === 'pi') configurePi(home, provider.url)
    const codex = ['exec', '--skip-git-repo-check']
    const pi = ['-p', '--offline', '--session', join(home, 's.jsonl'), '--provider', 'messages']
    const starts = {
      codex: { first: codex, next: [...codex, 'resume', '--last'] },
      opencode: { first: ['run'], next: ['run', '--continue'] },
      pi: { first: [...pi, '--model', 'stand-in'], next: [...pi, '--model', 'stand-in'] },
    }[name]
    const upstream =
      name === 'codex'
        ? { more: ['--openai', `${provider.url}/v1`], env: { OPENAI_API_KEY: CODEX_KEY } }
        : {}
    const broken: string[] = []
    for (let turn = 1; turn <= turns; turn += 1) {
      const args = [...(turn === 1 ? starts.first : starts.next), `Turn ${turn}`]
      const { code, output } = await runThroughline(name, { home, store, args, ...upstream })
      if (code !== 0) broken.push(`turn ${turn} ended with ${code}: ${output.slice(-200)}`)
    }
    const { openSqliteStore } = await import('../../packages/core/src/store/sqlite/open.ts')
    const opened = await openSqliteStore({ path: store })
    const sessions = await opened.listSessions({ limit: 10 })
    const findings = await opened.verify({})
    await opened.close()
    if (sessions.length !== 1) broken.push(`law 9: ${sessions.length} sessions`)
    if (findings.length > 0) broken.push(`${findings.length} findings in the store`)
    const entries = sessions[0]?.tail ?? 0
    // Settings once; for each turn a prompt and an answer, and between them a call and its result.
    if (entries !== 1 + 4 * turns) broken.push(`law 5: ${entries} entries for ${turns} turns`)
    await provider.close()
    return { name, facts: { turns, requests: provider.seen.length, entries }, broken }
  })
}
