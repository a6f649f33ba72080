import { afterEach, expect, it, vi } from 'vitest'
import { PROVIDERS } from './names.ts'
import { warmUp } from './open.ts'

afterEach(() => vi.unstubAllGlobals())

it.each(PROVIDERS)('%s is warmed up without sending a request', async (provider) => {
  const fetch = vi.fn(() => Promise.reject(new Error('no request may be sent')))
  vi.stubGlobal('fetch', fetch)
  await warmUp(provider)
  expect(fetch).not.toHaveBeenCalled()
})
