import { afterAll, beforeAll } from 'vitest'
import { startPostgres, type TestServer } from '../../support/postgres.ts'
import { dropSchemas } from './postgres.ts'

/** One server for all tests of the `describe` that calls this, or the reason why there is none. */
export function serverOfTests(): () => TestServer | { readonly problem: string } {
  let server: TestServer | { readonly problem: string } = { problem: 'it was not started' }
  beforeAll(async () => {
    server = await startPostgres({ flags: ['-c', 'fsync=off'] })
  })
  afterAll(async () => {
    if ('problem' in server) return
    await dropSchemas(server.url)
    await server.stop()
  })
  return () => server
}
