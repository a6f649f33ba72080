import { join } from 'node:path'
import { Argument, Command } from 'commander'
import { UsageError } from '../../../host/errors.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { programLocation } from '../../hint.ts'
import { writeOutput } from '../../terminal/output.ts'
import { SERVICE_KINDS, type ServiceKind, serviceText, whyUnprintable } from './text.ts'

export function serviceCommand(): Command {
  const print = new Command('print')
    .summary('print the file or the commands that keep `serve` running')
    .description(
      'Prints what a host needs to keep `throughline serve` running from this folder: a unit for ' +
        'systemd, a property list for launchd, or commands for nssm on Windows. Changes nothing.',
    )
    .addArgument(new Argument('<kind>', 'which service manager').choices(SERVICE_KINDS))
    .argument('[arguments...]', 'arguments for `serve`, after --')
    .action(async (kind: ServiceKind, args: string[]) => {
      const { packageFolder, workingFolder } = programLocation()
      const facts = {
        node: process.execPath,
        program: join(packageFolder, 'bin', 'throughline.js'),
        args: ['serve', ...args],
        workingFolder,
      }
      const problem = whyUnprintable(kind, facts)
      if (problem !== null) {
        throw new UsageError(
          `Nothing can be printed for ${kind}: ${problem}. Use another folder or argument.`,
        )
      }
      await writeOutput('-', serviceText(kind, facts))
    })
  return new Command('service')
    .summary('keep `serve` running on this host')
    .description('Helps a host keep `throughline serve` running.')
    .addCommand(
      withHelp(print, {
        codes: [
          [EXIT.done, 'printed'],
          [EXIT.usage, 'wrong usage'],
        ],
        examples: [
          'throughline service print systemd > ~/.config/systemd/user/throughline.service',
          'throughline service print launchd -- --port 8800',
          'throughline service print nssm',
        ],
      }),
    )
}
