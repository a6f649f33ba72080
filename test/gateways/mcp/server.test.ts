import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { beforeAll, describe, expect, it } from 'vitest'
import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { isObject, type JsonObject } from '../../../packages/core/src/base/json.ts'
import { textOf } from '../../../packages/core/src/message/text.ts'
import { MCP_LINE_BYTES_MAX } from '../../../packages/server/src/gateway/mcp/answers.ts'
import { openStore } from '../../../packages/server/src/host/open-store.ts'
import { openRuntime } from '../../../packages/server/src/runtime/open-runtime.ts'
import { standIn } from '../../../packages/server/src/stand-in/server.ts'
import { PROGRAM } from '../../support/run-cli.ts'
import { until } from '../../support/until.ts'
import { closeAfterAll, closeLater, HOOK_MS, temporaryFolder } from './world.ts'

closeAfterAll()

interface Memory {
  readonly client: Client
  readonly pid: number | null
  call(name: string, input: JsonObject): Promise<JsonObject>
}

/** `throughline mcp`, as the official client starts it. */
async function openMemory(store: string, args: readonly string[] = []): Promise<Memory> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', '--store', store, ...args],
    stderr: 'ignore',
  })
  await client.connect(transport)
  closeLater(() => client.close())
  return {
    client,
    pid: transport.pid,
    async call(name, input) {
      const { structuredContent, content, isError } = await client.callTool({
        ...{ name, arguments: { ...input } },
      })
      if (isError === true) return { isError, text: JSON.stringify(content) }
      return structuredContent as JsonObject
    },
  }
}

function said(key: string, text: string, role = 'user'): JsonObject {
  return { key, role, text }
}

function outcomes({ messages }: JsonObject): readonly unknown[] {
  return (messages as JsonObject[]).map(({ outcome, entry }) => [outcome, entry])
}

async function transcriptOf(url: string, name: string): Promise<readonly string[]> {
  const store = await openStore({ url }, {}, '.')
  const runtime = await openRuntime({ store, agents: [], runs: false })
  const entries = await runtime.session(sessionId(name)).transcript({ from: 1, to: 1_000 })
  await runtime.close()
  await store.close()
  return (entries ?? []).map(({ message }) => (message === null ? '' : textOf(message)))
}

describe('throughline mcp', () => {
  const store = join(temporaryFolder(), 'memory.db')
  let memory: Memory
  let other: Memory
  beforeAll(async () => {
    ;[memory, other] = await Promise.all([openMemory(store), openMemory(store)])
  }, HOOK_MS)

  it('lists five tools, each with its input and output', async () => {
    const { tools } = await memory.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['session_append', 'session_search', 'session_recall', 'context_status', 'compact_now'],
    ])
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema.type).toBe('object')
      expect(isObject(outputSchema)).toBe(true)
    }
  })

  it('takes a key once, even from another caller, and refuses it with another text', async () => {
    const messages = [said('k1', 'The code word is BASALT.'), said('k2', 'Noted.', 'assistant')]
    const first = await memory.call('session_append', { session: 'chat', messages })
    expect(outcomes(first)).toEqual([
      ['appended', 1],
      ['appended', 2],
    ])
    const again = await other.call('session_append', { session: 'chat', messages })
    expect(outcomes(again)).toEqual([
      ['duplicate', 1],
      ['duplicate', 2],
    ])
    const changed = { session: 'chat', messages: [said('k1', 'Another word.')] }
    expect(outcomes(await memory.call('session_append', changed))).toEqual([['conflict', 1]])
    expect(await transcriptOf(store, 'chat')).toEqual(['The code word is BASALT.', 'Noted.'])
  })

  it('keeps one order when two programs write at once, and each key once', async () => {
    const keys = Array.from({ length: 8 }, (_, n) => `m${n}`)
    const messages = keys.map((key) => said(key, `text of ${key}`))
    const asked = { session: 'both', messages }
    await Promise.all([
      memory.call('session_append', asked),
      other.call('session_append', { ...asked, messages: messages.toReversed() }),
    ])
    await memory.call('session_append', asked)
    const texts = await transcriptOf(store, 'both')
    expect(texts.toSorted()).toEqual(keys.map((key) => `text of ${key}`))
  })

  it('finds messages, and reads them word for word in pieces', async () => {
    const long = `begin ${'granite and slate. '.repeat(3_000)}end`
    await memory.call('session_append', { session: 'long', messages: [said('a', long)] })
    const { found } = await other.call('session_search', { text: 'slate', session: 'long' })
    expect((found as JsonObject[])[0]).toMatchObject({ session: 'long', match: { entry: 1 } })
    let text = ''
    let next: JsonObject | null = { from: 1, offset: 0 }
    while (next !== null) {
      const page: JsonObject = await memory.call('session_recall', { session: 'long', ...next })
      text += (page['entries'] as JsonObject[]).map((entry) => entry['text']).join('')
      next = page['next'] as JsonObject | null
    }
    expect(text).toBe(long)
    const everywhere = await memory.call('session_search', { text: 'BASALT' })
    expect((everywhere['found'] as JsonObject[]).map(({ session }) => session)).toEqual(['chat'])
  })

  it('reaches no session of another agent, and with --session only those', async () => {
    await memory.call('session_append', { session: 'mine', messages: [said('m1', 'feldspar')] })
    const [coder, one] = await Promise.all([
      openMemory(store, ['--agent', 'coder']),
      openMemory(store, ['--session', 'other']),
    ])
    for (const each of [coder, one]) {
      expect(await each.call('session_search', { text: 'feldspar' })).toEqual({
        found: [],
        total: 0,
      })
      for (const [tool, input] of [
        ['session_search', { text: 'feldspar', session: 'mine' }],
        ['session_recall', { session: 'mine' }],
        ['context_status', { session: 'mine' }],
        ['compact_now', { session: 'mine' }],
      ] as const) {
        const { text } = await each.call(tool, input)
        expect(text).toContain('There is no session mine here.')
      }
    }
    const write = { session: 'mine', messages: [said('m2', 'intruder')] }
    expect(outcomes(await coder.call('session_append', write))).toEqual([['refused', null]])
    expect((await one.call('session_append', write))['isError']).toBe(true)
    expect(await transcriptOf(store, 'mine')).toEqual(['feldspar'])
  })

  it('says how full a context is, and that no process is there to compact it', async () => {
    const status = await memory.call('context_status', { session: 'long' })
    expect(status).toMatchObject({ agent: 'external', entries: 1, compaction: null })
    expect(Number(status['contextTokens'])).toBeGreaterThan(5_000)
    const asked = await memory.call('compact_now', { session: 'long' })
    expect(asked).toMatchObject({ outcome: 'asked', isServed: false })
    const unknown = await memory.call('context_status', { session: 'nobody' })
    expect(unknown).toMatchObject({ isError: true })
  })

  it('has a session compacted by the process that serves its agent, and recalls compacted entries', async () => {
    const messages = Array.from({ length: 12 }, (_, n) =>
      said(`f${n}`, `Fact ${n}: ${'the river is wide and slow. '.repeat(150)}`, 'assistant'),
    )
    await memory.call('session_append', { session: 'river', messages })
    const running = await standIn().start()
    const served = await openStore({ url: store }, {}, '.')
    const main = {
      provider: 'openai-compatible',
      baseUrl: `${running.url}/v1`,
      model: 'm',
    } as const
    const routes = { main: { ...main, windowTokens: 32_000 }, fallbacks: [], auxiliary: {} }
    const agents = [{ name: 'external', system: '', routes, settings: { lingerMs: 200 } }]
    const runtime = await openRuntime({ store: served, agents })
    closeLater(async () => {
      await runtime.close()
      await served.close()
      await running.close()
    })
    await until(async () => (await runtime.health()).isReady)
    const ask = { session: 'river', key: 'now', waitSeconds: 20 }
    const done = await memory.call('compact_now', ask)
    expect(done).toMatchObject({ outcome: 'compacted', isServed: true })
    // Asked again under its key, it is told how that one ended.
    expect(await memory.call('compact_now', ask)).toEqual(done)
    expect(await memory.call('compact_now', { session: 'river', waitSeconds: 20 })).toMatchObject({
      outcome: 'nothing-to-compact',
      note: 'Not compacted: there is nothing worth compacting yet.',
    })
    const status = await memory.call('context_status', { session: 'river' })
    expect(status['compaction']).toMatchObject({ covers: done['covers'] })
    const { entries } = await memory.call('session_recall', { session: 'river', from: 1, to: 1 })
    expect((entries as JsonObject[])[0]).toMatchObject({ isCompacted: true })
    expect(JSON.stringify(entries)).toContain('Fact 0: the river')
    // What comes later is taken as before.
    const more = { session: 'river', messages: [said('f12', 'One more.')] }
    await until(async () => {
      const { messages: answers } = await memory.call('session_append', more)
      return (answers as JsonObject[])[0]?.['outcome'] === 'duplicate'
    })
    // A session that an agent of ours answers gets it as mail.
    await runtime.createSession({ agent: 'external', id: 'ours' })
    const mail = await memory.call('session_append', {
      session: 'ours',
      messages: [said('m', 'Hello.'), said('n', 'I said that?', 'assistant')],
    })
    expect(mail['messages']).toMatchObject([
      { outcome: 'appended', mail: 1 },
      { outcome: 'refused' },
    ])
  })

  it('keeps every message once though it is killed while it writes', async () => {
    const messages = Array.from({ length: 40 }, (_, n) => said(`x${n}`, `message ${n}`))
    for (let round = 0; round < 2; round++) {
      const { pid, call } = await openMemory(store)
      const writing = call('session_append', { session: 'killed', messages }).catch(() => null)
      setTimeout(() => pid !== null && process.kill(pid, 'SIGKILL'), 150 + 150 * round)
      await writing
    }
    await until(async () => {
      const answer = await memory.call('session_append', { session: 'killed', messages })
      return outcomes(answer).length === messages.length
    })
    expect(await transcriptOf(store, 'killed')).toEqual(messages.map(({ text }) => text))
  })

  it('answers everything that it received before its input ended, also without a line break', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'mcp', '--store', store], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    closeLater(() => child.kill('SIGKILL'))
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    const clientInfo = { name: 'raw', version: '1' }
    const start = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    const call = (id: number) => {
      const messages = [said(`piped-${id}`, `text ${id}`)]
      const params = { name: 'session_append', arguments: { session: 'piped', messages } }
      return { jsonrpc: '2.0', id, method: 'tools/call', params }
    }
    const ids = Array.from({ length: 20 }, (_, index) => index + 2)
    const asked = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: start },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      ...ids.map(call),
    ]
    child.stdin.end(asked.map((message) => JSON.stringify(message)).join('\n'))
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
    const answers = stdout.trim().split('\n')
    expect(answers.map((line) => JSON.parse(line).id).toSorted((a, b) => a - b)).toEqual([
      1,
      ...ids,
    ])
    expect(await transcriptOf(store, 'piped')).toHaveLength(ids.length)
  })

  it('writes nothing but the protocol to its standard output, and ends with its client', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'mcp', '--store', store])
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    const ask = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
    const clientInfo = { name: 'raw', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    child.stdin.write('this is no message\n')
    ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    ask({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const bad = { name: 'session_append', arguments: { session: 'no.dots', messages: [] } }
    ask({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: bad })
    ask({ jsonrpc: '2.0', id: 3, method: 'no/such/thing' })
    await until(() => stdout.split('\n').length >= 4)
    child.stdin.end()
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(0)
    const lines = stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).jsonrpc)).toEqual(lines.map(() => '2.0'))
    expect(stdout).toContain('session')
  })

  it.each(['its input closes', 'SIGTERM comes'])(
    'answers a line beyond the limit with an error, works on, and ends when %s',
    async (how) => {
      const child = spawn(process.execPath, [PROGRAM, 'mcp', '--store', store], {
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      child.stdin.on('error', () => {})
      closeLater(() => child.kill('SIGKILL'))
      const ended = new Promise((resolve) => child.once('exit', resolve))
      let stdout = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
      })
      const clientInfo = { name: 'raw', version: '1' }
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
      const start = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
      child.stdin.write(`${JSON.stringify(start)}\n`)
      const piece = Buffer.alloc(1024 * 1024, 'x')
      child.stdin.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"x":"')
      for (let bytes = 0; bytes <= MCP_LINE_BYTES_MAX; bytes += piece.length)
        child.stdin.write(piece)
      child.stdin.write('"}}\n{"jsonrpc":"2.0","id":3,"method":"ping"}\n')
      await until(() => stdout.split('\n').length >= 4)
      const answers = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
        ...[
          [1, undefined],
          [2, -32_600],
          [3, undefined],
        ],
      ])
      if (how === 'its input closes') child.stdin.end()
      else child.kill('SIGTERM')
      expect(await ended).toBe(0)
    },
  )
})
