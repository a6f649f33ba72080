import { expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { asking, hear, within } from '../../../../../test/model/bench.ts'
import type { ModelRoute } from '../../model/routes/route.ts'
import { ModelAccess } from './model-access.ts'

const route: ModelRoute = {
  ...{ name: 'main', provider: 'openai-chat', model: 'm', baseUrl: 'https://models.example/v1' },
  credential: { kind: 'variable', name: 'KEY' },
}
const ask = async (access: ModelAccess, more: Partial<ModelRoute> = {}) => {
  const { end } = await hear(access.open({ ...route, ...more }).stream(asking('hi'), within()))
  return end.outcome
}

it('calls models through the proxy and with the credential from the environment', async () => {
  const environment = { KEY: 'sk-test', HTTPS_PROXY: 'socks5://127.0.0.1:9' }
  const access = new ModelAccess({ clock: systemClock, environment })
  // An unknown proxy kind, so that the error shows its use without a connection.
  expect(await ask(access)).toMatchObject({ kind: 'connection', fault: 'proxy' })
  expect(access.connections).toEqual({ opened: 0, open: 0, evicted: 0 })
  const other = { kind: 'variable', name: 'OTHER' } as const
  expect(await ask(access, { credential: other })).toEqual({
    kind: 'refused',
    refusal: 'no-credential',
  })
  await access.close()
})
