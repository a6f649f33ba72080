import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { freePort } from '../support/free-port.ts'

/** The product as a process of its own that can be stopped and started again at the same address. */
export interface Served {
  readonly url: string
  start(tokensPerSecond: number): Promise<void>
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export async function openServed(ctx: TestContext, folder: string): Promise<Served> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-served-'))
  const port = await freePort()
  let child: ChildProcess | null = null
  const stop = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
  ctx.onTestFinished(async () => {
    await stop('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })
  return {
    url: `http://127.0.0.1:${port}`,
    stop,
    async start(tokensPerSecond) {
      const file = join(import.meta.dirname, 'children', 'serve.ts')
      const args = [file, join(home, 'store.db'), folder, `${port}`, `${tokensPerSecond}`]
      child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(child.stdout ?? process.stdin, 'data')
    },
  }
}
