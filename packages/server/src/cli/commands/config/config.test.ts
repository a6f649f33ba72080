import { readFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { sample, screens } from '../../../../../../test/terminal/screens.ts'

const { screen, write } = screens()

beforeEach(() => {
  // Long paths would be cut at places of their own on each machine.
  const text = readFileSync(sample('version-0.1.0/throughline.yaml'), 'utf8')
  write('good.yaml', text.replace('[.]', '[/srv]').replace(/store: .*/, 'store: /srv/a.db'))
  write('bad.yaml', 'agents: {main: {stepMax: 3}}\nhttp: {port: x}\nlogging: {level: 7}\n')
  write(
    'doubt.yaml',
    'agents: {main: {model: {provider: openai-compatible, model: m, baseUrl: "http://x/v1"}}}\n',
  )
  write('torn.yaml', 'agents: [\n')
})

it.each([
  'config check --config FOLDER/good.yaml',
  'config check --config FOLDER/bad.yaml',
  'config check --json --config FOLDER/bad.yaml',
  'config check --config FOLDER/doubt.yaml',
  'config check --config FOLDER/torn.yaml',
  'config check --config FOLDER/none.yaml',
  'config check --json --config FOLDER/good.yaml',
  'config check --config FOLDER/good.yaml --set http.port=99999',
  'config show --config FOLDER/good.yaml',
  'config show --origin --config FOLDER/good.yaml --set http.port=9',
  'config show --config FOLDER/bad.yaml',
  'config show --config FOLDER/doubt.yaml',
  'config init -o FOLDER/new.yaml',
  'config init --yes -o FOLDER/good.yaml',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
