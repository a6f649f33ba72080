import type { APIChatInputApplicationCommandInteraction, APIInteraction } from 'discord.js'
import { SLASH_COMMANDS, type SlashName } from '../chat/commands.ts'

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

export function isCommand(
  interaction: APIInteraction,
): interaction is APIChatInputApplicationCommandInteraction {
  return interaction.type === 2 && interaction.data.type === 1
}

/** The command as if it had been typed. */
export function typedForm({ data }: APIChatInputApplicationCommandInteraction): string {
  const values = (data.options ?? []).flatMap((option) =>
    option.type === TEXT ? [option.value.trim()] : [],
  )
  return [`/${data.name}`, ...values].join(' ')
}
