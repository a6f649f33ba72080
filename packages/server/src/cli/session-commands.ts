import type { Command } from 'commander'

/** Commands by name. Each is loaded when it is called for: all of them are some 240 files. */
export type CommandLoaders = Readonly<Record<string, () => Promise<Command>>>

/** The commands that work on the sessions of a store, grouped by purpose. */
export const SESSION_COMMANDS: Readonly<Record<'talk' | 'look' | 'keep', CommandLoaders>> = {
  talk: {
    serve: async () => (await import('./commands/serve/serve.ts')).serveCommand(),
    chat: async () => (await import('./commands/chat/chat.ts')).chatCommand(),
    send: async () => (await import('./commands/send/send.ts')).sendCommand(),
    mcp: async () => (await import('./commands/mcp/mcp.ts')).mcpCommand(),
    page: async () => (await import('./commands/page/page.ts')).pageCommand(),
    demo: async () => (await import('./commands/demo/demo.ts')).demoCommand(),
  },
  look: {
    sessions: async () => (await import('./commands/sessions/sessions.ts')).sessionsCommand(),
    show: async () => (await import('./commands/show/show.ts')).showCommand(),
    search: async () => (await import('./commands/search/search.ts')).searchCommand(),
  },
  keep: {
    compact: async () => (await import('./commands/compact/compact.ts')).compactCommand(),
    fork: async () => (await import('./commands/fork/fork.ts')).forkCommand(),
    backup: async () => (await import('./commands/backup/backup.ts')).backupCommand(),
    export: async () => (await import('./commands/export/export.ts')).exportCommand(),
    import: async () => (await import('./commands/import/import.ts')).importCommand(),
    rename: async () => (await import('./commands/rename/rename.ts')).renameCommand(),
    purge: async () => (await import('./commands/purge/purge.ts')).purgeCommand(),
  },
}
