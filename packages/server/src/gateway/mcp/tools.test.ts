import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { buildMcpServer } from './server.ts'

it('offers these tools, with their inputs, outputs and hints', async () => {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const server = buildMcpServer({ version: '7' } as never)
  const client = new Client({ name: 'test', version: '1' })
  await Promise.all([server.connect(there), client.connect(here)])
  const { tools } = await client.listTools()
  const told = [client.getServerVersion(), client.getInstructions(), ...tools]
  expect(told.map((each) => JSON.stringify(each)).join('\n')).toMatchSnapshot()
  await client.close()
})
