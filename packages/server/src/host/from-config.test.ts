import { expect, it } from 'vitest'
import { configSchema } from './config/schema/schema.ts'
import { runtimeTerms } from './from-config.ts'

const CONTEXT = { standInUrl: 'http://127.0.0.1:1', folder: '.', env: {} }

it('gives every agent the configured prompt and the budget of each section [S12]', () => {
  const sections = {
    ...{ keepTokens: 700, protectFirst: 2, protectLast: 5 },
    ...{ userTokens: 900, ledgerTokens: 300 },
  }
  const compaction = { ...sections, prompt: 'As a poem.', softShare: 0.4 }
  const agents = { one: {}, two: {} }
  const terms = runtimeTerms(configSchema.parse({ compaction, agents }), CONTEXT)
  expect(terms.agents.map(({ name }) => name)).toEqual(['one', 'two'])
  for (const { settings } of terms.agents) {
    expect(settings).toMatchObject({ prompt: 'As a poem.', softShare: 0.4, sections })
  }
  const [plain] = runtimeTerms(configSchema.parse({}), CONTEXT).agents
  expect(plain?.provider).toBe('stand-in')
  expect(plain?.settings).not.toHaveProperty('prompt')
})
