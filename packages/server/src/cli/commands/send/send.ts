import { randomUUID } from 'node:crypto'
import { Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '#core/base/clock'
import { type MailNumber, type SessionId, sessionId } from '#core/base/ids'
import { FailedError, UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { storeOf } from '../../../host/store-selection.ts'
import type { StoreRuntime } from '../../../host/with-runtime.ts'
import type { Reply, Runtime, Session } from '../../../runtime/runtime.ts'
import { COMMAND_SOURCE, requireAccepted, warnIfUnserved } from '../../admission.ts'
import { type Awaited, awaitReply } from '../../await-reply.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { requireNamed } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { readInputText } from '../../terminal/input.ts'
import { parseSpan } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { forTerminal, jsonLine, printNotice } from '../../terminal/stderr.ts'
import { watchedSession } from './watched-session.ts'

interface SendFlags extends StoreFlags {
  readonly wait?: true
  readonly timeout: number
  readonly key?: string
  readonly agent?: string
  readonly json?: true
}

const TIMEOUT = '10m'
const KEY_CHARACTERS_MAX = 200

export function sendCommand(): Command {
  const command = new Command('send')
    .summary('send a message to a session from a script')
    .description(
      'Puts a message into a session’s mailbox. It is durable once this command ends. A process that runs ' +
        '`serve` or `chat` on the same store answers it. A second message with the same --key is not stored.',
    )
    .argument('<session>', 'its id, or a unique prefix of it')
    .argument('<text>', 'the message; - reads standard input')
    .option('--wait', 'wait for the answer and print it')
    .addOption(
      new Option('--timeout <time>', 'how long to wait')
        .argParser(parseSpan)
        .default(parseSpan(TIMEOUT), TIMEOUT),
    )
    .addOption(
      new Option(
        '--key <key>',
        'idempotency key, so that a repeated command sends the message once',
      ).argParser(parseKey),
    )
    .option('--agent <name>', 'create the session with this agent if it does not exist')
    .option('--json', 'print the outcome as JSON')
    .action(async (id: string, text: string, flags: SendFlags) => {
      const said = text === '-' ? await readInputText('-') : text
      if (said.trim() === '') throw new UsageError('There is nothing to send: the text is empty.')
      const { withStoreRuntime, withAgentRuntime } = await import('../../../host/with-runtime.ts')
      const act = async ({ runtime, store }: StoreRuntime) => {
        // A session that may be created needs its complete id.
        const named =
          flags.agent === undefined
            ? await requireNamed(store, id, 'See `throughline sessions`; --agent NAME creates it.')
            : sessionId(id)
        const { refuseDamagedSession } = await import(
          '../../../runtime/store-layers/damaged-sessions.ts'
        )
        await refuseDamagedSession(store, named, systemClock)
        return await runSend(runtime, { sessionId: named, text: said }, flags)
      }
      process.exitCode =
        flags.agent === undefined
          ? await withStoreRuntime(flags, act, { knowsSpend: true })
          : await withAgentRuntime(flags, act, { mayMake: true })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'accepted; with --wait: answered'],
      [EXIT.failed, 'not accepted now, or not answered: stopped, failed or timed out'],
      [EXIT.usage, 'wrong usage, or no such store, session or agent'],
    ],
    examples: [
      'throughline send build-7 "What is left to do?" --wait',
      'git log -1 | throughline send build-7 - --key "$(git rev-parse HEAD)"',
      'throughline send build-7 "Begin." --agent assistant --wait --json',
    ],
  })
}

async function runSend(
  runtime: Runtime,
  { sessionId, text }: { readonly sessionId: SessionId; readonly text: string },
  flags: SendFlags,
): Promise<number> {
  const session = runtime.session(sessionId)
  if (flags.agent !== undefined) await makeSession(runtime, sessionId, flags.agent)
  const admission = requireAccepted(
    await session.admit({
      source: COMMAND_SOURCE,
      key: flags.key ?? randomUUID(),
      parts: [{ type: 'text', text }],
    }),
    sessionId,
  )
  const { mail } = admission
  const isDuplicate = admission.kind === 'duplicate'
  if (!flags.wait) {
    if (flags.json) await writeOutput('-', jsonLine({ sessionId, mail, isDuplicate }))
    else
      printNotice(
        `${isDuplicate ? 'Accepted before' : 'Accepted'}: message ${mail} of session ${sessionId}.`,
      )
    await warnIfUnserved(runtime)
    return EXIT.done
  }
  await warnIfUnserved(runtime)
  const signal = AbortSignal.timeout(flags.timeout)
  const { url } = await storeOf(flags)
  const awaited = await waitPatiently(runtime, watchedSession(session, url, signal), {
    ...{ mail, signal, timeoutMs: flags.timeout },
  })
  if (awaited.kind === 'paused') {
    throw new FailedError(`${awaited.text} Message ${mail} is stored and is answered after that.`)
  }
  const { reply } = awaited
  if (reply === null && signal.aborted) {
    const next =
      flags.key === undefined
        ? `\`throughline show ${sessionId}\` will show the answer.`
        : 'run this again with the same --key to keep waiting.'
    const isServed = (await runtime.health()).runners.length > 0
    const state = isServed
      ? 'is safe and will be answered'
      : 'is safe, but no process serves this store: run `throughline serve` to have it answered'
    throw new FailedError(
      `No answer within ${flags.timeout / 1_000} s. Message ${mail} ${state}; ` +
        `${next}${await failingModels(runtime)}`,
    )
  }
  return await printReply({ sessionId, mail, isDuplicate, reply }, flags)
}

const WAITING = 'Waiting for the answer'
const UNSERVED =
  'Still waiting: no process serves this store, so it is not answered. Run `throughline serve` in ' +
  'another terminal; the message is stored and is answered then.'
/** A terminal shows how long it has waited; a script hears of a long wait once. */
const LONG_WAIT_MS = 5_000

async function waitPatiently(
  runtime: Runtime,
  session: Pick<Session, 'reply' | 'summary'>,
  {
    mail,
    signal,
    timeoutMs,
  }: { readonly mail: MailNumber; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Awaited> {
  const progress = new ProgressLine(WAITING)
  let limit = ` This command waits ${timeoutMs / 1_000} s at most (--timeout); Ctrl-C ends only the waiting.`
  const report = (text: string) => {
    clearTimeout(longWait)
    progress.clear()
    printNotice(text)
  }
  const longWait = setTimeout(async () => {
    if (process.stderr.isTTY) return
    const isServed = (await runtime.health()).runners.length > 0
    report(isServed ? `${WAITING}; no model call has failed so far.` : UNSERVED)
  }, LONG_WAIT_MS)
  try {
    const onWait = (text: string) => {
      report(text + limit)
      limit = ''
    }
    return await awaitReply(session, mail, { signal, onWait })
  } finally {
    clearTimeout(longWait)
    progress.end()
  }
}

/** The likeliest reason for a long wait. */
async function failingModels(runtime: Runtime): Promise<string> {
  const { routes } = await runtime.health()
  const failing = routes.filter(({ task, failures }) => task === 'turn' && failures > 0)
  return failing
    .map(({ model, failures }) => {
      const times = failures === 1 ? 'time' : `${failures} times`
      return ` ${model} failed the last ${times}.`
    })
    .join('')
}

async function printReply(
  facts: {
    readonly sessionId: SessionId
    readonly mail: number
    readonly isDuplicate: boolean
    readonly reply: Reply | null
  },
  { json }: SendFlags,
): Promise<number> {
  const { reply } = facts
  if (json) await writeOutput('-', jsonLine(facts))
  else if (reply !== null && reply.text !== '')
    await writeOutput('-', `${forTerminal(reply.text)}\n`)
  if (reply?.ended === 'answered') return EXIT.done
  printNotice(
    reply === null ? 'It was withdrawn.' : `The turn ended without an answer: ${reply.ended}.`,
  )
  return EXIT.failed
}

async function makeSession(runtime: Runtime, id: SessionId, agent: string): Promise<void> {
  const created = await runtime.createSession({ agent, id })
  if (created.kind === 'unknown-agent') {
    const known = created.agents.join(', ') || 'none'
    throw new UsageError(`There is no agent ${agent}. Configured: ${known}.`)
  }
}

function parseKey(text: string): string {
  if (text === '' || text.length > KEY_CHARACTERS_MAX) {
    throw new InvalidArgumentError(`Use 1 to ${KEY_CHARACTERS_MAX} characters.`)
  }
  return text
}
