import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { createFile } from '#core/base/files/write'
import { sessionId } from '#core/base/ids'
import { FailedError } from '../../../host/errors.ts'
import { onEndSignal, signalExitCode } from '../../../host/operating-system.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandForm, programLocation } from '../../hint.ts'
import { ServerRequests } from '../../server-client/requests.ts'
import { openServerRuntime } from '../../server-client/server-runtime.ts'
import { ServerSession } from '../../server-client/server-session.ts'
import { paintOn } from '../../terminal/colours.ts'
import { startDemoServer } from './demo-server.ts'
import { Tour } from './tour.ts'

export function demoCommand(): Command {
  const command = new Command('demo')
    .summary('a tour of one minute: compaction, a killed server, recall, undo')
    .description(
      'Shows what Throughline is for: a long conversation is compacted without a pause, the server ' +
        'is killed in the middle of an answer and continues, a compacted fact is recalled, and the ' +
        'compaction is undone. It starts a server of its own with the stand-in model and a store ' +
        'in a temporary folder, which it removes at the end. It needs no key.',
    )
    .option('--fast', 'without pauses for reading')
    .action(async (flags: { readonly fast?: true }) => {
      process.exitCode = await runDemo(flags.fast ? 0 : 1)
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'every step of the tour succeeded'],
      [EXIT.failed, 'a step failed'],
    ],
    examples: ['throughline demo', 'throughline demo --fast'],
  })
}

/** Early enough that the whole conversation still fits when the compaction is undone. */
const CONFIG = `agents: {main: {model: {windowTokens: 32000}}}
compaction: {softShare: 0.6}
`

async function runDemo(pace: number): Promise<number> {
  if (process.platform === 'win32') throw new FailedError('The tour needs Unix domain sockets.')
  const folder = mkdtempSync(join(tmpdir(), 'throughline-demo-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  const unlisten = onEndSignal((signal) => process.exit(signalExitCode(signal)))
  const store = join(folder, 'demo.db')
  createFile(`${store}.yaml`, CONFIG)
  const requests = new ServerRequests(store)
  const server = await startDemoServer(store, { port: '0' })
  const paint = paintOn(process.stdout)
  const write = (text: string) => void process.stdout.write(text)
  write(`The page of this server: ${paint('bold', server.url)}\n`)
  try {
    const runtime = await openServerRuntime(requests)
    await runtime.createSession({ agent: 'main', id: 'tour' })
    const session = new ServerSession(sessionId('tour'), requests)
    await new Tour({ store, server, requests, session, pace, paint, write }).run()
  } finally {
    requests.giveUp()
    await server.kill()
    removeFolder()
    unlisten()
  }
  const program = commandForm(programLocation())
  write(
    '\nThat is all. The server of this tour has ended, and its store is removed.\n' +
      `To try it yourself, run \`${program} serve\` and open the address that it prints; \`${program} chat\` talks to its agent in a second terminal.\n`,
  )
  return EXIT.done
}
