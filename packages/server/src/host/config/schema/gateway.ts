import { z } from 'zod'
import { routesSchema } from '../../../model/routes/routes.ts'
import { countSchema, needsRestart, seconds } from './values.ts'

/** The section `gateways`: one key for each chat platform, absent if unused. */

const secret = routesSchema.shape.main.shape.credential.unwrap()

/** Undefined: the default. */
function inQuotes({ code }: { readonly code?: string }): string | undefined {
  return code === 'too_big'
    ? 'should be in quotes: an id this large is not kept exactly'
    : undefined
}

/** Platform ids are numbers, some too large for YAML to represent exactly. */
const ids = z
  .array(
    z
      .union([z.int({ error: inQuotes }), z.string().min(1)], { error: 'should be an id' })
      .transform((id) => String(id)),
  )
  .max(10_000)
  .default([])

const allowList = z
  .strictObject({
    users: ids.describe('People, by id, in a private chat with the bot.'),
    chats: ids.describe('Chats, by id: everyone in them.'),
  })
  .prefault({})
  .describe('Who may talk. Others get only their own id, once.')

export const gatewayAgent = z
  .string()
  .min(1)
  .optional()
  .describe('The agent that answers these chats. Default: the first agent.')

const LOCAL = '127.0.0.1'

const telegram = z
  .strictObject({
    token: secret
      .default({ kind: 'variable', name: 'TELEGRAM_BOT_TOKEN' })
      .describe('Where the token of the bot comes from, written as `credential` is.'),
    agent: gatewayAgent,
    allow: allowList,
    mention: z
      .boolean()
      .default(true)
      .describe('In groups, read only messages that mention the bot, reply to it or are commands.'),
    editSeconds: seconds()
      .default(3)
      .describe('How often a growing answer is updated; Telegram limits the rate.'),
    apiRoot: z
      .url()
      .default('https://api.telegram.org')
      .describe('Another Bot API server; files are fetched from here only.'),
    webhook: z
      .strictObject({
        url: z.url().describe('The address that Telegram sends updates to, with its path.'),
        host: z.string().min(1).default(LOCAL).describe('The address to listen on.'),
        port: countSchema(0, 65_535)
          .default(7421)
          .describe('The port to listen on; the server at `url` forwards to it.'),
        secret: secret
          .default({ kind: 'variable', name: 'TELEGRAM_WEBHOOK_SECRET' })
          .describe(
            "Where the secret of Telegram's requests comes from; 1 to 256 letters, digits, _, -.",
          ),
      })
      .optional()
      .describe('Telegram pushes updates. Default: the bot polls for them.'),
  })
  .optional()
  .describe('A Telegram bot.')

const discord = z
  .strictObject({
    token: secret
      .default({ kind: 'variable', name: 'DISCORD_BOT_TOKEN' })
      .describe('Where the token of the bot comes from, written as `credential` is.'),
    agent: gatewayAgent,
    allow: z
      .strictObject({
        users: ids.describe('People, by id, in a private chat with the bot.'),
        chats: ids.describe('Channels, by id: everyone in them and in their threads.'),
        bots: ids.describe(
          'Other bots, by id, that may talk in these channels. Answers then do not grow.',
        ),
      })
      .prefault({})
      .describe('Who may talk, ids in quotes. Others get only their own id, once.'),
    mention: z
      .boolean()
      .default(true)
      .describe(
        'In channels, read only messages that mention the bot, reply to it or are commands.',
      ),
    editSeconds: seconds()
      .default(2)
      .describe('How often a growing answer is updated; Discord limits the rate.'),
    apiUrl: z
      .url()
      .default('https://discord.com/api')
      .describe("Another server with Discord's API."),
    attachments: z
      .strictObject({
        hosts: z
          .array(z.string().min(1))
          .max(64)
          .default(['cdn.discordapp.com', 'media.discordapp.net'])
          .describe('Where pictures and files are fetched from; nowhere else.'),
        bytesMax: countSchema(0, 16_777_216)
          .default(4_194_304)
          .describe('The most bytes accepted with one message.'),
      })
      .prefault({})
      .describe('Pictures and files in messages.'),
  })
  .optional()
  .describe('A Discord bot.')

/** HTTP has its own section. */
export const gateways = z
  .strictObject({ telegram, discord })
  .prefault({})
  .meta({ description: 'Chat platforms.', ...needsRestart })
