import { join } from 'node:path'
import { AuditLog } from '../../packages/core/src/audit/log/log.ts'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import type { SessionSettings } from '../../packages/core/src/session/settings.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import type { Tokens } from '../../packages/server/src/gateway/http/access/access.ts'
import { serveHttp } from '../../packages/server/src/gateway/http/serve.ts'
import { routesSchema } from '../../packages/server/src/model/routes/routes.ts'
import { type LocalRuntime, openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../packages/server/src/runtime/runtime-options.ts'
import type { ToolDependencies } from '../../packages/server/src/runtime/tools/tool-dependencies.ts'
import {
  type StandIn,
  type StandInOptions,
  standIn,
} from '../../packages/server/src/stand-in/index.ts'
import { tasksTool } from '../../packages/server/src/tools/tasks.ts'
import type { Tool } from '../../packages/server/src/tools/tool.ts'

/** The whole product behind the page, in this process. */
export interface Place {
  readonly url: string
  readonly runtime: LocalRuntime
  readonly model: StandIn
  /** Says something and waits for the answer. */
  readonly ask: (id: string, text: string) => Promise<void>
  readonly close: () => Promise<void>
}

export interface PlaceOptions {
  readonly folder: string
  readonly store?: Store
  readonly port?: number
  readonly tokens?: Tokens
  readonly clearingPath?: string
  readonly windowTokens?: number
  readonly model?: StandInOptions
  readonly settings?: Partial<SessionSettings>
  /** Beside the one for tasks. */
  readonly tools?: (dependencies: ToolDependencies) => readonly Tool[]
  readonly seams?: RuntimeOptions['seams']
  readonly leftOf?: RuntimeOptions['leftOf']
  /** Where the store's file, audit logs and the picture of a rehearsal stand. */
  readonly home?: string
}

/** With each of them the server looks whether whoever listens still may. */
const HEARTBEAT_MS = 500

/** What writes summaries, so that a fault can be aimed at them alone. */
export const SUMMARIES = 'stand-in-summaries'

export async function openPlace(options: PlaceOptions): Promise<Place> {
  const { folder, port = 0, tokens, windowTokens = 200_000, settings, seams = {}, home } = options
  const { clearingPath } = options
  const store = options.store ?? openMemoryStore()
  const model = standIn(options.model)
  const running = await model.start()
  const route = {
    provider: 'openai-chat',
    baseUrl: `${running.url}/v1`,
    credential: { kind: 'none' },
    windowTokens,
  }
  const agent = {
    name: 'main',
    system: 'You help.',
    tools: (dependencies: ToolDependencies) => [
      tasksTool(dependencies),
      ...(options.tools?.(dependencies) ?? []),
    ],
    routes: routesSchema.parse({
      main: { ...route, model: 'stand-in' },
      auxiliary: { compaction: { ...route, model: SUMMARIES } },
    }),
    ...(settings !== undefined && { settings }),
  }
  const auditFolder = home === undefined ? undefined : join(home, 'audit')
  const audit =
    auditFolder === undefined ? null : new AuditLog({ folder: auditFolder, clock: systemClock })
  const { leftOf } = options
  const parts = { store, agents: [agent], seams, ...(leftOf !== undefined && { leftOf }) }
  const runtime = await openRuntime({ ...parts, ...(audit !== null && { audit }) })
  const server = await serveHttp({
    runtime,
    port,
    dashboardFolder: folder,
    limits: { requestsPerMinute: 6_000_000, graceMs: 500, heartbeatMs: HEARTBEAT_MS },
    ...(tokens !== undefined && { tokens }),
    ...(clearingPath !== undefined && { clearingPath }),
    ...(home !== undefined &&
      auditFolder !== undefined && {
        diagnostics: {
          storeBytes: () => store.readSize(),
          auditFolder,
          rehearsalFile: join(home, 'rehearsal.json'),
        },
      }),
  })
  return {
    url: server.url,
    runtime,
    model,
    async ask(id, text) {
      const parts = [{ type: 'text' as const, text }]
      const session = runtime.session(id as never)
      const admitted = await session.admit({ source: 'test', key: crypto.randomUUID(), parts })
      if (!('mail' in admitted)) throw new Error(`Not taken: ${admitted.kind}`)
      await session.reply(admitted.mail, AbortSignal.timeout(20_000))
    },
    async close() {
      await server.close()
      await runtime.close()
      audit?.close()
      await store.close()
      await running.close()
    },
  }
}
