import { describe, expect, it } from 'vitest'
import { resolveBudget } from '#core/compaction/plan/budget'
import { budgetOf } from '#core/session/context/budget'
import { limitsFor } from '#core/session/limits'
import { SESSION_SETTINGS } from '#core/session/settings'
import { ALLOWANCE } from '../../auxiliary/allowance.ts'
import { DEADLINES } from '../../model/connections/deadlines.ts'
import { Routes, routesSchema } from '../../model/routes/routes.ts'
import { PROCESS_LIMITS } from '../../tools/process/processes.ts'
import { type AgentPlan, agentsOf, needsStandIn } from './agents-of.ts'
import { allowanceOf, pricesOf, processLimitsOf } from './allowance-of.ts'
import { configSchema } from './schema/schema.ts'

const STAND_IN = { standInUrl: 'http://127.0.0.1:4711' }

function only(input: unknown): AgentPlan {
  const [agent, ...others] = agentsOf(configSchema.parse(input), STAND_IN)
  if (agent === undefined || others.length > 0) throw new Error('one agent was expected')
  return agent
}

describe('agentsOf', () => {
  it('turns an empty configuration into one agent on the stand-in, with all defaults', () => {
    const { name, routes, settings, auxiliary, window, policy } = only({})
    expect({ name, policy }).toEqual({ name: 'main', policy: 'steer' })
    expect(new Routes(routes).main).toEqual({
      name: 'main',
      provider: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:4711/v1',
      credential: { kind: 'none' },
      model: 'stand-in',
      isBuiltIn: true,
      windowTokens: 16_000,
    })
    expect(settings).toEqual(SESSION_SETTINGS)
    expect(auxiliary.compaction).toEqual({ shielded: true, deadlines: DEADLINES })
    expect(auxiliary.title.shielded).toBe(false)
    expect(window).toEqual({ windowTokens: 16_000, laneMailMax: 10_000, sourceMailMax: 5_000 })
    expect(allowanceOf(configSchema.parse({}))).toEqual(ALLOWANCE)
    expect(processLimitsOf(configSchema.parse({}))).toEqual(PROCESS_LIMITS)
  })

  it('gives the stand-in what the configuration says of it, and no address or key', () => {
    const model = { provider: 'stand-in', model: 'm', windowTokens: 9_000 }
    const more = { outputTokensMax: 500, images: true, effort: 'low' }
    const { routes, window } = only({ agents: { main: { model: { ...model, ...more } } } })
    expect(new Routes(routes).main).toMatchObject({
      ...{ name: 'main', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:4711/v1' },
      ...{ credential: { kind: 'none' }, model: 'm', isBuiltIn: true, windowTokens: 9_000 },
      ...more,
    })
    expect(window).toMatchObject({ windowTokens: 9_000, outputTokensMax: 500 })
  })

  it('builds valid routes, including those of tasks that follow the main route', () => {
    const { routes } = only({
      agents: {
        main: {
          model: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
          fallbacks: [{ provider: 'stand-in', windowTokens: 9_000 }],
        },
      },
      auxiliary: {
        compaction: { model: 'claude-haiku-4-5', fallbacks: [{ provider: 'main' }] },
        title: { provider: 'stand-in' },
      },
    })
    expect(routesSchema.parse(routes)).toEqual(routes)
    const all = new Routes(routes)
    const named = (of: readonly { model: string; baseUrl: string }[]) =>
      of.map(({ model, baseUrl }) => `${model} ${new URL(baseUrl).host}`)
    expect(named(all.forMain())).toEqual([
      'claude-sonnet-4-5 api.anthropic.com',
      'stand-in 127.0.0.1:4711',
    ])
    expect(named(all.forTask('compaction'))).toEqual([
      'claude-haiku-4-5 api.anthropic.com',
      'claude-sonnet-4-5 api.anthropic.com',
    ])
    expect(named(all.forTask('title'))).toEqual(['stand-in 127.0.0.1:4711'])
    expect(all.forTask('memory')).toEqual(all.forMain())
  })

  it('starts the stand-in only if something uses it', () => {
    const agents = { main: { model: { provider: 'anthropic', model: 'm' } } }
    expect(needsStandIn(configSchema.parse({}))).toBe(true)
    expect(needsStandIn(configSchema.parse({ agents }))).toBe(false)
    const auxiliary = { title: { fallbacks: [{ provider: 'stand-in' }] } }
    expect(needsStandIn(configSchema.parse({ agents, auxiliary }))).toBe(true)
  })

  it('switches off automatic compaction and nothing else', () => {
    const { settings, compaction, window } = only({ compaction: { enabled: false } })
    expect(compaction.isAutomatic).toBe(false)
    expect(settings).toEqual({ ...SESSION_SETTINGS, softShare: 1, idleCompactionMs: null })
    // No compaction is due before the hard limit, beyond which no step can be sent.
    const limits = limitsFor({ ...window, fixedTokens: 0 })
    const { softTokens, hardTokens } = budgetOf(limits, settings)
    expect(softTokens).toBe(hardTokens)
  })

  it('compacts at the configured number of tokens, for every window', () => {
    for (const windowTokens of [8_000, 32_000, 200_000]) {
      const model = { windowTokens }
      const { settings, window } = only({
        agents: { main: { model } },
        compaction: { softTokens: 6_000, targetTokens: '2k' },
      })
      const { softTokens, targetTokens } = budgetOf(
        limitsFor({ ...window, fixedTokens: 0 }),
        settings,
      )
      expect({ softTokens, targetTokens }).toEqual({ softTokens: 6_000, targetTokens: 2_000 })
    }
  })

  it('applies the preset and the values that override it', () => {
    const { compaction, settings } = only({
      compaction: { preset: 'hermes', protectLast: 5, userTokens: 9_000, prompt: 'Be brief.' },
    })
    const { softShare, targetShare, protectFirst, protectLast, userTokens } = compaction.budget
    expect({ softShare, targetShare, protectFirst, protectLast, userTokens }).toEqual({
      ...{ softShare: 0.5, targetShare: 0.2, protectFirst: 3, protectLast: 5, userTokens: 9_000 },
    })
    expect(compaction.prompt).toBe('Be brief.')
    expect([settings.warnFrom, only({ compaction: { warnFrom: 0 } }).settings.warnFrom]).toEqual([
      2, 0,
    ])
    expect(settings.softShare).toBe(0.5)
    expect(settings.targetShare).toBeCloseTo(0.2, 4)
    expect(only({ compaction: { preset: 'codex' } }).compaction.budget.keepTokens).toBe(0)
    const { settings: plain } = resolveBudget({ windowTokens: 16_000 })
    expect(only({}).compaction.budget).toEqual(plain)
  })
})

describe('settings of the host', () => {
  it('counts money in millionths and keeps prices as they are', () => {
    const price = { input: 1, output: 2 }
    const config = configSchema.parse({
      limits: {
        budget: { windowSeconds: 60, host: { tokens: '1m', money: 2.5 } },
        prices: { m: price },
      },
    })
    expect(allowanceOf(config)).toEqual({
      windowMs: 60_000,
      session: { tokens: 20_000_000 },
      host: { tokens: 1_000_000, cost: 2_500_000 },
    })
    expect(pricesOf(config)).toMatchObject({ m: price, 'stand-in': { input: 0, output: 0 } })
  })
})
