import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { openPlace } from '../browser/place.ts'
import { Claude } from './claude.ts'
import { configureCodex, runCodex } from './codex.ts'
import type { DrillResult } from './drill.ts'
import { type Provider, startProvider } from './provider.ts'
import { PROGRAM } from './proxy-child.ts'

/** The real clients continue a session that `export` wrote: the handoff and what was said since. */
const FILLER = 'The pump ran without a fault until the evening. '.repeat(150)

async function makeSession(home: string): Promise<string> {
  const path = join(home, 'store.db')
  const store = await openSqliteStore({ path })
  const place = await openPlace({ folder: home, store, windowTokens: 16_000 })
  const id = sessionId('harbour')
  await place.runtime.createSession({ agent: 'main', id })
  for (let turn = 1; turn <= 4; turn++) await place.ask(id, `Report ${turn}. ${FILLER}`)
  const session = place.runtime.session(id)
  await session.compact({ source: 'drill', key: 'once' })
  while ((await session.summary())?.compaction === null) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await place.ask(id, 'say The code word is heron.')
  await place.ask(id, 'use tasks {"tasks":[{"content":"Ask","status":"pending"}]}\nthen\nsay Kept.')
  await place.close()
  return path
}

/** Exports the session and puts the file where the notice says; gives the id to resume. */
function exportTo(client: 'claude-code' | 'codex', home: string, store: string): string {
  const cwd = join(home, 'work')
  mkdirSync(cwd, { recursive: true })
  const args = ['export', 'harbour', '--store', store, '--to', client, '-o', 'session.jsonl']
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const ran = spawnSync(process.execPath, [PROGRAM, ...args], { cwd, env, encoding: 'utf8' })
  const [, file = '', id = ''] =
    /move \S+ to ~\/(\S+) and run `.* (\S+)` in /.exec(ran.stderr) ?? []
  if (ran.status !== 0 || id === '') throw new Error(`export said: ${ran.stderr}`)
  mkdirSync(dirname(join(home, file)), { recursive: true })
  renameSync(join(cwd, 'session.jsonl'), join(home, file))
  return id
}

/** What the first request of the conversation must hold: all that the model saw. */
function judge(provider: Provider): string[] {
  const sent = provider.seen.find(({ hasTools }) => hasTools)?.body ?? ''
  const wanted = {
    'the handoff': '[handoff ',
    'the tail': 'heron',
    'a tool result': 'Kept: 1 open',
  }
  return Object.entries(wanted)
    .filter(([, text]) => !sent.includes(text))
    .map(([what]) => `${what} was not sent`)
}

async function continued(
  client: 'claude-code' | 'codex',
  resume: (home: string, url: string, id: string) => Promise<string | null>,
): Promise<DrillResult> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-export-'))
  const script = () => ({ text: 'The word is heron.' })
  const provider = await startProvider({ script, windowTokens: 200_000 })
  try {
    const id = exportTo(client, home, await makeSession(home))
    const problem = await resume(home, provider.url, id)
    const broken = problem === null ? judge(provider) : [problem]
    return { name: `${client}-export`, facts: { requests: provider.seen.length }, broken }
  } finally {
    await provider.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

export const claudeOpensExport = () =>
  continued('claude-code', async (home, url, id) => {
    const claude = new Claude(home, url, ['--resume', id])
    const { isError, text } = await claude.say('Which code word?')
    await claude.end()
    return isError ? `claude: ${text} ${claude.output.slice(-300)}` : null
  })

/** `--last` takes the newest session of the folder that Codex works in. */
export const codexOpensExport = () =>
  continued('codex', async (home, url) => {
    configureCodex(home, url)
    const { code, output } = await runCodex(home, ['resume', 'Which code word?'])
    return code === 0 ? null : `codex ended with ${code}: ${output.slice(-300)}`
  })
