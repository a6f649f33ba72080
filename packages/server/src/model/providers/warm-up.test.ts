import { afterEach, expect, it, vi } from 'vitest'
import { PROVIDERS } from '../routes/route.ts'
import { warmUp } from './open.ts'

afterEach(() => vi.unstubAllGlobals())

it.each(PROVIDERS)('%s is warmed up without a request to anybody', async (provider) => {
  const fetch = vi.fn(() => Promise.reject(new Error('nobody is to be asked')))
  vi.stubGlobal('fetch', fetch)
  await warmUp(provider)
  expect(fetch).not.toHaveBeenCalled()
})
