import { afterAll, beforeAll, describe, it } from 'vitest'
import { STORE_CONTRACT } from '../../packages/core/src/store/contract-suite/store-contract.ts'
import { startPostgres, type TestServer } from '../support/postgres.ts'
import { dropSchemas, postgresBench } from './benches/postgres.ts'

let server: TestServer | { readonly problem: string }

beforeAll(async () => {
  // Rules are tested here, not the disk: without syncs the whole contract runs in seconds.
  server = await startPostgres({ flags: ['-c', 'fsync=off', '-c', 'shared_buffers=32MB'] })
})

afterAll(async () => {
  if ('problem' in server) return
  await dropSchemas(server.url)
  await server.stop()
})

describe('store contract on postgres', () => {
  describe.each(Object.entries(STORE_CONTRACT))('%s', (_theme, cases) => {
    it.for(cases.map((each) => [each.name, each] as const))('%s', async ([, each], context) => {
      if ('problem' in server) return context.skip(server.problem)
      await using bench = await postgresBench(server.url)
      await each.run(bench)
    })
  })
})
