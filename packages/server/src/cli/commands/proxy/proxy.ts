import { Command, InvalidArgumentError, Option } from 'commander'
import { FailedError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { onEndSignal } from '../../../host/operating-system.ts'
import type { RecorderOptions } from '../../../runtime/client-sessions/recorder.ts'
import { keepYoungGenerationSmall } from '../../../runtime/young-generation.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { countOption } from '../../terminal/numbers.ts'
import { printNotice } from '../../terminal/stderr.ts'
import { clientPrices, pricesIn } from './client-prices.ts'
import { addClientStoreOption, clientStore } from './client-store.ts'
import { RunChannel } from './run-channel.ts'

export interface ProxyFlags extends StoreFlags {
  readonly port: number
  readonly anthropic: URL
  readonly openai: URL
  readonly window?: number
  readonly upstream: ReadonlyMap<string, URL>
  readonly handedOver?: true
}

export function proxyCommand(): Command {
  const command = new Command('proxy')
    .summary('record and compact the conversations of other agents, as a proxy')
    .description(
      'Serves the APIs of Anthropic and OpenAI on this computer and forwards every request to the ' +
        'provider. Conversations are recorded in the store. Before a conversation fills the ' +
        "model's window, a handoff replaces its older part in the request. Credentials " +
        'pass through and are never stored. `throughline run` starts it together with a client.',
    )
    .addOption(
      countOption('--port <port>', 'listen on this port', { min: 0, max: 65_535 }).default(4_848),
    )
    .addOption(new Option('--handed-over', 'connections come from the parent process').hideHelp())
    .addOption(
      new Option(
        '--upstream <name=url>',
        'forward requests to /p/<name> to this address; repeatable',
      )
        .argParser(addUpstream)
        .default(upstreamsIn(process.env[UPSTREAMS] ?? ''), 'none'),
    )
  addProxyOptions(command).action(async (flags: ProxyFlags) => {
    process.exitCode = await runProxy(flags)
  })
  return withHelp(addClientStoreOption(command), {
    codes: [
      [EXIT.done, 'stopped by a signal'],
      [EXIT.failed, 'the port is in use, or the store cannot be reached now'],
      [EXIT.usage, 'wrong usage or configuration'],
    ],
    examples: [
      'throughline proxy',
      'ANTHROPIC_BASE_URL=http://127.0.0.1:4848 claude',
      'throughline proxy --port 9000 --openai https://gateway.example/v1',
    ],
  })
}

/** The options that `run` passes on. */
export function addProxyOptions(command: Command): Command {
  const { ANTHROPIC_BASE_URL: anthropic, OPENAI_BASE_URL: openai } = process.env
  return command
    .addOption(
      urlOption('--anthropic <url>', 'forward requests for Anthropic to this address').default(
        new URL(anthropic || 'https://api.anthropic.com'),
        'ANTHROPIC_BASE_URL if it is set, else https://api.anthropic.com',
      ),
    )
    .addOption(
      urlOption('--openai <url>', 'forward requests for OpenAI to this address').default(
        new URL(openai || 'https://api.openai.com/v1'),
        'OPENAI_BASE_URL if it is set, else https://api.openai.com/v1',
      ),
    )
    .addOption(
      countOption(
        '--window <tokens>',
        "the model's context window; default: known from the model's name",
        {
          min: 4_000,
          max: 100_000_000,
        },
      ),
    )
    .option(
      '--config <file>',
      'a configuration file with prices (`limits.prices`); default: throughline.yaml in ' +
        'this folder or above',
    )
}

/** For the proxy that `run` starts. */
const UPSTREAMS = 'THROUGHLINE_PROXY_UPSTREAMS'

/** As variables of the environment: an address may contain a credential. */
export function proxyAddresses({
  anthropic,
  openai,
  upstream,
}: Pick<ProxyFlags, 'anthropic' | 'openai' | 'upstream'>) {
  return {
    ANTHROPIC_BASE_URL: anthropic.href,
    OPENAI_BASE_URL: openai.href,
    [UPSTREAMS]: [...upstream].map(([name, url]) => `${name}=${url.href}`).join(' '),
  }
}

function upstreamsIn(text: string): ReadonlyMap<string, URL> {
  const none: ReadonlyMap<string, URL> = new Map()
  return text
    .split(' ')
    .filter((each) => each !== '')
    .reduce((before, each) => addUpstream(each, before), none)
}

function addUpstream(text: string, before: ReadonlyMap<string, URL>): ReadonlyMap<string, URL> {
  const [, name = '', value = ''] = /^([\w-]{1,64})=(.*)$/.exec(text) ?? []
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('Give a name, "=" and an http:// or https:// address.')
  }
  return new Map([...before, [name, url]])
}

function urlOption(flags: string, text: string): Option {
  return new Option(flags, text).argParser((value) => {
    const url = URL.parse(value)
    if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
    throw new InvalidArgumentError('Give an http:// or https:// address.')
  })
}

/** Tells `run` which conversation its client has, so that it can say how to resume it. */
function conversationTeller(): NonNullable<RecorderOptions['onRecorded']> {
  let told = ''
  return ({ client, session, isHint, agent, parent }) => {
    const isMain = session !== null && isHint !== true && agent === null && parent === null
    if (!isMain || session === told || !process.connected) return
    told = session
    // `run` may end at this moment; an error would end the proxy before its last writes.
    process.send?.({ client, session }, undefined, undefined, () => {})
  }
}

async function runProxy(flags: ProxyFlags): Promise<number> {
  keepYoungGenerationSmall()
  const { withStore } = await import('../../../host/store-selection.ts')
  const { openLogger } = await import('../../../host/open-logger.ts')
  const { Recorder } = await import('../../../runtime/client-sessions/recorder.ts')
  const { serveProxy } = await import('../../../gateway/proxy/serve.ts')
  const { ListenError } = await import('../../../gateway/listening.ts')
  const { systemClock } = await import('#core/base/clock')
  const asked = Promise.withResolvers<void>()
  const unlisten = onEndSignal(() => asked.resolve())
  const run = flags.handedOver === true ? new RunChannel() : null
  void run?.ended.then(() => asked.resolve())
  const store = clientStore(flags)
  const prices = run !== null ? pricesIn(process.env) : await clientPrices(flags)
  try {
    return await withStore(
      { ...flags, store },
      async (opened) => {
        const logger = openLogger({ level: 'info', pretty: 'auto' }, process.stderr)
        const { window: windowTokens, anthropic, openai } = flags
        const recorder = new Recorder({
          ...{ store: opened, clock: systemClock, logger, prices },
          ...(windowTokens !== undefined && { windowTokens }),
          ...(run !== null && { onRecorded: conversationTeller() }),
        })
        const upstreams = { anthropic, openai, named: flags.upstream }
        const proxy = await serveProxy({
          ...{ recorder, upstreams, logger, port: flags.port, proxyEnv: process.env },
          ...(run !== null && { accept: (take) => run.accept(take) }),
        }).catch((error: unknown) => {
          throw error instanceof ListenError ? new FailedError(error.message) : error
        })
        if (run !== null) run.onModelGone = () => void proxy.close()
        printNotice(`proxy: ${proxy.url} forwards to ${anthropic.origin} and ${openai.origin}`)
        printNotice(`proxy: conversations are stored in ${store}`)
        if (proxy.open === 'every-user') {
          printNotice(
            'proxy: this system does not report who connects, so every local user can use the proxy',
          )
        }
        process.send?.('ready')
        await asked.promise
        await proxy.close()
        await recorder.close()
        return EXIT.done
      },
      { mayMake: true },
    )
  } finally {
    unlisten()
    run?.close()
  }
}
