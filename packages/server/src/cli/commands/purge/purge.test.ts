import { describe, expect, it } from 'vitest'
import { loadSession } from '../../../../../../bench/recall/load.ts'
import { runCli } from '../../../../../../test/support/run-cli.ts'
import { sqlitePlace } from '../../../../../../test/support/sqlite-place.ts'

const { newPath, open } = sqlitePlace()

describe('throughline purge', () => {
  it.each([
    [['side'], ', and 1 fork with it.'],
    [['side', 'other'], ', and 2 forks with it.'],
  ])('says how many forks went too: %j', async (forks, words) => {
    const path = newPath()
    const store = await open(path)
    const body = { role: 'assistant', parts: [{ type: 'text', text: 'orchid' }] }
    const said = { kind: 'assistant', calls: [], row: null, at: 1, tokens: 1, body } as const
    await loadSession(store, 'garden', [said])
    await store.close()
    const run = (...args: string[]) => runCli([...args, '--store', path])
    for (const id of forks) await run('fork', 'garden', '--at', '1', '--id', id)
    const { exitCode, stderr } = await run('purge', 'garden', '--yes', '--forks', 'purge')
    expect(exitCode).toBe(0)
    expect(stderr).toContain(`Removed for good: all 1 entry of session garden${words}`)
  })
})
