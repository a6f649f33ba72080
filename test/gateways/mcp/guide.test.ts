import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it } from 'vitest'
import { isObject } from '../../../packages/core/src/base/json.ts'
import { PROGRAM, runCli } from '../../support/run-cli.ts'
import { closeAfterAll, temporaryFolder } from './world.ts'

closeAfterAll()

const root = join(import.meta.dirname, '..', '..', '..')
const guide = readFileSync(join(root, 'docs', 'guides', 'mcp.md'), 'utf8')
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\n([^\`]*?)\n\`\`\`$`, 'gm'))].map(
    (match) => match[1] ?? '',
  )

describe('docs/guides/mcp.md', () => {
  it('shows a configuration and commands that work, for a memory as it is started there', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'throughline.yaml'), blocks('yaml')[0] ?? '')
    const [json = ''] = blocks('json')
    const { memory } = JSON.parse(json).mcpServers
    expect(memory.command).toBe('npx')
    const [name, ...args] = memory.args as string[]
    expect(name).toBe('throughline')
    const client = new Client({ name: 'guide', version: '1' })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM, ...args],
        cwd,
        stderr: 'ignore',
      }),
    )
    const { tools } = await client.listTools()
    const listed = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1])
    expect(listed).toEqual(tools.map((tool) => tool.name))
    const messages = [{ key: '1', role: 'user', text: 'The word is basalt.' }]
    const asked = { session: 'notes-of-ada', messages }
    const { structuredContent } = await client.callTool({
      ...{ name: 'session_append', arguments: asked },
    })
    expect(isObject(structuredContent)).toBe(true)
    await client.close()
    const commands = blocks('sh').flatMap((block) => block.split('\n'))
    expect(commands).toHaveLength(4)
    const runs = commands.map(async (command) => {
      const { exitCode, stderr } = await runCli(command.replace('npx throughline ', ''), { cwd })
      expect({ command, exitCode, stderr }).toMatchObject({ command, exitCode: 0 })
    })
    await Promise.all(runs)
  }, 120_000)
})
