import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { KnownError } from '#core/base/errors'
import type { HttpServer } from '../../../gateway/http/serve.ts'
import type { ConfigChange } from '../../../host/config/compare.ts'
import type { Loaded } from '../../../host/config/load.ts'
import { problemText } from '../../../host/config/read/problem.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { Host } from '../../../host/open-host.ts'
import { onEndSignal } from '../../../host/platform.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandForm, programLocation } from '../../hint.ts'
import { addStoreOptions } from '../../store-options.ts'
import { paintOn } from '../../terminal/colours.ts'
import { countOption } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { welcomeText } from './welcome.ts'

interface ServeFlags extends StoreFlags {
  readonly host?: string
  readonly port?: number
  readonly json?: true
}

const PORT_MAX = 65_535

const END_MS_MAX = 20_000

export function serveCommand({ endMsMax = END_MS_MAX } = {}): Command {
  const command = new Command('serve')
    .summary('run agents and answer over HTTP until stopped')
    .description(
      'Runs the configured agents and answers over HTTP. Several processes may serve one store. ' +
        'Without a configuration there is one agent, `main`, on the built-in stand-in model. A ' +
        'changed configuration file takes effect while it runs.',
    )
    .option('--host <address>', 'where to listen; other than loopback needs a token')
    .addOption(countOption('--port <n>', 'which port; 0: any free one', { min: 0, max: PORT_MAX }))
    .option('--json', 'print where it listens as JSON once it does')
    .action(async (flags: ServeFlags) => {
      process.exitCode = await runServe(flags, endMsMax)
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'stopped cleanly; after a second signal 130 or 143, as in shells'],
      [EXIT.failed, 'the store cannot be reached now'],
      [EXIT.usage, 'wrong usage or configuration, or the address is taken'],
    ],
    examples: [
      'throughline serve',
      'throughline serve --port 8080 --store postgres://db.example/agents',
    ],
  })
}

async function runServe(flags: ServeFlags, endMsMax: number): Promise<number> {
  const { openHost } = await import('../../../host/open-host.ts')
  const { openServed } = await import('../../../host/open-http.ts')
  const { openGateways } = await import('../../../host/open-gateways.ts')
  const asked = Promise.withResolvers<void>()
  const unlisten = onEndSignal((signal) => {
    printNotice(`${signal}: stopping cleanly; a second signal ends at once.`)
    // Counts from the signal: something that is still being opened may hang too.
    setTimeout(endAnyway, endMsMax).unref()
    asked.resolve()
  })
  const host = await openHost(withAddress(flags), { runs: true, mayMake: true })
  const closers: (() => void | Promise<void>)[] = [unlisten, () => host.close()]
  try {
    const served = await openServed(host)
    closers.push(async () => await served?.close())
    const gateways = await openGateways(host)
    closers.push(() => gateways.close())
    closers.push(await watch(flags, host))
    await welcome(host, served, flags)
    printWarnings(host.loaded.warnings)
    if (gateways.names.length > 0) printNotice(`chats: ${gateways.names.join(', ')}`)
    await asked.promise
  } finally {
    for (const close of closers.toReversed()) await close()
  }
  return EXIT.done
}

/** Acknowledged messages are durable, so a part that does not close loses nothing. */
function endAnyway(): void {
  printNotice('not everything closed in time; ending anyway. Acknowledged messages are kept.')
  process.exit(EXIT.failed)
}

/** Flags are values of the configuration for one run. */
function withAddress({ host, port, set = [], ...flags }: ServeFlags): StoreFlags {
  return {
    ...flags,
    set: [
      ...set,
      ...(host === undefined ? [] : [`http.host=${host}`]),
      ...(port === undefined ? [] : [`http.port=${port}`]),
    ],
  }
}

async function welcome(host: Host, served: HttpServer | null, flags: ServeFlags): Promise<void> {
  const { loaded, runtime } = host
  const url = served?.url ?? null
  const { agents } = runtime
  const { displayUrl } = await import('../../../host/store-selection.ts')
  const store = displayUrl(loaded.config.store.url)
  if (flags.json) {
    const names = agents.map(({ name }) => name)
    await writeOutput('-', jsonLine({ url, store, agents: names, process: process.pid }))
  }
  const { findChoices } = await import('../config/choices.ts')
  const { tokenFile } = await import('../../../host/first-token.ts')
  const token = tokenFile(loaded.config.store.url)
  const { isStandIn } = host
  const choices = isStandIn ? await findChoices(process.env) : []
  const found = choices.filter(({ provider }) => provider !== 'stand-in')
  const facts = {
    url,
    socket: served === null ? null : (loaded.config.http.socket ?? null),
    store,
    agents,
    isStandIn,
    found: found.map(({ label, hint }) => `${label} (${hint})`),
    open: served?.open ?? 'nobody',
    tokenFile: existsSync(token) ? token : null,
    program: commandForm(programLocation()),
  }
  process.stderr.write(welcomeText(facts, paintOn(process.stderr)))
}

async function watch(flags: ServeFlags, host: Host): Promise<() => void> {
  const { watchConfig } = await import('../../../host/config/watch.ts')
  const { storeRequest: loadRequest } = await import('../../../host/store-selection.ts')
  return watchConfig({
    load: loadRequest(withAddress(flags)),
    current: host.loaded,
    onChange: (loaded, change) => {
      apply(host, loaded, change)
      printWarnings(loaded.warnings)
    },
    onBroken: (problems) => {
      for (const problem of problems) printNotice(`configuration: ${problemText(problem)}`)
      printNotice('configuration: keeping the previous configuration.')
    },
  })
}

/** One may be about a variable that is missing in this process only. */
function printWarnings(warnings: Host['loaded']['warnings']): void {
  for (const warning of warnings) printNotice(`configuration: ${problemText(warning)}`)
}

function apply(host: Host, loaded: Loaded, { applies, needsRestart }: ConfigChange): void {
  if (applies.length > 0) {
    const before = namesOf(host)
    try {
      host.runtime.reconfigure(host.agentsFrom(loaded))
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      printNotice(`configuration: ${error.message}`)
      printNotice('configuration: keeping the previous configuration.')
      return
    }
    host.logger.setLevel(loaded.config.logging.level)
    printNotice(`configuration: changed ${applies.join(', ')}; in effect from the next turn on.`)
    const after = namesOf(host)
    for (const name of before.filter((each) => !after.includes(each))) {
      printNotice(
        `configuration: agent ${name} was removed; messages to its sessions wait until it is back.`,
      )
    }
  }
  if (needsRestart.length > 0) {
    printNotice(`configuration: ${needsRestart.join(', ')} needs a restart.`)
  }
}

function namesOf({ runtime }: Host): readonly string[] {
  return runtime.agents.map(({ name }) => name)
}
