import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findServers, prepareAnnouncement, removeDeadServers } from './served-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-served-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0

/** A store in a folder that was copied or cloned, with a file that names a socket. */
function copied(socket: string): { readonly store: string; readonly file: string } {
  const place = join(folder, `${++count}`)
  const servers = join(place, 'servers')
  mkdirSync(servers, { recursive: true })
  chmodSync(servers, 0o700)
  const file = join(servers, 'aa.json')
  writeFileSync(file, JSON.stringify({ url: 'http://127.0.0.1:1', socket }))
  return { store: join(place, 'throughline.db'), file }
}

describe('the list of servers beside a store', () => {
  it('that came with a copied folder removes nothing but a dead socket', async () => {
    const precious = join(folder, 'precious')
    mkdirSync(precious)
    for (const name of ['s', 'thesis']) writeFileSync(join(precious, name), 'keep')
    const { store, file } = copied(join(precious, 's'))
    await removeDeadServers(store)
    expect(existsSync(file)).toBe(false)
    expect(existsSync(join(precious, 's'))).toBe(true)
    expect(existsSync(join(precious, 'thesis'))).toBe(true)
  })

  it('leads to no socket of another user', async (context) => {
    if (process.geteuid?.() !== 0) return context.skip('not run: only root can be two users')
    const { chownSync } = await import('node:fs')
    const socket = join(folder, 'other.sock')
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    const { store } = copied(socket)
    expect(await findServers(store)).toHaveLength(1)
    chownSync(socket, 65_533, 65_533)
    expect(await findServers(store)).toEqual([])
    server.close()
  })

  it('is not written through a link, whose target stays unchanged', () => {
    const place = join(folder, 'linked')
    const target = join(folder, 'target')
    mkdirSync(place)
    mkdirSync(target)
    chmodSync(target, 0o755)
    symlinkSync(target, join(place, 'servers'))
    expect(prepareAnnouncement(join(place, 'throughline.db')).socket).toBeNull()
    expect(statSync(target).mode & 0o777).toBe(0o755)
  })
})
