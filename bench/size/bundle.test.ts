import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { compactMessages } from '../../packages/core/src/agent/compact-messages.ts'
import type { openaiChat } from '../../packages/core/src/agent/typed-formats/openai.ts'
import { bundle, PROGRAMS } from './bundle.ts'

describe('a bundle of the pure part', () => {
  it.each([
    ['compactMessages, openaiChat', 78_700, 39_700],
    ['compactMessages, all formats', 91_400, 51_200],
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
    const long = 'The river is wide and slow here. '.repeat(20)
    const history = Array.from({ length: 60 }, (_, number) => ({
      role: number % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `${number}: ${long} ü`,
    }))
    const done = Promise.withResolvers<{ kind: string; tokensAfter: number }>()
    const run = (compact: typeof compactMessages, format: typeof openaiChat) =>
      compact(format, history, { targetTokens: 4_000 }).then(done.resolve, done.reject)
    runInNewContext(program, { ...globals, run })
    expect(await done.promise).toMatchObject({ kind: 'compacted' })
  })

  it('leaves out code that is not imported', async () => {
    const { bytes } = await bundle(PROGRAMS['isThroughlineError alone'] ?? '')
    expect(bytes).toBeLessThan(1_000)
  })
})
