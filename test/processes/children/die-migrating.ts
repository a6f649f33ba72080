import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/**
 * Loaded first in every thread of a child: ends the process while the schema is being changed, with
 * half of the statements done, with all of them done and nothing committed, or right after that.
 */
const point = process.env['DIE_AT']
const FIRST_HALF_ENDS = 'create table note'
let isMigrating = false

function die(at: string): void {
  if (at !== point) return
  process.kill(process.pid, 'SIGKILL')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const exec = DatabaseSync.prototype.exec
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
  const cut = sql.indexOf(FIRST_HALF_ENDS)
  if (cut >= 0) {
    isMigrating = true
    exec.call(this, sql.slice(0, cut))
    die('half')
    exec.call(this, sql.slice(cut))
    return
  }
  if (isMigrating && sql === 'commit') die('whole')
  exec.call(this, sql)
  if (isMigrating && sql === 'commit') die('after')
}

type Send = (
  this: unknown,
  config: string | { readonly text: string },
  ...rest: never[]
) => Promise<unknown>
const query = pg.Client.prototype.query as unknown as Send
const planted: Send = async function (config, ...rest) {
  const text = typeof config === 'string' ? config : (config?.text ?? '')
  const isStep = text.includes(FIRST_HALF_ENDS)
  isMigrating ||= isStep
  if (isMigrating && text === 'commit') die('whole')
  const answer = await query.call(this, config, ...rest)
  if (isStep) die('half')
  if (isMigrating && text === 'commit') die('after')
  return answer
}
pg.Client.prototype.query = planted as never
