import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type ClaudeSessionStore,
  claudeSessionStore,
} from '../../packages/core/src/adapters/claude-agent-sdk.ts'
import { openJournal } from '../../packages/core/src/agent/journal.ts'
import { openSqliteStore } from '../../packages/core/src/store/index.ts'
import { standIn } from '../../packages/server/src/stand-in/server.ts'
import { claudeEnvironment } from '../clients/claude.ts'
import { installPackage } from '../clients/install.ts'

/** The lowest and the highest version that were tried. Needs npm's registry on the first run. */
const VERSIONS = ['0.3.142', '0.3.326']

/** What is used of the SDK, whose declarations `npm run drill:package` compiles. */
interface Sdk {
  query(call: { prompt: string; options: object }): AsyncIterable<SdkMessage>
  InMemorySessionStore: new () => Pick<ClaudeSessionStore, 'append' | 'load' | 'listSubkeys'>
}
interface SdkMessage {
  readonly type: string
  readonly subtype?: string
  readonly session_id: string
  readonly is_error?: boolean
  readonly result?: string
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(version: string) {
  const home = mkdtempSync(join(tmpdir(), 'throughline-agent-sdk-'))
  closing.push(() => rmSync(home, { recursive: true, force: true }))
  const model = await standIn({}).start()
  closing.push(() => model.close())
  const modules = installPackage('@anthropic-ai/claude-agent-sdk', version)
  const entry = join(modules, '@anthropic-ai', 'claude-agent-sdk', 'sdk.mjs')
  const sdk = (await import(pathToFileURL(entry).href)) as Sdk
  const cwd = join(home, 'work')
  mkdirSync(cwd)

  /** One turn on a machine of its own: it has nothing of the others but the session store. */
  const turn = async (
    machine: string,
    prompt: string,
    sessionStore: object,
    resume?: string,
  ): Promise<{ session: string; text: string; isError: boolean; dropped: number }> => {
    const env = {
      ...claudeEnvironment(home, model.url),
      CLAUDE_CONFIG_DIR: join(home, machine),
    }
    const options = {
      ...{ cwd, env, sessionStore, sessionStoreFlush: 'eager', model: 'claude-sonnet-4-5' },
      ...(resume !== undefined && { resume }),
    }
    let dropped = 0
    for await (const message of sdk.query({ prompt, options })) {
      if (message.subtype === 'mirror_error') dropped += 1
      if (message.type !== 'result') continue
      const { session_id: session, result: text = '', is_error: isError = false } = message
      return { session, text, isError, dropped }
    }
    throw new Error('The query ended without a result.')
  }
  return { home, sdk, turn }
}

/** The first appends are refused, as behind a connection that is down for a second. */
function failing<S extends Pick<ClaudeSessionStore, 'append'>>(store: S, refusals: number): S {
  let left = refusals
  const append: S['append'] = async (key, entries) => {
    if (left-- > 0) throw new Error('connection refused')
    await store.append(key, entries)
  }
  return new Proxy(store, {
    get(target, name) {
      if (name === 'append') return append
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe.each(VERSIONS)('the Claude Agent SDK %s', (version) => {
  it('loses the first message in an outage with a bare store', async () => {
    const { sdk, turn } = await start(version)
    const store = failing(new sdk.InMemorySessionStore(), 4)
    const first = await turn('one', 'The code word is GRANITE.', store)
    const { text, dropped } = await turn('two', 'What is the code word?', store, first.session)
    expect(first.dropped + dropped).toBeGreaterThan(0)
    expect(text).not.toContain('GRANITE')
  }, 300_000)

  it('continues on another machine after an outage with ours', async () => {
    const { home, turn } = await start(version)
    const inner = await openSqliteStore({ path: join(home, 'store.db') })
    closing.push(() => inner.close())
    let isDown = true
    let refusals = 0
    const store = new Proxy(inner, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        if (name !== 'recordEntries' || !isDown) return value.bind(target)
        return async () => {
          refusals += 1
          throw new Error('connection refused')
        }
      },
    })
    const journal = openJournal({ store, name: 'claude' })
    const on = (machine: string) =>
      claudeSessionStore(journal, { spool: join(home, `spool-${machine}`) })
    const one = on('one')
    const first = await turn('one', 'The code word is GRANITE.', one)
    expect(refusals).toBeGreaterThan(0)
    expect(first).toMatchObject({ isError: false, dropped: 0 })
    isDown = false
    // What waits arrives by itself.
    await expect
      .poll(() => on('two').listSessions(projectOf(home)), { timeout: 30_000 })
      .toEqual([{ sessionId: first.session, mtime: expect.any(Number) }])
    const second = await turn('two', 'What is the code word?', on('two'), first.session)
    expect(second).toMatchObject({ session: first.session, isError: false, dropped: 0 })
    expect(second.text).toContain('GRANITE')
    expect(await inner.verify({})).toEqual([])
  }, 300_000)
})

/** The SDK names a project by its folder. */
function projectOf(home: string): string {
  return join(home, 'work').replaceAll(/[^A-Za-z0-9]/g, '-')
}
