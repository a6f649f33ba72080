import { existsSync } from 'node:fs'
import { Command } from 'commander'
import type { HttpServer } from '../../../gateway/http/serve.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { Host } from '../../../host/open-host.ts'
import { onEndSignal } from '../../../host/operating-system.ts'
import { keepYoungGenerationSmall } from '../../../runtime/young-generation.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandForm, programLocation } from '../../hint.ts'
import { addStoreOptions } from '../../store-options.ts'
import { paintOn } from '../../terminal/colours.ts'
import { countOption } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { followConfig, printWarnings } from './follow-config.ts'
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
    .option(
      '--host <address>',
      'the address to listen on; if it is not loopback, callers need a token',
    )
    .addOption(countOption('--port <n>', 'the port; 0: any free port', { min: 0, max: PORT_MAX }))
    .option('--json', 'once it listens, print the address as JSON')
    .action(async (flags: ServeFlags) => {
      process.exitCode = await runServe(flags, endMsMax)
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'stopped cleanly; after a second signal 130 or 143, as in shells'],
      [EXIT.failed, 'the store cannot be reached now'],
      [EXIT.usage, 'wrong usage or configuration, or the address is in use'],
    ],
    examples: [
      'throughline serve',
      'throughline serve --port 8080 --store postgres://db.example/agents',
    ],
  })
}

async function runServe(flags: ServeFlags, endMsMax: number): Promise<number> {
  keepYoungGenerationSmall()
  const { openHost } = await import('../../../host/open-host.ts')
  const { openServed } = await import('../../../host/open-http.ts')
  const { openGateways } = await import('../../../host/open-gateways.ts')
  const asked = Promise.withResolvers<void>()
  const unlisten = onEndSignal((signal) => {
    printNotice(`${signal}: stopping cleanly; a second signal ends at once.`)
    // Counts from the signal, because a part that is still opening may also hang.
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
    closers.push(await followConfig(withAddress(flags), host))
    await welcome(host, served, flags)
    printWarnings(host.loaded.warnings)
    if (host.embedsAt !== null) {
      printNotice(
        `recall: the text of every message, and every question, is sent to ${host.embedsAt} to be embedded.`,
      )
    }
    if (gateways.names.length > 0) printNotice(`chats: ${gateways.names.join(', ')}`)
    await asked.promise
  } finally {
    for (const close of closers.toReversed()) await close()
  }
  return EXIT.done
}

/** Acknowledged messages are durable, so ending before a part has closed loses nothing. */
function endAnyway(): void {
  printNotice('not everything closed in time; ending anyway. Acknowledged messages are kept.')
  process.exit(EXIT.failed)
}

/** Flags override the configuration for one run. */
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
    // An address with a password is not shown, and does not work without it.
    named:
      flags.store === undefined || displayUrl(flags.store) !== flags.store ? null : flags.store,
  }
  process.stderr.write(welcomeText(facts, paintOn(process.stderr)))
}
