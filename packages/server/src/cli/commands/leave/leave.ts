import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { Argument, Command } from 'commander'
import type { SessionId } from '#core/base/ids'
import type { ReadStore } from '#core/store/contract'
import { UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { leftFolder } from '../../../host/operating-system.ts'
import type { LeavableClient, LeaveRequest } from '../../../migration/leave/leave.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandForm, programLocation, shellWord } from '../../hint.ts'
import { countOption } from '../../terminal/numbers.ts'
import { printNotice } from '../../terminal/stderr.ts'
import { addClientStoreOption, clientStore } from '../proxy/client-store.ts'

interface LeaveFlags extends StoreFlags {
  readonly undo?: true
  readonly window: number
}

export function leaveCommand(): Command {
  const command = new Command('leave')
    .summary('stop using the proxy: write the handoff into the client’s own log')
    .description(
      'Writes a session’s handoff into the log of Claude Code or Codex, as one of the client’s own ' +
        'compactions. The client then continues without the proxy and does not overflow. Only for versions whose ' +
        'log format is known; end the client first. The log is copied first, and --undo restores it. ' +
        'A session can be left as often as you return to the proxy.',
    )
    .addArgument(new Argument('<client>', 'the client of the session').choices(['claude', 'codex']))
    .argument(
      '<session>',
      "the client's own id, or the id in this store; a unique prefix is enough",
    )
    .option('--undo', 'restore the log, byte for byte')
    .addOption(
      countOption('--window <tokens>', 'the model’s context window; a handoff gets 6 % of it', {
        min: 4_000,
        max: 100_000_000,
      }).default(200_000),
    )
    .action(async (client: LeavableClient, session: string, flags: LeaveFlags) => {
      process.exitCode = await runLeave(client, session, flags)
    })
  return withHelp(addClientStoreOption(command), {
    codes: [
      [EXIT.done, 'written, or restored'],
      [EXIT.failed, 'the store cannot be reached now'],
      [EXIT.usage, 'wrong usage, no such store or session, or refused: the log is unchanged'],
    ],
    examples: [
      'throughline leave claude 7c1e1a52-5eed-4a11-8000-000000000001',
      'throughline leave codex 01a1e53a-2927-7980-9b3c-7a04e0dc6d39 --undo',
    ],
  })
}

async function runLeave(client: LeavableClient, name: string, flags: LeaveFlags): Promise<number> {
  const { checkLog, findLeft, leave, undoLeave } = await import('../../../migration/leave/leave.ts')
  const prefix = `${client}-`
  const given = name.startsWith(prefix) ? name.slice(prefix.length) : name
  const home = process.env['HOME'] || homedir()
  const copies = leftFolder()
  const base = { client, home, copies }
  if (flags.undo) {
    const session = findLeft({ ...base, session: given })
    printNotice(`${undoLeave({ ...base, session })} was restored.`)
    return EXIT.done
  }
  const { withStoreToRead } = await import('../../../host/store-selection.ts')
  const { findNamed, unknownSession } = await import('../../named-session.ts')
  const { handoffForClient } = await import('../../../runtime/client-sessions/whole-handoff.ts')
  const program = commandForm(programLocation())
  const stores = storesOf(flags)
  const lists = stores.map((path) => `\`${program} sessions --store ${shellWord(path)}\``)
  const advice = `See ${lists.join(' and ')}.`
  const leaveFrom = async (store: ReadStore, id: SessionId, path: string): Promise<number> => {
    const storeOption = ` --store ${shellWord(path)}`
    const request: LeaveRequest = { ...base, session: id.slice(prefix.length), storeOption }
    const { warning } = checkLog(request)
    const handoff = await handoffForClient(store, id, flags.window)
    if (handoff === null) throw new UsageError(`Session ${id} holds no message to hand over.`)
    const log = leave(request, handoff)
    printNotice(
      `The handoff is in ${log}. Start ${client} without the proxy and resume the session.`,
    )
    if (warning !== null) printNotice(warning)
    printNotice(
      `To undo this before you continue: ${program} leave ${client} ${request.session} --undo`,
    )
    return EXIT.done
  }
  const named = `${prefix}${given}`
  for (const path of stores) {
    const code = await withStoreToRead({ ...flags, store: path }, async (store) => {
      const id = await findNamed(store, named)
      return id === undefined ? NOT_HERE : await leaveFrom(store, id, path)
    })
    if (code !== NOT_HERE) return code
  }
  throw unknownSession(named, advice)
}

const NOT_HERE = -1

/** Where `run` keeps sessions; those of the stand-in have a store of their own. */
function storesOf(flags: LeaveFlags): readonly string[] {
  const own = clientStore(flags)
  const others = flags.store === undefined ? [clientStore(flags, 'stand-in.db')] : []
  const there = [own, ...others].filter((path) => existsSync(path))
  return there.length === 0 ? [own] : there
}
