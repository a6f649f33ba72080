/**
 * `npm run drill:runtimes`: the library on other runtimes, in pinned versions that are installed outside
 * the repository. Each must print what our own Node prints, byte for byte.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from '../../../bench/size/bundle.ts'
import { installPackage } from '../../clients/install.ts'
import { AGENT, PURE } from './programs.ts'

const MACHINE = `${process.platform}-${process.arch}`
const RUNTIMES = {
  'Node 22.18': { package: `node-${MACHINE}`, version: '22.18.0', file: 'bin/node', args: [] },
  'Bun 1.4': { package: `@oven/bun-${MACHINE}`, version: '1.4.4', file: 'bin/bun', args: [] },
  'Deno 2.9': {
    ...{ package: `@deno/${MACHINE}-glibc`, version: '2.9.6', file: 'deno', args: ['run', '-A'] },
  },
} as const
const WORKERS = { package: 'miniflare', version: '4.20260730.0' } as const

const folder = mkdtempSync(join(tmpdir(), 'throughline-runtimes-'))
let failures = 0
try {
  const programs = { compactMessages: PURE, 'openAgent, memory store': AGENT }
  for (const [name, program] of Object.entries(programs)) {
    const { code, imports } = await bundle(program)
    if (program === PURE && imports.length > 0) fail(name, 'any', `imports ${imports.join()}`)
    const file = join(folder, `${program === PURE ? 'pure' : 'agent'}.mjs`)
    writeFileSync(file, code)
    const starter = join(folder, `start-${program === PURE ? 'pure' : 'agent'}.mjs`)
    writeFileSync(
      starter,
      `const { run } = await import(${JSON.stringify(pathToFileURL(file).href)})\nconsole.log(await run())\n`,
    )
    const expected = start(process.execPath, [starter])
    console.log(`${name}: ${expected.length} characters, ${hashOf(expected)}`)
    for (const [runtime, pinned] of Object.entries(RUNTIMES)) {
      const command = join(
        installPackage(pinned.package, pinned.version),
        pinned.package,
        pinned.file,
      )
      judge(name, runtime, expected, start(command, [...pinned.args, starter]))
    }
    if (program === PURE) judge(name, 'workerd', expected, await inWorker(file))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1

function start(command: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(command, args, {
    ...{ encoding: 'utf8', cwd: folder, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 },
  })
  return status === 0 ? stdout.trim() : `ended with ${status}: ${stderr.slice(-400)}`
}

/** As Cloudflare's Workers run it: without Node's modules. */
async function inWorker(file: string): Promise<string> {
  const path = join(installPackage(WORKERS.package, WORKERS.version), 'miniflare/dist/src/index.js')
  const { Miniflare } = await import(pathToFileURL(path).href)
  const script = `import { run } from './pure.mjs'\nexport default { fetch: async () => new Response(await run()) }`
  const worker = new Miniflare({
    modules: [
      { type: 'ESModule', path: 'worker.mjs', contents: script },
      { type: 'ESModule', path: 'pure.mjs', contents: readFileSync(file, 'utf8') },
    ],
    compatibilityDate: '2026-01-01',
  })
  try {
    return await (await worker.dispatchFetch('http://worker/')).text()
  } finally {
    await worker.dispose()
  }
}

function judge(program: string, runtime: string, expected: string, found: string): void {
  if (found === expected) console.log(`  ${runtime.padEnd(14)} the same, byte for byte`)
  else fail(program, runtime, found.slice(0, 600))
}

function fail(program: string, runtime: string, what: string): void {
  failures++
  console.log(`  ${runtime.padEnd(14)} FAILED ${program}: ${what}`)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
