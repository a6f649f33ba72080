import { clip, oneLine } from '#core/base/line'
import { textOf } from '#core/message/text'
import { activity, type Drawing, POLICIES, SLASH_COMMANDS, usageText } from './commands.ts'

const HIT_CHARACTERS_MAX = 200

/** Renders command results for a chat: short Markdown. */
export const CHAT_DRAWING: Drawing = {
  help: () =>
    Object.values(SLASH_COMMANDS)
      .map(({ form, does }) => `\`${form}\` ${does}`)
      .join('\n'),
  status: (summary) => {
    const { id, agent, entries, contextTokens, windowTokens, compaction, pins, policy } = summary
    const share = windowTokens > 0 ? Math.round((100 * contextTokens) / windowTokens) : 0
    return [
      `Session \`${id}\` of ${agent}: ${activity(summary)}`,
      `Context ${share} %: ${contextTokens.toLocaleString('en')} of ${windowTokens.toLocaleString('en')} tokens`,
      `${entries} entries, ${compaction === null ? 'not compacted' : `compacted at #${compaction}`}`,
      `Used: ${usageText(summary.usage)}`,
      `While a turn runs, messages ${POLICIES[policy]}.`,
      ...(pins.length === 0 ? [] : [`Pins: ${CHAT_DRAWING.name(pins.join(', '))}`]),
    ].join('\n')
  },
  found: ({ entry }) => {
    const text = entry.message === null ? '' : textOf(entry.message)
    return `#${entry.number} ${entry.kind}: ${clip(oneLine(text), HIT_CHARACTERS_MAX)}`
  },
  name: (text) => `\`${clip(oneLine(text.replaceAll('`', "'")))}\``,
}
