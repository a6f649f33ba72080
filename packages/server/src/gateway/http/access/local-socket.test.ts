import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listenAt } from './local-socket.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-socket-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function serve(path: string): Promise<Server> {
  const server = createServer()
  onTestFinished(() => void server.close())
  await once(server.listen(path), 'listening')
  return server
}

const listen = (path: string) => listenAt(path, async (temporary) => void (await serve(temporary)))

/** A server that is killed does not remove its socket. */
async function leaveSocket(path: string): Promise<void> {
  const server = await serve(`${path}-before`)
  renameSync(`${path}-before`, path)
  server.close()
  await once(server, 'close')
}

describe('a local socket', () => {
  it('is for its owner only, and is removed by its own server only', async () => {
    const folder = newFolder()
    const path = join(folder, 's')
    const remove = await listen(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['s'])
    renameSync(path, `${path}-moved`)
    writeFileSync(path, '')
    remove()
    expect(existsSync(path)).toBe(true)
    renameSync(`${path}-moved`, path)
    remove()
    expect(existsSync(path)).toBe(false)
  })

  it('replaces one that a killed server left', async () => {
    const path = join(newFolder(), 's')
    await leaveSocket(path)
    const { ino } = statSync(path)
    await listen(path)
    expect(statSync(path).ino).not.toBe(ino)
  })

  it('leaves one that is in use, and any other file', async () => {
    const folder = newFolder()
    const [used, file] = [join(folder, 's'), join(folder, 'f')]
    await listen(used)
    await expect(listen(used)).rejects.toMatchObject({ code: 'cannot-listen', isTaken: true })
    writeFileSync(file, 'kept')
    await expect(listen(file)).rejects.toThrow('a file that is not a socket exists there')
  })

  it('is not created in a folder that other users can write to', async () => {
    const folder = newFolder()
    chmodSync(folder, 0o770)
    await expect(listen(join(folder, 's'))).rejects.toThrow(`other users can write to ${folder}`)
  })
})
