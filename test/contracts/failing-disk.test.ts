import { describe, expect, it } from 'vitest'
import { runContract } from './benches/failing-disk.ts'

/** Its many replies would take nine tenths of the time: `npm run test:full` has it. */
const isQuick = (name: string) =>
  !name.startsWith('an import includes all waiting replies, however many')

describe('a failing disk', () => {
  it('keeps the contract, full at each statement of each verb, one after another [I24, fault 62]', async () => {
    const { failures, codes } = await runContract('full', 12, 1, isQuick)
    expect(codes).toEqual(['store-full'])
    expect(failures).toBeGreaterThan(700)
  })

  it('keeps the contract, failing to write at each statement of each verb [I24, fault 64]', async () => {
    const { failures, codes } = await runContract('write', 16, 2, isQuick)
    expect(codes).toEqual(['store-full'])
    expect(failures).toBeGreaterThan(500)
  })

  it('keeps the contract, failing to sync each commit: nothing more is taken until a restart [I26, fault 64]', async () => {
    const { failures, codes } = await runContract('sync', 12, 1, isQuick)
    expect(codes).toEqual(['store-damaged'])
    expect(failures).toBeGreaterThan(200)
  })
})
