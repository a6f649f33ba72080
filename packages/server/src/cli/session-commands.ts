import type { Command } from 'commander'
import { backupCommand } from './commands/backup/backup.ts'
import { chatCommand } from './commands/chat/chat.ts'
import { compactCommand } from './commands/compact/compact.ts'
import { exportCommand } from './commands/export/export.ts'
import { importCommand } from './commands/import/import.ts'
import { mcpCommand } from './commands/mcp/mcp.ts'
import { purgeCommand } from './commands/purge/purge.ts'
import { searchCommand } from './commands/search/search.ts'
import { sendCommand } from './commands/send/send.ts'
import { serveCommand } from './commands/serve/serve.ts'
import { sessionsCommand } from './commands/sessions/sessions.ts'
import { showCommand } from './commands/show/show.ts'

/** The commands that work on the sessions of a store, grouped by purpose. */
export function sessionCommands(): Record<'talk' | 'look' | 'keep', readonly Command[]> {
  return {
    talk: [serveCommand(), chatCommand(), sendCommand(), mcpCommand()],
    look: [sessionsCommand(), showCommand(), searchCommand()],
    keep: [compactCommand(), backupCommand(), exportCommand(), importCommand(), purgeCommand()],
  }
}
