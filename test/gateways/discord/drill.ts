import { TEXT_LENGTH_MAX } from '../../../packages/server/src/gateway/discord/markdown.ts'
import { runDrillCommand } from '../drill-command.ts'
import { drillKills, type KillTerms } from '../kill-drill.ts'
import type { KillVerdict } from '../kill-verdict.ts'
import { tokenOf } from './place.ts'
import { DiscordServer } from './server.ts'

/**
 * `npm run drill:discord -- --kills N [--seed N]`: two chats of two over Discord's protocol, with a
 * serving process that is killed at random. Discord's nonce leaves no window: what is shown is
 * exactly what was replied.
 */
export async function drillDiscord(terms: KillTerms): Promise<KillVerdict> {
  const discord = await new DiscordServer().start()
  const { world } = discord
  const bot = world.addBot('helper', tokenOf)
  const people = ['ada', 'bob'].map((name) => world.addPerson(name))
  const dms = people.map((person) => ({ person, channel: world.dmOf(bot, person.id) }))
  const users = people.map(({ id }) => `"${id}"`).join(', ')
  try {
    return await drillKills(
      {
        channel: `discord:${bot.id}`,
        gateways: `{discord: {apiUrl: "${discord.url}", editSeconds: 0.1, allow: {users: [${users}]}}}`,
        env: { DISCORD_BOT_TOKEN: tokenOf(bot.id) },
        addresses: dms.map(({ channel }) => channel.id),
        lengthMax: TEXT_LENGTH_MAX,
        nonce: true,
        say: (address, content) => {
          const dm = dms.find(({ channel }) => channel.id === address)
          if (dm === undefined) throw new Error(`Nobody talks in ${address}.`)
          discord.say(dm.channel, { author: dm.person, content })
        },
        shown: () =>
          dms
            .flatMap(({ channel }) => world.messages(channel))
            .filter(({ author }) => author === bot)
            .map(({ channel_id: address, content: text, edited_timestamp: edited }) => ({
              ...{ address, text, isEdited: edited !== null },
            })),
        isListening: () => discord.connectionsOf(bot) > 0,
        connections: () => discord.connections,
        writes: () => discord.requests.filter((line) => /^P.*messages/.test(line)).length,
      },
      terms,
    )
  } finally {
    await discord.close()
  }
}

if (import.meta.main) await runDrillCommand(drillDiscord)
