import { startPostgres, connectAdmin } from './support/postgres.ts'
import { postgresBench, dropSchemas } from './contracts/benches/postgres.ts'
import { Desk, said } from '../src/testing/store/desk.ts'
import { indexSome } from '../src/store/postgres/search.ts'
import { Connections } from '../src/store/postgres/connections.ts'
const s = await startPostgres({ flags: ['-c','fsync=off'] }) as any
const b = await postgresBench(s.url)
const desk = await Desk.open(b.store)
const han = Array.from({ length: 200_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)))
await desk.deliver(await desk.admit(said(han.join('')), { tokens: 1 }))
const c = new Connections({url:s.url,schema:b.schema,connections:1,busyMs:5000,statementMs:10000})
const t=performance.now()
try { console.log(await indexSome(c, desk.id), performance.now()-t) } catch(e){console.log(e, performance.now()-t)}
await c.close()
await b[Symbol.asyncDispose]()
await dropSchemas(s.url); await s.stop()
