import { TEXT_LENGTH_MAX } from '../../src/gateway/discord/markdown.ts'
import { tokenOf } from './discord-place.ts'
import { DiscordServer } from './discord-server.ts'
import { drillKills, type KillVerdict } from './kill-drill.ts'

/**
 * `npm run drill:discord -- --kills N [--seed N]`: a channel and two chats of two over Discord's
 * protocol, with a serving process that is killed at random. Discord's nonce leaves no window: what
 * is shown is exactly what was replied.
 */
export async function drillDiscord(terms: {
  readonly kills: number
  readonly seed: number
  readonly onKill?: (done: number) => void
}): Promise<KillVerdict> {
  const discord = await new DiscordServer().start()
  const { world } = discord
  const bot = world.addBot('helper', tokenOf)
  const people = ['ada', 'bob'].map((name) => world.addPerson(name))
  const dms = people.map((person) => ({ person, channel: world.dmOf(bot, person.id) }))
  const users = people.map(({ id }) => `"${id}"`).join(', ')
  const of = (address: string) => {
    const dm = dms.find(({ channel }) => channel.id === address)
    if (dm === undefined) throw new Error(`Nobody talks in ${address}.`)
    return dm
  }
  try {
    return await drillKills(
      {
        channel: `discord:${bot.id}`,
        gateways: `{discord: {apiUrl: "${discord.url}", editSeconds: 0.1, allow: {users: [${users}]}}}`,
        env: { DISCORD_BOT_TOKEN: tokenOf(bot.id) },
        addresses: dms.map(({ channel }) => channel.id),
        lengthMax: TEXT_LENGTH_MAX,
        say: (address, content) => {
          const { channel, person } = of(address)
          discord.say(channel, { author: person, content })
        },
        shown: (address) =>
          world
            .messages(of(address).channel)
            .filter(({ author }) => author === bot)
            .map(({ content }) => content),
        isListening: () => discord.connectionsOf(bot) > 0,
        writes: () => discord.requests.filter((line) => /^P.*messages/.test(line)).length,
      },
      terms,
    )
  } finally {
    await discord.close()
  }
}

if (import.meta.main) {
  const option = (name: string, otherwise: number) => {
    const at = process.argv.indexOf(`--${name}`)
    return at < 0 ? otherwise : Number(process.argv[at + 1])
  }
  const seed = option('seed', Date.now() % 1_000_000)
  const kills = option('kills', 100)
  const onKill = (done: number) => process.stderr.write(done % 10 === 0 ? `${done}\n` : '.')
  const verdict = await drillDiscord({ kills, seed, onKill })
  process.stdout.write(`${JSON.stringify({ seed, ...verdict })}\n`)
  process.exitCode = verdict.findings.length === 0 ? 0 : 1
}
