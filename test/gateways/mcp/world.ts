import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { systemClock } from '../../../packages/core/src/base/clock.ts'
import type { JsonValue } from '../../../packages/core/src/base/json.ts'
import type {
  McpProgram,
  McpServerConfig,
} from '../../../packages/server/src/tools/mcp/server-config.ts'
import { McpServers, type McpServersParts } from '../../../packages/server/src/tools/mcp/servers.ts'
import type { Tool, ToolAnswer } from '../../../packages/server/src/tools/tool.ts'

const hostile = join(import.meta.dirname, 'hostile.ts')

/** Programs are slow to start on a busy machine. */
export const HOOK_MS = 60_000
const closers: (() => unknown)[] = []

/** Everything that a file opened ends with it, all at once: programs take a moment each. */
export function closeAfterAll(): void {
  afterAll(async () => {
    await Promise.all(closers.splice(0).map((close) => close()))
  }, HOOK_MS)
}

export function closeLater(close: () => unknown): void {
  closers.push(close)
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-mcp-'))
  closeLater(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function program(args: readonly string[], more: Partial<McpProgram> = {}): McpProgram {
  return {
    ...{ kind: 'program', command: process.execPath, args, folder: import.meta.dirname },
    ...{ env: {}, variables: [], startMs: 15_000, callMs: 10_000, ...more },
  }
}

export function hostileProgram(mode: string, more: Partial<McpProgram> & { trace?: string } = {}) {
  const { trace = '', ...terms } = more
  return program([hostile, mode, trace], terms)
}

export interface World {
  readonly servers: McpServers
  readonly changes: () => number
  tools(): readonly Tool[]
  tool(name: string): Tool
  call(name: string, input?: JsonValue, signal?: AbortSignal): Promise<ToolAnswer>
}

/** The servers of one agent, started. */
export async function openWorld(
  terms: Readonly<Record<string, McpServerConfig>>,
  parts: Partial<McpServersParts> = {},
): Promise<World> {
  let changes = 0
  const servers = new McpServers({
    clock: systemClock,
    environment: {},
    readSecret: async () => 'hidden',
    onChange: () => {
      changes += 1
    },
    ...parts,
  })
  closeLater(() => servers.close())
  servers.configure(new Map([['ada', terms]]))
  await servers.start()
  const tools = () => servers.toolsOf('ada')
  const tool = (name: string) => {
    const found = tools().find((each) => each.name === name)
    if (found === undefined) throw new Error(`No tool ${name}: ${tools().map((t) => t.name)}`)
    return found
  }
  const call: World['call'] = async (name, input = {}, signal = new AbortController().signal) =>
    await tool(name).run({ ...CALL, input }, signal)
  return { servers, changes: () => changes, tools, tool, call }
}

const CALL = { sessionId: 's', agent: 'ada', turn: 1, entry: 1, key: 'k' } as never as Omit<
  Parameters<Tool['run']>[0],
  'input'
>
