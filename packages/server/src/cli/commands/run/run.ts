import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Command, Option } from 'commander'
import { makeFolder } from '#core/base/files/make-folder'
import { UsageError } from '../../../host/errors.ts'
import { signalExitCode, stateFolder } from '../../../host/operating-system.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandAnywhere, commandForm, programLocation, shellWord } from '../../hint.ts'
import { isInPath, shellPath } from '../../shell-path.ts'
import { printNotice } from '../../terminal/stderr.ts'
import { clientPrices, pricesVariable } from '../proxy/client-prices.ts'
import { addClientStoreOption, clientStore } from '../proxy/client-store.ts'
import { addProxyOptions, type ProxyFlags, proxyAddresses } from '../proxy/proxy.ts'
import { findClient } from './clients.ts'
import { ProxyProcess } from './proxy-process.ts'
import { pointAtStandIn } from './stand-in.ts'

/**
 * Tried first, so that programs that a client leaves running find the next proxy at the same
 * address.
 */
const PORT = 4_849

interface RunFlags extends ProxyFlags {
  readonly standIn?: true
}

export function runCommand(): Command {
  const command = new Command('run')
    .summary('start Claude Code, Codex or another agent and keep its conversations here')
    .description(
      'Starts the proxy and then the command, with its base URL set to the proxy for this run only. ' +
        'Recognizes claude, codex, opencode, pi and aider; for any other program it sets ANTHROPIC_BASE_URL and OPENAI_BASE_URL. ' +
        'If the proxy dies, it is restarted on the same port. If `run` itself is killed, the proxy goes on until the command ends. Ends with the exit code of the command.',
    )
    .argument('<command...>', 'the client and its arguments, after --')
    .addOption(
      new Option(
        '--stand-in',
        'try it without a key: the built-in stand-in answers instead of a provider',
      ).conflicts(['anthropic', 'openai']),
    )
  addProxyOptions(command).action(async (words: string[], flags: RunFlags) => {
    process.exitCode = await runClient(words, flags, command)
  })
  return withHelp(addClientStoreOption(command), {
    codes: [
      [EXIT.failed, 'the proxy or the command did not start'],
      [EXIT.usage, 'wrong usage or configuration'],
    ],
    examples: [
      'throughline run -- claude',
      'throughline run --stand-in -- claude',
      'throughline run -- codex exec "fix the tests"',
      'throughline run --store work.db -- opencode',
    ],
  })
}

/** As they were given, without addresses of providers: one may contain a credential. */
function givenOptions(command: Command): readonly string[] {
  const names = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  )
  return names.flatMap((option) => {
    const value: unknown = command.getOptionValue(option.attributeName())
    if (value === true) return [option.long ?? '']
    return [option.long ?? '', value instanceof URL ? '…' : shellWord(String(value))]
  })
}

async function runClient(
  words: readonly string[],
  flags: RunFlags,
  command: Command,
): Promise<number> {
  const [file, ...given] = words
  if (file === undefined) throw new UsageError('Name a command after --.')
  const client = findClient(file, { env: process.env, folder: process.cwd() })
  const prices = flags.standIn === true ? 'free' : await clientPrices(flags)
  const model = flags.standIn === true ? await startStandIn() : null
  const store = clientStore(flags, model === null ? 'clients.db' : 'stand-in.db')
  const folder = stateFolder()
  makeFolder(folder)
  const logFile = join(folder, 'proxy.log')
  const program = process.argv[1] ?? ''
  const proxy = new ProxyProcess({
    command: [
      ...[process.execPath, ...process.execArgv, program, 'proxy', '--store', store],
      ...(flags.window === undefined ? [] : ['--window', String(flags.window)]),
    ],
    env: {
      ...proxyAddresses(model?.addresses ?? { ...flags, upstream: client.upstreams }),
      ...pricesVariable(prices),
    },
    ...{ port: PORT, logFile },
  })
  try {
    const url = `http://127.0.0.1:${await proxy.start()}`
    const launch = `${client.name}-${randomUUID().slice(0, 8)}`
    const start =
      model === null ? client.point(url, launch) : pointAtStandIn(client.name, url, launch)
    const { env, args, folder: made } = start
    if (model !== null) {
      printNotice('throughline: the built-in stand-in answers; it only repeats what it reads')
    }
    printNotice(`throughline: conversations are kept in ${store}`)
    const program = commandAnywhere(programLocation())
    const recall = client.recall(
      `${program} mcp --store ${shellWord(store)} --agent ${client.name}`,
    )
    if (recall !== null) printNotice(`throughline: to let it search them, run once: ${recall}`)
    const started = (client: number) => proxy.serve({ client, isModelOfRun: model !== null })
    const around = { ...shellEnvironment(file), ...env }
    const code = await finish(file, [...args, ...given], around, started).finally(() => {
      if (made !== undefined) rmSync(made, { recursive: true, force: true })
    })
    // After its end every message of the proxy has arrived.
    await proxy.end()
    const { conversation } = proxy
    if (conversation?.client === client.name && client.resume !== undefined) {
      const again = [file, ...client.resume(conversation.session)].map(shellWord)
      const run = [commandForm(programLocation()), 'run', ...givenOptions(command), '--', ...again]
      printNotice(`throughline: to continue this conversation, run: ${run.join(' ')}`)
    }
    return code
  } finally {
    await proxy.end()
    await model?.close()
  }
}

/** Its address contains a secret, so that no other user of the computer can use it. */
async function startStandIn() {
  const { standIn } = await import('../../../stand-in/server.ts')
  const { url, close } = await standIn({ journalEntriesMax: 1 }).start({ isPrivate: true })
  const address = new URL(url)
  const addresses = { anthropic: address, openai: address, upstream: new Map<string, URL>() }
  return { addresses, close }
}

/**
 * The environment of the user's shell: the client starts as it would there. A client that npx alone
 * finds, in its own folders, gets those as well.
 */
function shellEnvironment(file: string): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: cache, ...env } = process.env
  const path = shellPath(env)
  return {
    ...env,
    ...((basename(file) !== file || isInPath(file, path)) && { PATH: path }),
    // `bin/throughline.js` sets this one for our own threads.
    ...(cache?.endsWith(OWN_COMPILE_CACHE) === false && { NODE_COMPILE_CACHE: cache }),
  }
}

const OWN_COMPILE_CACHE = join('.cache', 'throughline')

/** The command has the terminal, so signals that reach us are passed to it. */
function finish(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  onStart: (pid: number) => void,
): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const child = spawn(file, args, { env, stdio: 'inherit' })
  if (child.pid !== undefined) onStart(child.pid)
  const hand = (signal: NodeJS.Signals) => child.kill(signal)
  // The terminal sends Ctrl-C to both.
  const ignore = () => {}
  process.on('SIGINT', ignore)
  process.on('SIGTERM', hand)
  process.on('SIGHUP', hand)
  const done = (code: number) => {
    process.off('SIGINT', ignore)
    process.off('SIGTERM', hand)
    process.off('SIGHUP', hand)
    resolve(code)
  }
  child.once('error', (error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'ENOENT'
        ? `it is not installed, or not in PATH. If it is an alias of your shell, give its path: see \`type ${shellWord(file)}\``
        : error.message
    printNotice(`throughline: ${file} did not start: ${why}`)
    done(EXIT.failed)
  })
  child.once('exit', (code, signal) => done(code ?? signalExitCode(signal ?? 'SIGTERM')))
  return promise
}
