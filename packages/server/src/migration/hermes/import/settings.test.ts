import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '../../../host/config/schema/schema.ts'
import { translateSettings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function translated(yaml: string) {
  writeFileSync(join(folder, 'config.yaml'), yaml)
  const place = { folder } as Parameters<typeof translateSettings>[0]
  const { settings, proposal } = await translateSettings(place, 'main', undefined)
  return { becomes: settings.map(({ becomes }) => becomes), proposal: parse(proposal) as unknown }
}

describe('the settings of an auxiliary task', () => {
  it('take its effort over', async () => {
    const { becomes, proposal } = await translated(
      'auxiliary: { title: { provider: anthropic, model: m, reasoning_effort: low } }',
    )
    expect(becomes).toContain('auxiliary.title.effort')
    expect(proposal).toEqual({
      auxiliary: { title: { provider: 'anthropic', model: 'm', effort: 'low' } },
    })
  })

  it('are proposed in a form that the configuration accepts, even if they follow the agent', async () => {
    const { proposal } = await translated(
      'auxiliary: { compression: { provider: auto, model: m, reasoning_effort: high, context_length: 9000, base_url: "", timeout: 60 } }',
    )
    expect(configSchema.safeParse(proposal).error?.issues).toBeUndefined()
    expect(proposal).toEqual({
      auxiliary: { compaction: { provider: 'main', model: 'm', deadlines: { totalSeconds: 60 } } },
    })
  })
})
