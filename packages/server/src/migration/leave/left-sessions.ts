import { existsSync } from 'node:fs'
import { CLIENT_LOGS } from './client-log.ts'
import { type LeavableClient, readLeft } from './leave.ts'

type Left = ReturnType<typeof readLeft>

/** What `leave` has noted in its folder about a session of the store. */
export function leftIn(folderOf: () => string): (id: string) => Left {
  return (id) => {
    const client = CLIENTS.find((name) => id.startsWith(`${name}-`))
    if (client === undefined) return null
    const copies = trusted(folderOf)
    if (copies === null || !existsSync(copies)) return null
    return readLeft({ client, session: id.slice(client.length + 1), copies })
  }
}

/** A folder that others can write to is ignored here; `leave` itself refuses it with the reason. */
function trusted(folderOf: () => string): string | null {
  try {
    return folderOf()
  } catch {
    return null
  }
}

const CLIENTS = Object.keys(CLIENT_LOGS) as LeavableClient[]
