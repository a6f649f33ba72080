import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { newSchema, startPostgres, type TestServer } from '../support/postgres.ts'
import { memoryBench } from './benches/memory.ts'
import { answersTo, fill, ROWS, THEMES } from './story/answers.ts'
import { tellStory } from './story/tell.ts'

let server: TestServer | { readonly problem: string }
const stores = new AsyncDisposableStack()
let [filled, memory]: Store[] = []

async function open(): Promise<Store> {
  if ('problem' in server) throw new Error(server.problem)
  const store = await openPostgres(server.url, { connections: 3, schema: newSchema() })
  stores.defer(() => store.close())
  return store
}

beforeAll(async () => {
  server = await startPostgres({ flags: ['-c', 'fsync=off', '-c', 'shared_buffers=32MB'] })
  memory = stores.use(await memoryBench()).store
  if ('problem' in server) return
  filled = await open()
  await Promise.all([fill(filled), fill(memory)])
})

afterAll(async () => {
  await stores.disposeAsync()
  if (!('problem' in server)) await server.stop()
})

describe('rows of every kind, as PostgreSQL and memory tell them', () => {
  const both = ({ skip }: TestContext) => {
    if ('problem' in server) return skip(server.problem)
    return filled === undefined || memory === undefined
      ? expect.fail('there is no store')
      : ({ filled, memory } as const)
  }

  it.for(Object.entries(THEMES))('answer questions about %s', async ([, questions], context) => {
    const { filled, memory } = both(context)
    expect(await answersTo(questions(filled))).toEqual(await answersTo(questions(memory)))
  })

  it('are the same after they were written once more', async (context) => {
    const { memory } = both(context)
    const fresh = await open()
    await fill(fresh)
    expect(await answersTo(ROWS(fresh))).toEqual(await answersTo(ROWS(memory)))
  })

  it('are changed by each verb in the same way', async (context) => {
    both(context)
    await using bench = await memoryBench()
    const told = async (store: Store) => (await tellStory(store)).map((line) => JSON.parse(line))
    expect(await told(await open())).toEqual(await told(bench.store))
  })
})
