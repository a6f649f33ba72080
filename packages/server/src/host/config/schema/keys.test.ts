import { expect, it } from 'vitest'
import { configSchema } from './schema.ts'
import { buildJsonSchema, fieldsOf, listKeys, needsRestartAt } from './walk.ts'

it('has these keys, each with its form, bounds and default', () => {
  const { $schema, title } = buildJsonSchema()
  const lines = listKeys().map(({ path, node }) => {
    const form = { ...node, fields: [...fieldsOf(node).keys()] }
    // Below it are keys of their own.
    const shown = (key: string, value: unknown) =>
      ['properties', 'additionalProperties', 'required', 'description'].includes(key)
        ? undefined
        : value
    const restart = needsRestartAt(path) ? 'restart' : 'at once'
    return `${path.join('.')} ${restart} ${JSON.stringify(form, shown)}`
  })
  expect([JSON.stringify({ $schema, title }), ...lines].join('\n')).toMatchSnapshot()
})

it.each([
  ['nothing', {}],
  ['an agent', { agents: { main: {} } }],
  ['gateways', { gateways: { telegram: {}, discord: {} } }],
  ['what can be switched on', { recall: { embeddings: { provider: 'ollama', model: 'm' } } }],
])('fills in what was not said: %s', (_, said) => {
  const { data, error } = configSchema.safeParse(said)
  expect(error?.issues).toBeUndefined()
  expect(data).toMatchSnapshot()
})
