import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requireConfig } from '../../../host/config/load.ts'
import { findChoices } from './choices.ts'
import { configTemplate } from './template.ts'

/** No server listens there. */
const NO_OLLAMA = { OLLAMA_HOST: '127.0.0.1:1' }

function load(text: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'throughline-template-'))
  writeFileSync(join(cwd, 'throughline.yaml'), text)
  try {
    return { cwd, ...requireConfig({ cwd, env: { ANTHROPIC_API_KEY: 'x' }, flags: [] }) }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

describe('configTemplate', () => {
  it('writes a file with exactly the given answers', () => {
    const word = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => text.trim() === text)
    fc.assert(
      fc.property(word, fc.stringMatching(/^[a-z][a-z0-9_-]{0,10}$/), (model, agent) => {
        const choice = { label: '', hint: '', provider: 'anthropic', model }
        const answers = { agent, choice, store: `x/${model}`, schema: './s.json' }
        const { config } = load(configTemplate(answers))
        expect(Object.keys(config.agents)).toEqual([agent])
        expect(config.agents[agent]?.model).toEqual({ provider: 'anthropic', model })
      }),
      { numRuns: 50 },
    )
  })

  it('writes a file that is still valid with its comments enabled', async () => {
    const [choice] = await findChoices(NO_OLLAMA)
    const text = configTemplate({ agent: 'main', choice, store: 'a.db', schema: './s.json' })
    const [head = '', ...rest] = text.split(/(?<=holds them\.\n)/)
    const on = head + rest.join('').replaceAll(/^( *)# (?=[a-z ]+:| {2}[a-z])/gm, '$1')
    const { config, cwd } = load(on)
    expect(config.agents['main']?.tools.files).toEqual({ enabled: true, roots: [cwd] })
    expect(config.agents['main']?.pins).toEqual({ language: 'Answer in English.' })
    expect(config.compaction.softShare).toBe(0.75)
  })
})
