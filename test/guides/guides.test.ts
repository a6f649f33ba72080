import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../packages/server/src/host/config/load.ts'
import { PROGRAM } from '../support/run-cli.ts'

/** The guides' commands, run one after another beside a server, as a reader would. */
const root = join(import.meta.dirname, '..', '..')

describe.each([
  ['README.md', ['npm ci', 'config init']],
  ['docs/guides/first-agent.md', ['throughline serve', 'config init']],
  ['docs/guides/operating.md', []],
])('%s', (path, others) => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace()
  })
  afterAll(() => place?.close())

  const commands = blocksOf(path, 'sh')
    .flatMap((block) => block.split('\n'))
    .filter((line) => !others.some((other) => line.includes(other)))

  it('shows commands', () => {
    expect(commands.length).toBeGreaterThan(1)
  })

  it.each(commands)(
    'runs %s',
    async (command) => {
      expect(await place.run(command)).toMatchObject({ exitCode: 0 })
    },
    60_000,
  )
})

describe('docs/guides/own-agent.md', () => {
  // The others are run by examples.test.ts and examples.full.test.ts, which read more of what they print.
  const others = /support-bot-hono|langgraph-agent|cron-agent|ai-sdk-route/
  const commands = blocksOf('docs/guides/own-agent.md', 'sh').filter((each) => !others.test(each))

  it.each(commands)(
    'runs %s',
    async (command) => {
      const cwd = mkdtempSync(join(tmpdir(), 'throughline-guide-'))
      symlinkSync(join(root, 'examples'), join(cwd, 'examples'))
      const { exitCode, output } = await shell(command.replace('npx node', nodePath()), cwd)
      expect({ exitCode, output }).toEqual({
        exitCode: 0,
        output: expect.stringMatching(/GRANITE|rains|"how":"answered"/),
      })
      rmSync(cwd, { recursive: true, force: true })
    },
    60_000,
  )
})

describe('configuration in guides', () => {
  const guides = ['first-agent', 'operating', 'models'].map((name) => `docs/guides/${name}.md`)
  const blocks = guides.flatMap((path) =>
    blocksOf(path, 'yaml').map((text) => [path, text] as const),
  )

  it.each(blocks)('in %s is taken', (_path, text) => {
    const cwd = mkdtempSync(join(tmpdir(), 'throughline-guide-'))
    writeFileSync(join(cwd, 'throughline.yaml'), text)
    expect(loadConfig({ cwd, env: {}, flags: [] })).toMatchObject({ kind: 'loaded' })
    rmSync(cwd, { recursive: true, force: true })
  })
})

interface Place {
  run(command: string): Promise<{ exitCode: number | null; output: string }>
  close(): Promise<void>
}

/** A folder with a server in it and a session named `demo`. */
async function openPlace(): Promise<Place> {
  const cwd = mkdtempSync(join(tmpdir(), 'throughline-guide-'))
  const npx = join(cwd, 'npx')
  writeFileSync(npx, `#!/bin/sh\nshift\nexec '${nodePath()}' '${PROGRAM}' "$@"\n`)
  chmodSync(npx, 0o755)
  symlinkSync(join(root, 'examples'), join(cwd, 'examples'))
  const server = spawn(nodePath(), [PROGRAM, 'serve', '--port', '0', '--json'], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(server, 'exit')
  await ready(server)
  const run = (command: string) => shell(command, cwd, `${cwd}:${process.env['PATH']}`)
  await run('npx throughline send demo "The code word is GRANITE." --agent main --wait')
  return {
    run,
    async close() {
      server.kill('SIGKILL')
      await ended
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('exit', () => reject(new Error('the server did not start')))
    server.stdout?.once('data', () => resolve())
  })
}

function shell(command: string, cwd: string, path = process.env['PATH']) {
  // Compiled code is shared by all processes of a run, as on a reader's second try.
  const compiled = process.env['NODE_COMPILE_CACHE']
  const cache = compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }
  const child = spawn('sh', ['-c', command], { cwd, env: { PATH: path, HOME: cwd, ...cache } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.stdin.end()
  return new Promise<{ exitCode: number | null; output: string }>((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, output }))
  })
}

function nodePath(): string {
  return process.execPath
}

function blocksOf(path: string, language: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  const pattern = new RegExp(`^\`\`\`${language}\\n([^\`]*?)\\n\`\`\`$`, 'gm')
  return [...text.matchAll(pattern)].map(([, block = '']) => block)
}
