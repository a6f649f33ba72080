import { textOf } from '../../packages/core/src/message/text.ts'
import { standIn } from '../../packages/server/src/stand-in/server.ts'

/** The other end, in a process of its own so that its work is not counted as ours. */
const isEmulated = process.argv[2] === 'emulated'
const server = standIn({
  // A tenth of the time that a common hosted model takes: 10,000 tokens read, 80 written per second.
  ...(isEmulated && { speed: { inputTokensPerSecond: 100_000, outputTokensPerSecond: 800 } }),
  script: ({ messages }) => {
    const last = messages.at(-1)
    if (isEmulated) return { text: `## Progress and decisions\n${'- tide\n'.repeat(900)}` }
    const tokens = Number(/tokens (\d{1,7})/.exec(last === undefined ? '' : textOf(last))?.[1] ?? 1)
    return { text: 'word'.repeat(tokens) }
  },
})
const running = await server.start()
process.send?.(running.url)
process.once('disconnect', () => running.close())
