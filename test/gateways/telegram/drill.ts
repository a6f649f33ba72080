import { BotApiServer, TOKEN } from '../bot-api-server.ts'
import { runDrillCommand } from '../drill-command.ts'
import { drillKills, type KillTerms } from '../kill-drill.ts'
import type { KillVerdict } from '../kill-verdict.ts'

/**
 * `npm run drill:telegram -- --kills N [--seed N]`: two private chats over the Bot API, with a
 * serving process that is killed at random. The Bot API has no nonce: a message that was sent in the
 * moment of the kill may stand there once more.
 */
const PEOPLE = [42, 43]
const WRITES = /^(send|edit)Message/

export async function drillTelegram(terms: KillTerms): Promise<KillVerdict> {
  const api = await new BotApiServer().start()
  const allow = `{users: [${PEOPLE.join(', ')}]}`
  try {
    return await drillKills(
      {
        channel: `telegram:${TOKEN.split(':')[0]}`,
        gateways: `{telegram: {apiRoot: "${api.url}", editSeconds: 0.1, allow: ${allow}}}`,
        env: { TELEGRAM_BOT_TOKEN: TOKEN },
        addresses: PEOPLE.map(String),
        lengthMax: 4_096,
        nonce: false,
        say: (address, text) => {
          const who = { id: Number(address) }
          api.say({ text, chat: { ...who, type: 'private' }, from: who })
        },
        shown: () =>
          api.messages.map(({ chat, text, edits }) => ({
            ...{ address: String(chat), text, isEdited: edits > 0 },
          })),
        isListening: () => api.isAsked,
        connections: () => api.connections,
        writes: () => api.calls.filter(({ method }) => WRITES.test(method)).length,
      },
      terms,
    )
  } finally {
    await api.close()
  }
}

if (import.meta.main) await runDrillCommand(drillTelegram)
