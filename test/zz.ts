import { startPostgres } from './support/postgres.ts'
import { postgresBench, dropSchemas } from './contracts/benches/postgres.ts'
import { Desk } from '../src/testing/store/desk.ts'
const t=(n:string,a:number)=>console.log(n,(performance.now()-a).toFixed(0))
let a=performance.now()
const s = await startPostgres({ flags: ['-c','fsync=off'] }) as any
t('start',a)
for(let i=0;i<4;i++){ a=performance.now()
const b = await postgresBench(s.url); t('bench',a); a=performance.now()
const d= await Desk.open(b.store); t('open',a); a=performance.now()
for(let k=0;k<10;k++) await d.exchange('a','b'); t('10 exchange',a); a=performance.now()
await b.store.close(); t('close', a); a=performance.now()
await b[Symbol.asyncDispose](); t('dispose',a)}
await dropSchemas(s.url); await s.stop()
