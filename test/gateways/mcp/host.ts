import { systemClock } from '../../../packages/core/src/base/clock.ts'
import { McpServers } from '../../../packages/server/src/tools/mcp/servers.ts'

/** A runtime with one server that has a child of its own; tells their ids and waits to be killed. */
const servers = new McpServers({
  clock: systemClock,
  environment: {},
  readSecret: async () => '',
  onChange: () => {},
})
const args = [new URL('./hostile.ts', import.meta.url).pathname, 'plain']
const terms = { kind: 'program', command: process.execPath, args, folder: '.', env: {} } as const
const times = { variables: [], startMs: 15_000, callMs: 10_000 } as const
servers.configure(new Map([['ada', { good: { ...terms, ...times } }]]))
await servers.start()
const tool = servers.toolsOf('ada').find(({ name }) => name === 'good__pids')
const answer = await tool?.run({ input: {} } as never, new AbortController().signal)
process.stdout.write(`${answer?.output}\n`)
setInterval(() => {}, 1_000)
