import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { compactMessages } from '../../packages/core/src/agent/compact-messages.ts'
import type { openaiChat } from '../../packages/core/src/agent/typed-formats/openai.ts'
import { bundle, PROGRAMS } from './bundle.ts'

const long = 'The river is wide and slow here. '.repeat(20)
const history = Array.from({ length: 60 }, (_, number) => ({
  role: number % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `${number}: ${long} ü`,
}))

describe('a bundle of the pure part', () => {
  it.each([
    ['compactMessages, openaiChat', 76_700, 24_000],
    ['compactMessages, all formats', 90_500, 37_100],
  ])('imports nothing of Node and keeps its size: %s', async (name, most, mostAtFirst) => {
    const { imports, gzipped, initialGzipped } = await bundle(PROGRAMS[name] ?? '')
    expect(imports).toEqual([])
    expect(gzipped).toBeLessThanOrEqual(most)
    expect(initialGzipped).toBeLessThanOrEqual(mostAtFirst)
    expect(initialGzipped).toBeLessThan(gzipped)
    expect(gzipped).toBeGreaterThan(10_000)
  })

  it('compacts without any module of Node', async () => {
    const { code } = await bundle(PROGRAMS['compactMessages, openaiChat'] ?? '')
    // The globals that Workers, browsers, Bun and Deno have as well.
    const globals = {
      AbortController,
      AbortSignal,
      TextDecoder,
      TextEncoder,
      atob,
      structuredClone,
    }
    const program = code.replace(
      /export\{([\w$]+) as compactMessages,([\w$]+) as openaiChat\};?/,
      'run($1,$2)',
    )
    const done = Promise.withResolvers<{ kind: string; tokensAfter: number }>()
    const run = (compact: typeof compactMessages, format: typeof openaiChat) =>
      compact(format, history, { targetTokens: 4_000 }).then(done.resolve, done.reject)
    runInNewContext(program, { ...globals, run })
    expect(await done.promise).toMatchObject({ kind: 'compacted' })
  })

  it('changes nothing if the rest of it cannot be loaded', async () => {
    const place = mkdtempSync(join(tmpdir(), 'throughline-split-'))
    const { files } = await bundle(PROGRAMS['compactMessages, openaiChat'] ?? '')
    const [first = ''] = files.keys()
    for (const [name, code] of files)
      if (!name.startsWith('conclude')) writeFileSync(join(place, name), code)
    const program: { compactMessages: typeof compactMessages; openaiChat: typeof openaiChat } =
      await import(pathToFileURL(join(place, first)).href)
    const compact = (targetTokens: number) =>
      program.compactMessages(program.openaiChat, history, { targetTokens })
    expect(await compact(100_000)).toMatchObject({ kind: 'unchanged', reason: 'fits' })
    const failed = await compact(4_000)
    expect(failed).toMatchObject({ kind: 'failed', reason: 'summary-failed' })
    expect(failed.messages).toBe(history)
    rmSync(place, { recursive: true })
  })

  it('leaves out code that is not imported', async () => {
    const { bytes } = await bundle(PROGRAMS['isThroughlineError alone'] ?? '')
    expect(bytes).toBeLessThan(1_000)
  })
})
