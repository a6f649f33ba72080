import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import {
  closeAfterAll,
  closeLater,
  HOOK_MS,
  openWorld,
  program,
  temporaryFolder,
  type World,
} from './world.ts'

closeAfterAll()

/** The servers that the protocol's own people publish, as they come from the registry. */
function published(name: string): string {
  const { resolve } = createRequire(import.meta.url)
  const manifest = resolve(`@modelcontextprotocol/server-${name}/package.json`)
  return join(dirname(manifest), 'dist', 'index.js')
}

/** A machine may stall for two seconds, and a tool tells of its progress more often than that. */
const SILENCE_MS = 3_500

/** What `everything` is for: each part of the protocol once, over either transport. */
function describeEverything(transport: string, open: () => Promise<World>): void {
  describe(`server-everything over ${transport}`, () => {
    let world: World
    beforeAll(async () => {
      world = await open()
    }, HOOK_MS)
    const call = (tool: string, input = {}, signal?: AbortSignal) =>
      world.call(`ref__${tool}`, input, signal)

    it('has its tools called, with text, structure and pictures in the answers', async () => {
      const names = world.tools().map(({ name }) => name)
      expect(names).toContain('ref__echo')
      // What we do not offer is not asked of us.
      expect(names.filter((name) => /sampling|elicitation|roots/.test(name))).toEqual([])
      const sum = await call('get-sum', { a: 2, b: 3 })
      expect(sum).toMatchObject({ outcome: 'ok', output: expect.stringContaining('is 5') })
      const { output } = await call('get-structured-content', { location: 'Chicago' })
      expect(output).toContain('temperature')
      const picture = await call('get-tiny-image')
      expect(Array.isArray(picture.output) && picture.output.map(({ type }) => type)).toContain(
        'image',
      )
      expect(await call('get-sum', { a: 'x' })).toMatchObject({ outcome: 'error' })
    })

    it('has its resources listed and read', async () => {
      const tool = world.tools().find(({ name }) => name === 'ref__read_resource')
      expect(tool?.inputSchema).toEqual({
        type: 'object',
        properties: { uri: { type: 'string', description: expect.any(String) } },
        additionalProperties: false,
      })
      const { output: list } = await call('read_resource')
      expect(list).toContain('demo://resource/dynamic/text/{resourceId}')
      const uri = 'demo://resource/dynamic/text/1'
      const { outcome, output } = await call('read_resource', { uri })
      expect([outcome, output]).toEqual(['ok', expect.stringContaining('Resource 1')])
      const missing = await call('read_resource', { uri: 'demo://nowhere' })
      expect(missing.outcome).toBe('error')
    })

    it('may take long if it reports progress', async () => {
      const slow = 'trigger-long-running-operation'
      const told = await call(slow, { duration: 4.8, steps: 8 })
      expect(told).toMatchObject({ outcome: 'ok', output: expect.stringContaining('completed') })
      const silent = await call(slow, { duration: 20, steps: 1 })
      expect(silent.output).toContain('did not answer within')
    })

    it('is notified when a call is stopped, and continues to work', async () => {
      const stop = new AbortController()
      const called = call('trigger-long-running-operation', { duration: 20 }, stop.signal)
      setTimeout(() => stop.abort(), 50)
      expect((await called).outcome).toBe('interrupted')
      expect((await call('echo', { message: 'still here' })).output).toContain('still here')
    })
  })
}

describeEverything('stdio', () =>
  openWorld({ ref: program([published('everything'), 'stdio'], { callMs: SILENCE_MS }) }),
)

describeEverything('streamable HTTP', async () => {
  const port = await freePort()
  const args = ['--import', LOOPBACK_ONLY, published('everything'), 'streamableHttp']
  const child = spawn(process.execPath, args, { env: { PORT: String(port) }, stdio: 'ignore' })
  closeLater(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/mcp`
  await until(() =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  )
  const times = { startMs: 15_000, callMs: SILENCE_MS }
  return await openWorld({ ref: { kind: 'address', url, headers: {}, ...times } })
})

/** The server would listen on every address of the machine. */
const LOOPBACK_ONLY = `data:text/javascript,${encodeURIComponent(`
import net from 'node:net'
const { listen } = net.Server.prototype
net.Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest)
}`)}`

describe('other reference servers', () => {
  it('server-filesystem writes and reads below its folder, and nowhere else', async () => {
    const [folder, outside] = [temporaryFolder(), temporaryFolder()]
    writeFileSync(join(outside, 'secret'), 'hidden')
    const { call } = await openWorld({ ref: program([published('filesystem'), folder]) })
    const path = join(folder, 'a.txt')
    expect((await call('ref__write_file', { path, content: 'basalt' })).outcome).toBe('ok')
    expect(readFileSync(path, 'utf8')).toBe('basalt')
    expect((await call('ref__read_text_file', { path })).output).toContain('basalt')
    const refused = await call('ref__read_text_file', { path: join(outside, 'secret') })
    expect(refused).toMatchObject({ outcome: 'error' })
    expect(refused.output).not.toContain('hidden')
  })

  it('server-memory keeps its facts over a restart', async () => {
    const env = { MEMORY_FILE_PATH: join(temporaryFolder(), 'memory.json') }
    const terms = { ref: program([published('memory')], { env }) }
    const first = await openWorld(terms)
    const entities = [{ name: 'harbour', entityType: 'place', observations: ['it is blue'] }]
    expect((await first.call('ref__create_entities', { entities })).outcome).toBe('ok')
    await first.servers.close()
    const { call } = await openWorld(terms)
    expect((await call('ref__search_nodes', { query: 'harbour' })).output).toContain('it is blue')
  })
})
