import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openAgent } from '../../packages/core/src/agent/index.ts'
import { openaiChat } from '../../packages/core/src/agent/typed-formats/openai.ts'
import { ERROR_CODES, isThroughlineError } from '../../packages/core/src/index.ts'
import {
  openMemoryStore,
  openSqliteStore,
  type Store,
} from '../../packages/core/src/store/index.ts'
import { MISUSES } from './misuses.ts'

const guide = readFileSync(new URL('../../docs/guides/library.md', import.meta.url), 'utf8')
const rows = guide
  .slice(guide.indexOf('## Mistakes'))
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)

describe('misuse of the library', () => {
  it.each(MISUSES)('answers as the guide says: $written', async ({ written, run }) => {
    const error = await run()
    expect(error).toSatisfy((each) => isThroughlineError(each))
    const { code, message } = error as { code: string; message: string }
    expect(rows).toContain(rowOf(written, code, message))
  })

  it('has no other row in the guide, and a row for each code', () => {
    expect(rows).toHaveLength(MISUSES.length)
    // Refused by a store, and tested with the journal in it.
    const elsewhere = ['operation-conflict', 'suffix-mismatch', 'too-large']
    const shown = ERROR_CODES.filter((code) => rows.some((row) => row.includes(`| \`${code}\``)))
    expect([...shown, ...elsewhere].toSorted()).toEqual([...ERROR_CODES].toSorted())
  })
})

describe('a fault of the program around an agent', () => {
  const failing = () => {
    throw new Error('no key')
  }
  it.each([
    ['`onError` throws', { onError: () => wrongly() }, 'onError'],
    ['`isRetryable` throws', { retry: { isRetryable: () => wrongly() } }, 'isRetryable'],
  ])('ends the turn and is told with it: %s', async (_, more, name) => {
    await using store = disposable(openMemoryStore())
    await using agent = await openAgent({
      ...{ store, name: 'mine', format: openaiChat, contextWindow: 32_000, step: failing, ...more },
    })
    const reason = `no key (And "${name}" threw: disk full)`
    const session = agent.session('ana')
    expect(await session.ask('Hello.')).toMatchObject({ kind: 'failed', reason })
  })

  it.each(['memory', 'sqlite'])(
    'rejects whoever waits when a store of %s is closed',
    async (kind) => {
      const folder = mkdtempSync(join(tmpdir(), 'throughline-misuse-'))
      const store =
        kind === 'memory'
          ? openMemoryStore()
          : await openSqliteStore({ path: join(folder, 'a.db') })
      const begun = Promise.withResolvers<void>()
      const agent = await openAgent({
        ...{ store, name: 'mine', format: openaiChat, contextWindow: 32_000 },
        step() {
          begun.resolve()
          return new Promise<never>(() => {})
        },
      })
      const asked = agent.session('ana').ask('Hello.')
      const refused = expect(asked).rejects.toMatchObject({ code: 'store-closed' })
      await begun.promise
      await store.close()
      await refused
      await agent.close()
      rmSync(folder, { recursive: true })
    },
  )
})

function wrongly(): never {
  throw new Error('disk full')
}

function disposable(store: Store): Store & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}

function rowOf(written: string, code: string, message: string): string {
  return `| ${written} | \`${code}\` | ${message} |`
}
