import { expect, it } from 'vitest'
import type { ToolDependencies } from '../runtime/tools/tool-dependencies.ts'
import { builtInTools } from './built-in-tools.ts'
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

/** Tools use them only when they run. */
const dependencies = {} as ToolDependencies

function toolsOf(tools: object) {
  const { agents } = configSchema.parse({ agents: { main: { tools } } })
  const plan = agents['main']?.tools
  return plan === undefined
    ? []
    : builtInTools(plan, { folder: '/', env: {}, privatePaths: [] })(dependencies)
}

const all = {
  tasks: { enabled: true },
  pin: { enabled: true },
  recall: { enabled: true },
  send_message: { enabled: true },
  memory: { enabled: true },
  schedule: { enabled: true },
  files: { enabled: true, roots: ['/'] },
  process: { enabled: true, programs: ['node'] },
}

it('the tools of an agent take these inputs', () => {
  // Descriptions are for people, and the pattern of a date is that of the schema library.
  const withoutWords = (key: string, value: unknown) => {
    if (typeof value !== 'string') return value
    return key === 'description' || (key === 'pattern' && value.length > 100) ? undefined : value
  }
  const lines = toolsOf(all).map(({ name, inputSchema, isRepeatable }) => {
    const repeated = isRepeatable ? 'may be repeated' : 'runs once'
    return `${name} (${repeated}): ${JSON.stringify(inputSchema, withoutWords)}`
  })
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "tasks (may be repeated): {"type":"object","properties":{"tasks":{"minItems":1,"maxItems":100,"type":"array","items":{"type":"object","properties":{"content":{"type":"string","minLength":1,"maxLength":500},"status":{"type":"string","enum":["pending","in_progress","completed","cancelled"]}},"required":["content","status"],"additionalProperties":false}}},"required":["tasks"],"additionalProperties":false}
    pin (may be repeated): {"type":"object","properties":{"name":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,64}$"},"text":{"anyOf":[{"type":"string","minLength":1,"maxLength":20000},{"type":"null"}]}},"required":["name","text"],"additionalProperties":false}
    recall (may be repeated): {"type":"object","properties":{"query":{"type":"string","maxLength":10000},"characters":{"type":"integer","minimum":1000,"maximum":12000},"everywhere":{"type":"boolean"},"limit":{"type":"integer","minimum":1,"maximum":100},"exact":{"type":"boolean"},"skip":{"type":"integer","minimum":0,"maximum":1000},"speaker":{"type":"string","enum":["person","agent","tool","notification"]},"tool":{"type":"string","maxLength":200},"path":{"type":"string","maxLength":1000},"since":{"anyOf":[{"type":"string","format":"date-time"},{"type":"string","format":"date"}]},"until":{"anyOf":[{"type":"string","format":"date-time"},{"type":"string","format":"date"}]},"session":{"type":"string","maxLength":64},"from":{"type":"integer","minimum":1,"maximum":2147483647},"to":{"type":"integer","minimum":1,"maximum":2147483647},"offset":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false}
    send_message (may be repeated): {"type":"object","properties":{"session":{"type":"string","minLength":1,"maxLength":200},"agent":{"type":"string","minLength":1,"maxLength":200},"channel":{"type":"string","minLength":1,"maxLength":200},"address":{"type":"string","minLength":1,"maxLength":200},"text":{"type":"string","minLength":1,"maxLength":100000}},"required":["text"],"additionalProperties":false}
    memory (may be repeated): {"type":"object","properties":{"action":{"type":"string","enum":["add","remove","list"]},"id":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,64}$"},"text":{"type":"string","minLength":1,"maxLength":600}},"required":["action"],"additionalProperties":false}
    schedule (may be repeated): {"type":"object","properties":{"action":{"type":"string","enum":["add","list","cancel"]},"text":{"type":"string","minLength":1,"maxLength":20000},"at":{"type":"string","maxLength":64},"in_seconds":{"type":"integer","minimum":1,"maximum":316224000},"every_seconds":{"type":"integer","minimum":60,"maximum":316224000},"cron":{"type":"string","maxLength":200},"timezone":{"type":"string","maxLength":64},"id":{"type":"string","maxLength":64}},"required":["action"],"additionalProperties":false}
    files (may be repeated): {"type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096},"offset":{"type":"integer","minimum":1,"maximum":1000000},"limit":{"type":"integer","minimum":1,"maximum":1000000},"again":{"type":"boolean"}},"required":["path"],"additionalProperties":false}
    process (runs once): {"type":"object","properties":{"action":{"type":"string","enum":["start","output","list","stop"]},"program":{"type":"string","minLength":1,"maxLength":500},"args":{"maxItems":200,"type":"array","items":{"type":"string","maxLength":20000}},"watch":{"maxItems":4,"type":"array","items":{"type":"string","minLength":1,"maxLength":300}},"time_seconds":{"type":"integer","minimum":1,"maximum":86400},"notify_end":{"type":"boolean"},"id":{"type":"string","maxLength":64},"from":{"type":"integer","minimum":0,"maximum":9007199254740991}},"required":["action"],"additionalProperties":false}"
  `)
})

it.each(Object.keys(all))('an agent has %s only if its configuration enables it', (name) => {
  const none = Object.fromEntries(Object.keys(all).map((each) => [each, { enabled: false }]))
  expect(toolsOf(none)).toEqual([])
  const one = toolsOf({ ...none, [name]: all[name as keyof typeof all] })
  expect(one.map((tool) => tool.name)).toEqual([name])
})
