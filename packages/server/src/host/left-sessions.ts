import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENT_LOGS } from '../migration/leave/client-log.ts'
import { type LeavableClient, readLeft } from '../migration/leave/leave.ts'
import type { LeftOf } from '../runtime/runtime-options.ts'
import { stateFolder } from './platform.ts'

/** What `leave` has noted on this computer. */
export const leftOf: LeftOf = (id) => {
  const client = CLIENTS.find((name) => id.startsWith(`${name}-`))
  const copies = leftFolder()
  if (client === undefined || !existsSync(copies)) return null
  return readLeft({ client, session: id.slice(client.length + 1), copies })
}

/** For copies of the logs that `leave` changed. */
export function leftFolder(): string {
  return join(stateFolder(), 'left')
}

const CLIENTS = Object.keys(CLIENT_LOGS) as LeavableClient[]
