import { textOf } from '../../src/message/text.ts'
import { standIn } from '../../src/stand-in/server.ts'

/** The other end, in a process of its own so that its work is not counted as ours. */
const server = standIn({
  script: ({ messages }) => {
    const last = messages.at(-1)
    const tokens = Number(/tokens (\d{1,7})/.exec(last === undefined ? '' : textOf(last))?.[1] ?? 1)
    return { text: 'word'.repeat(tokens) }
  },
})
const running = await server.start()
process.send?.(running.url)
process.once('disconnect', () => running.close())
