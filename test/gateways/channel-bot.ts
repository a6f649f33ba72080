import { AuditLog } from '../../packages/core/src/audit/log/log.ts'
import { type Clock, systemClock } from '../../packages/core/src/base/clock.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import { agentOn, openBot } from './discord/place.ts'

/**
 * One bot of the channel drill, in a process of its own: an agent, its gateway and its audit log, on
 * a store that it shares with the others. `{ skipMs }` moves its clock on; SIGTERM ends it in order,
 * and it dies with the drill.
 */
export interface ChannelBot {
  readonly agent: string
  readonly userId: string
  readonly windowTokens: number
  readonly path: string
  readonly auditFolder: string
  readonly discordUrl: string
  readonly modelUrl: string
  readonly channelId: string
  readonly otherBots: readonly string[]
  readonly hasBreaker: boolean
}

/** Hours pass when the drill says so; timers run as they do. */
class SkippingClock implements Clock {
  #skippedMs = 0

  now(): number {
    return systemClock.now() + this.#skippedMs
  }

  monotonic(): number {
    return systemClock.monotonic()
  }

  after(delayMs: number, callback: () => void): () => void {
    return systemClock.after(delayMs, callback)
  }

  skip(ms: number): void {
    this.#skippedMs += ms
  }
}

if (import.meta.main) {
  const bot = JSON.parse(process.argv[2] ?? '') as ChannelBot
  const clock = new SkippingClock()
  const store = await openSqliteStore({ path: bot.path })
  const audit = new AuditLog({ folder: bot.auditFolder, clock })
  const agents = [agentOn(bot.modelUrl, bot.agent, bot.windowTokens)]
  const runtime = await openRuntime({ store, agents, clock, audit })
  const { gateway } = openBot(bot.discordUrl, bot.userId, {
    ...{ store, runtime, agent: bot.agent, bots: bot.otherBots },
    allow: { chats: [bot.channelId], users: [] },
    ...(!bot.hasBreaker && { loopRule: null }),
  })
  process.on('message', ({ skipMs }: { readonly skipMs: number }) => clock.skip(skipMs))
  process.on('disconnect', () => process.exit(1))
  process.on('SIGTERM', async () => {
    await gateway.close()
    await runtime.close()
    audit.close()
    await store.close()
    process.exit(0)
  })
}
