import type { APIChatInputApplicationCommandInteraction } from 'discord.js'
import { isArray, isObject } from '#core/base/json'
import { SLASH_COMMANDS, type SlashName } from '../chat/commands.ts'
import { isSnowflake } from './checked-message.ts'

/** The chat commands as Discord slash commands. */

const TEXT = 3
const OPTIONS: { readonly [name in SlashName]?: readonly Option[] } = {
  compact: [{ name: 'focus', description: 'what the summary should be about' }],
  search: [{ name: 'words', description: 'what to look for', required: true }],
  pin: [
    { name: 'name', description: 'a short name for the text' },
    { name: 'text', description: 'the text to keep; - removes it' },
  ],
}

interface Option {
  readonly name: string
  readonly description: string
  readonly required?: true
}

export function commandList() {
  return Object.entries(SLASH_COMMANDS).map(([name, { does }]) => ({
    name,
    description: does,
    type: 1,
    options: (OPTIONS[name as SlashName] ?? []).map((option) => ({ ...option, type: TEXT })),
  }))
}

/** With every field that is read here: other kinds of commands, and unreadable ones, are none. */
export function isCommand(
  interaction: unknown,
): interaction is APIChatInputApplicationCommandInteraction {
  if (!isObject(interaction)) return false
  const { type, id, token, data, channel, member } = interaction
  if (type !== 2 || !isSnowflake(id) || typeof token !== 'string') return false
  if (!isObject(channel) || !isSnowflake(channel['id'])) return false
  if (member !== undefined && !isObject(member)) return false
  if (!isObject(data) || data['type'] !== 1 || typeof data['name'] !== 'string') return false
  const { options = [] } = data
  return isArray(options) && options.every(isObject)
}

/** The command as if it had been typed. */
export function typedForm({ data }: APIChatInputApplicationCommandInteraction): string {
  const values = (data.options ?? []).flatMap((option) =>
    option.type === TEXT && typeof option.value === 'string' ? [option.value.trim()] : [],
  )
  return [`/${data.name}`, ...values].join(' ')
}
