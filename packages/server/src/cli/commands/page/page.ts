import { Command } from 'commander'
import { isLoopback } from '../../../gateway/http/access/addresses.ts'
import { FailedError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { findServers } from '../../../host/served-store.ts'
import { storeOf } from '../../../host/store-selection.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { writeOutput } from '../../terminal/output.ts'
import { printNotice } from '../../terminal/stderr.ts'

const WAIT_MS = 600_000

export function pageCommand(): Command {
  const command = new Command('page')
    .summary('open the web page past what another program left in the browser')
    .description(
      'Prints an address for a browser on this machine. Opened there, it first removes everything that ' +
        'the browser keeps for the page of the running server: also what another program left there ' +
        'while the server was down, and drafts and tokens in other tabs. Then it leads to the page.',
    )
    .action(async (flags: StoreFlags) => {
      const { url: storeUrl } = await storeOf(flags)
      const servers = await findServers(storeUrl)
      const { url, clearing } = servers.find((each) => isLoopback(new URL(each.url).hostname)) ?? {}
      if (url === undefined || clearing === undefined) {
        throw new FailedError(
          'No server of this store listens on loopback here. Start one with `throughline serve`.',
        )
      }
      const { openEntry } = await import('./entry.ts')
      const entry = await openEntry({ url, clearing })
      await writeOutput('-', `${entry.url}\n`)
      printNotice(
        'Open this address in your browser within ten minutes; it works until it was used.',
      )
      const waited = Promise.withResolvers<'late'>()
      const timer = setTimeout(waited.resolve, WAIT_MS, 'late')
      const end = await Promise.race([entry.used, waited.promise])
      clearTimeout(timer)
      await entry.close()
      if (end === 'late') throw new FailedError('The address was not opened within ten minutes.')
      printNotice(`The browser is at ${url} now.`)
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'the browser was led to the page'],
      [EXIT.failed, 'no server of this store listens here, or the address was not opened in time'],
      [EXIT.usage, 'wrong usage or configuration'],
    ],
    examples: ['throughline page'],
  })
}
