import { randomUUID } from 'node:crypto'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { Runner } from '../../packages/core/src/session/runner/runner.ts'
import { Sender } from '../../packages/core/src/session/sender.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { COMPOSITION, type Composition } from '../simulation/composition.ts'
import type { AgentOptions } from './agent-options.ts'
import { withFailpoints } from './failpoints.ts'
import { fileEdge, note, scriptedSteps, scriptedTools, scriptedWriter } from './far-ends.ts'
import { openPlace } from './place.ts'
import { SendingClient } from './sending-client.ts'

/**
 * An agent in its own process: a store, a runner with a scripted model, tools and edge, and a
 * sender. Shuts down cleanly on SIGTERM, and at once when its parent is gone.
 */
const options = JSON.parse(process.argv[2] ?? '') as AgentOptions
const { folder, name, paces } = options
process.stdin.on('end', () => process.exit(1)).resume()

const composition = await compose()
const store = composition.store(watched(withFailpoints(await openPlace(options.place))))
const tools = composition.tools(scriptedTools(folder, paces))
const runner = new Runner({
  store,
  clock: systemClock,
  steps: composition.steps(scriptedSteps(folder, paces), tools),
  tools,
  writers: {
    model: composition.writer(scriptedWriter('model', folder, paces)),
    digest: composition.writer(scriptedWriter('digest', folder, paces)),
  },
  settings: {
    ...composition.settings,
    lingerMs: 40,
    idleCompactionMs: 100,
    retryMs: 50,
    retryMsMax: 400,
    modelRetryMs: 50,
    modelRetryMsMax: 400,
    attemptsPerWindow: 1_000,
    attemptWindowMs: 1_000,
    ...(options.atHardLimit !== undefined && { atHardLimit: options.atHardLimit }),
  },
  handoffMsMax: 120_000,
  decisions: composition.decisions,
  agents: options.agents,
  host: { boot: 'here', process: process.pid },
  lease: options.lease,
  random: () => randomUUID().replaceAll('-', ''),
  sender: new Sender({
    store,
    clock: systemClock,
    edges: [fileEdge(folder)],
    retryMs: 50,
    attemptsMax: 50,
  }),
  onCrash: (sessionId, error) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    note(folder, 'crashes', `${name} ${sessionId} ${text.replaceAll('\n', ' | ')}`)
  },
})
runner.start()
// Before it reports that it is ready: the parent may send the signal at once.
process.on('SIGTERM', () => void end())
console.log('ready')
if (options.sends !== undefined) {
  const client = new SendingClient({ store, folder, name, sessions: options.sends.sessions })
  await client.run(options.sends.paceMs, options.sends.count)
}

async function end(): Promise<void> {
  await runner.close()
  await store.close()
  process.exit(0)
}

async function compose(): Promise<Composition> {
  const wanted = process.env['AGENT_MUTANT']
  if (wanted === undefined) return COMPOSITION
  const { plantMutant } = await import('./planted.ts')
  return plantMutant(wanted)
}

/** Logs which of our commits were refused because another process holds the session. */
function watched(inner: Store): Store {
  return new Proxy(inner, {
    get(target, verb) {
      const method = target[verb as keyof Store] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        const result = method(...args)
        if (result instanceof Promise)
          void result.then(
            (outcome) => tell(verb, outcome),
            () => {},
          )
        return result
      }
    },
  })
}

function tell(verb: string | symbol, outcome: { readonly kind?: string } | undefined): void {
  if (outcome?.kind !== 'superseded' && outcome?.kind !== 'lost') return
  note(folder, 'outcomes', `${name} ${String(verb)} ${outcome.kind}`)
}
