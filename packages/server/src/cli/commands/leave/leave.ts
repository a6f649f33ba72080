import { homedir } from 'node:os'
import { join } from 'node:path'
import { Argument, Command } from 'commander'
import { UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { stateFolder } from '../../../host/platform.ts'
import type { LeavableClient, LeaveRequest } from '../../../migration/leave/leave.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandForm, programLocation } from '../../hint.ts'
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

async function runLeave(client: LeavableClient, named: string, flags: LeaveFlags): Promise<number> {
  const { checkLog, findLeft, leave, undoLeave } = await import('../../../migration/leave/leave.ts')
  const prefix = `${client}-`
  const given = named.startsWith(prefix) ? named.slice(prefix.length) : named
  const home = process.env['HOME'] || homedir()
  const copies = join(stateFolder(), 'left')
  const base = { client, home, copies }
  if (flags.undo) {
    const session = findLeft({ ...base, session: given })
    printNotice(`${undoLeave({ ...base, session })} was restored.`)
    return EXIT.done
  }
  const { withStoreToRead } = await import('../../../host/store-selection.ts')
  const { requireNamed } = await import('../../named-session.ts')
  const { handoffForClient } = await import('../../../runtime/client-sessions/whole-handoff.ts')
  const path = clientStore(flags)
  return await withStoreToRead({ ...flags, store: path }, async (store) => {
    const program = commandForm(programLocation())
    const advice = `See \`${program} sessions --store ${path}\`.`
    const id = await requireNamed(store, `${prefix}${given}`, advice)
    const request: LeaveRequest = { ...base, session: id.slice(prefix.length) }
    checkLog(request)
    const handoff = await handoffForClient(store, id, flags.window)
    if (handoff === null) throw new UsageError(`Session ${id} holds no message to hand over.`)
    const log = leave(request, handoff)
    printNotice(
      `The handoff is in ${log}. Start ${client} without the proxy and resume the session.`,
    )
    printNotice(
      `To undo this before you continue: ${program} leave ${client} ${request.session} --undo`,
    )
    return EXIT.done
  })
}
