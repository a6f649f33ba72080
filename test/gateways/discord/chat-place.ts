import type { Agent } from '../../../packages/server/src/runtime/agent.ts'
import type { RuntimeOptions } from '../../../packages/server/src/runtime/open-runtime.ts'
import type { StandIn, StandInOptions } from '../../../packages/server/src/stand-in/index.ts'
import type { ChatPlace, Heard, PlaceTerms } from '../contract.ts'
import { type BotTerms, DiscordPlace } from './place.ts'
import type { MessageRow } from './world.ts'

export interface DiscordChatTerms extends PlaceTerms {
  readonly model?: StandInOptions
  readonly windowTokens?: number
  readonly agent?: Partial<Agent>
  readonly seams?: RuntimeOptions['seams']
}

/** A person and a bot in a chat of their own, as the suite of every platform wants them. */
export async function openDiscordChat(
  terms: DiscordChatTerms = {},
): Promise<ChatPlace & { readonly model: StandIn }> {
  const { tokensPerSecond, runs, seam, windowTokens, agent, seams } = terms
  const place = await DiscordPlace.open({
    ...(tokensPerSecond !== undefined && { speed: { outputTokensPerSecond: tokensPerSecond } }),
    ...terms.model,
  })
  const { world, discord } = place
  const user = place.addBot('helper')
  const [person, stranger] = [world.addPerson('ada'), world.addPerson('eve')]
  const [dm, other] = [world.dmOf(user, person.id), world.dmOf(user, stranger.id)]
  const taken = new Set<string>()
  const botTerms: BotTerms = {
    allow: { chats: [], users: [person.id] },
    editEveryMs: 200,
    ...(runs !== undefined && { runs }),
    ...(seam !== undefined && { seam }),
    ...(windowTokens !== undefined && { windowTokens }),
    ...(agent !== undefined && { as: agent }),
    ...(seams !== undefined && { seams }),
    onTaken: ({ key, edit }) => taken.add(edit === undefined ? key : `${key}@${edit}`),
  }
  const bot = await place.connect(user, botTerms)
  const messages = new Map<string, MessageRow>()
  const heard = (message: MessageRow): Heard => {
    const { id, edited_timestamp: edited } = message
    const update = edited === null ? id : `${id}@${Date.parse(edited)}`
    messages.set(update, message)
    return { update, message: id }
  }
  const of = ({ update }: Heard): MessageRow => {
    const message = messages.get(update)
    if (message === undefined) throw new Error(`Nobody said ${update}.`)
    return message
  }
  return {
    model: place.model,
    store: bot.store,
    runtime: bot.runtime,
    channel: bot.gateway.name,
    address: dm.id,
    strangerId: stranger.id,
    lengthMax: 2_000,
    say: (content) => heard(discord.say(dm, { author: person, content })),
    sayAsStranger: (content) => heard(discord.say(other, { author: stranger, content })),
    sayRaw: (fields) => discord.sayRaw(dm, { author: person, content: 'raw' }, fields),
    textField: 'content',
    change: (said, content) => heard(discord.revise(of(said), content)),
    tellAgain: (said) => discord.repeat(of(said)),
    isAcknowledged: ({ update }) => taken.has(update),
    shown: () => place.said(dm, user),
    shownToStranger: () => place.said(other, user),
    sends: () =>
      discord.requests.filter((line) => line === `POST /channels/${dm.id}/messages`).length,
    limitNext: (seconds) => discord.limit(1, seconds),
    // Discord refuses no markup.
    refuseMarkupNext: () => undefined,
    cut: () => void discord.goDark(),
    restore: () => void discord.comeBack(),
    rival: () => {
      // It is noticed by what it says; Discord tells nobody who else is connected.
      const { platform } = place.open(user, { ...botTerms, store: bot.store, runtime: bot.runtime })
      void platform.send({ address: dm.id, text: 'from elsewhere', nonce: 'elsewhere' })
    },
    close: () => place.close(),
  }
}
