import { serveCommand } from '../../packages/server/src/cli/commands/serve/serve.ts'

/** `serve` as it is, but for the time that it takes at most to end. */
await serveCommand({ endMsMax: 300 }).parseAsync(process.argv.slice(2), { from: 'user' })
