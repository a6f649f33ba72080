import { describe, expect, it } from 'vitest'
import type { Store } from '../../packages/core/src/store/contract.ts'
import type { Runtime } from '../../packages/server/src/runtime/runtime.ts'
import { tries } from '../support/seeded-random.ts'
import { until } from '../support/until.ts'

/**
 * The laws that every chat platform keeps, played through its real library against a server that
 * speaks its protocol. A platform brings a `ChatPlace`: one person with a chat that is allowed.
 */
export interface ChatPlace {
  readonly store: Store
  readonly runtime: Runtime
  readonly channel: string
  /** Of the person's chat. */
  readonly address: string
  readonly strangerId: string
  readonly lengthMax: number
  say(text: string): Heard
  sayAsStranger(text: string): Heard
  /** As no person can: some fields of the platform's message have other values. */
  sayRaw(fields: object): void
  /** The name of the field that has the text. */
  readonly textField: string
  /** The person changes what was said. */
  change(heard: Heard, text: string): Heard
  /** The platform tells of it once more. */
  tellAgain(heard: Heard): void
  isAcknowledged(heard: Heard): boolean
  /** What stands in the chat now, without markup: messages of the bot, oldest first. */
  shown(): readonly string[]
  shownToStranger(): readonly string[]
  /** How many messages were sent, edits not counted. */
  sends(): number
  limitNext(seconds: number): void
  refuseMarkupNext(): void
  cut(): void
  restore(): void
  /** A second process with the same account. */
  rival(): void
  close(): Promise<void>
}

/** An update, and the message that it tells of. */
export interface Heard {
  readonly update: string
  readonly message: string
}

export interface PlaceTerms {
  /** Stands between the product and its store. */
  readonly seam?: (store: Store) => Store
  /** False: nothing is answered, so that mail stays where it is. */
  readonly runs?: boolean
  /** How fast the model speaks; by default at once. */
  readonly tokensPerSecond?: number
}

/** For a field with a text; none of them is one. */
const HOSTILE: readonly unknown[] = [
  ...[7, true, [], ['secret'], {}, { toString: 'secret' }, [[]], { length: 3 }, null],
]
/** Of Discord's messages and of Telegram's. */
const FIELDS = [
  ...['author', 'attachments', 'embeds', 'mentions', 'type', 'flags', 'poll', 'webhook_id'],
  ...['edited_timestamp', 'referenced_message', 'message_snapshots', 'sticker_items', 'guild_id'],
  ...['message_id', 'from', 'sender_chat', 'chat', 'photo', 'document', 'entities', 'quote'],
  ...['reply_to_message', 'forward_origin', 'migrate_to_chat_id', 'media_group_id', 'voice'],
]

export function describeChatPlatform(
  name: string,
  open: (terms?: PlaceTerms) => Promise<ChatPlace>,
): void {
  const played = async (terms: PlaceTerms, play: (place: ChatPlace) => Promise<void>) => {
    const place = await open(terms)
    try {
      await play(place)
    } finally {
      await place.close()
    }
  }
  const law = (title: string, terms: PlaceTerms, play: (place: ChatPlace) => Promise<void>) =>
    it(title, () => played(terms, play))

  // Each has a place of its own, and most of their time is waiting.
  describe.concurrent(`${name}, as every chat platform`, () => {
    law('answers a message once, in its chat', {}, async (place) => {
      const heard = place.say('say Hello there.')
      await until(() => place.shown().length === 1)
      await until(() => place.isAcknowledged(heard))
      const sent = () => place.store.listReplies({ state: 'sent', limit: 9 })
      await until(async () => (await sent()).length === 1)
      expect(place.shown()).toEqual(['Hello there.'])
      expect(place.sends()).toBe(1)
      expect(await mailOf(place)).toEqual(['say Hello there.'])
    })

    law(
      'lets nobody in who is not on the list, and tells them once how to get there',
      {},
      async (place) => {
        const [one, two] = [place.sayAsStranger('say secrets'), place.sayAsStranger('/status')]
        await until(() => place.isAcknowledged(one) && place.isAcknowledged(two))
        await until(() => place.shownToStranger().length > 0)
        expect(place.shownToStranger()).toHaveLength(1)
        expect(place.shownToStranger()[0]).toContain(place.strangerId)
        expect(await place.runtime.listSessions({ limit: 10 })).toEqual([])
        expect(place.shown()).toEqual([])
      },
    )

    law('changes nothing when an update is told again, at once or later', {}, async (place) => {
      const first = place.say('say one')
      place.tellAgain(first)
      await until(() => place.shown().length === 1)
      const second = place.say('say two')
      place.tellAgain(first)
      place.tellAgain(second)
      await until(() => place.shown().length === 2 && place.isAcknowledged(second))
      expect(place.shown()).toEqual(['one', 'two'])
      expect(await mailOf(place)).toEqual(['say one', 'say two'])
    })

    it('acknowledges an update only after it is durable in the mailbox', async () => {
      let isDown = true
      const seam = (store: Store): Store => ({
        ...store,
        admit: async (request) => {
          if (isDown) throw new Error('the store is away')
          return await store.admit(request)
        },
      })
      await played({ seam }, async (place) => {
        const heard = place.say('say kept')
        await until(async () => (await place.runtime.health()).problems.length > 0)
        expect(place.isAcknowledged(heard)).toBe(false)
        // Its words are nobody's business: errors quote what somebody said.
        expect((await place.runtime.health()).problems.join()).not.toContain('the store is away')
        expect(await mailOf(place)).toEqual([])
        isDown = false
        await until(() => place.shown().length === 1 && place.isAcknowledged(heard))
        expect(await mailOf(place)).toEqual(['say kept'])
        await until(async () => (await place.runtime.health()).problems.length === 0)
      })
    })

    law(
      'sets a message aside that cannot be read, counts it, and goes on with the next ones',
      {},
      async (place) => {
        place.say('say one')
        await until(() => place.shown().length === 1)
        for (const text of HOSTILE) place.sayRaw({ [place.textField]: text })
        const last = place.say('say two')
        await until(() => place.isAcknowledged(last) && place.shown().length === 2)
        expect(place.shown()).toEqual(['one', 'two'])
        expect(await mailOf(place)).toEqual(['say one', 'say two'])
        const problems = async () => (await place.runtime.health()).problems.join()
        await until(async () => (await problems()).includes(`${HOSTILE.length} messages of`))
        // The count stays; nothing else does.
        expect((await place.runtime.health()).problems).toHaveLength(1)
        expect(await problems()).not.toContain('secret')
      },
    )

    law(
      'goes on with the next messages, whatever value a field of one message has',
      {},
      async (place) => {
        const all = FIELDS.flatMap((field) => HOSTILE.map((value) => ({ [field]: value })))
        // Every fourth in `npm test`: each field with two or three values, each value in many fields.
        const step = Math.round(all.length / tries(all.length))
        for (const message of all.filter((_, nth) => nth % step === 0)) place.sayRaw(message)
        const last = place.say('say two')
        await until(
          () => place.isAcknowledged(last) && place.shown().some((text) => text.includes('two')),
        )
      },
    )

    law('slows down when the platform says so, and loses nothing', {}, async (place) => {
      place.limitNext(1)
      const startedAt = performance.now()
      place.say('say one')
      await until(() => place.shown().length === 1)
      expect(performance.now() - startedAt).toBeGreaterThan(1_000)
      place.say('say two')
      await until(() => place.shown().length === 2)
      expect(place.shown()).toEqual(['one', 'two'])
    })

    law('catches up in order when the network was away', {}, async (place) => {
      place.say('say one')
      await until(() => place.shown().length === 1)
      place.cut()
      const waiting = ['two', 'three', 'four'].map((word) => place.say(`say ${word}`))
      await new Promise((resolve) => setTimeout(resolve, 150))
      expect(place.shown()).toEqual(['one'])
      place.restore()
      await until(() => waiting.every((heard) => place.isAcknowledged(heard)))
      await until(() => place.shown().at(-1) === 'four')
      const mail = ['say one', 'say two', 'say three', 'say four']
      expect(await mailOf(place)).toEqual(mail)
    })

    law(
      'holds replies back while the network is away, and sends each once, in order',
      {},
      async (place) => {
        place.say('say one')
        await until(() => place.shown().length === 1)
        const [session] = await place.runtime.listSessions({ limit: 1 })
        if (session === undefined) throw new Error('No session.')
        place.cut()
        for (const word of ['two', 'three']) {
          const parts = [{ type: 'text', text: `say ${word}` }] as const
          await place.runtime.session(session.id).admit({ source: 'other', key: word, parts })
          await until(async () => {
            const waiting = await place.store.listReplies({ state: 'waiting', limit: 9 })
            return waiting.some(({ body }) => body?.includes(word))
          })
        }
        await new Promise((resolve) => setTimeout(resolve, 300))
        place.restore()
        await until(() => place.shown().length === 3)
        expect(place.shown()).toEqual(['one', 'two', 'three'])
        expect(await place.store.listReplies({ state: 'dead', limit: 9 })).toEqual([])
      },
    )

    law('sends a long answer in pieces that are whole together', {}, async (place) => {
      const words = Array.from({ length: 1_500 }, (_, at) => `word${at}`)
      place.say(`say ${words.join(' ')}`)
      await until(() => place.shown().join(' ').endsWith('word1499'))
      const shown = place.shown()
      expect(shown.length).toBeGreaterThan(1)
      for (const piece of shown) expect(piece.length).toBeLessThanOrEqual(place.lengthMax)
      expect(shown.flatMap((piece) => piece.trim().split(/\s+/))).toEqual(words)
    })

    law('shows what it cannot mark up in plain words', {}, async (place) => {
      place.refuseMarkupNext()
      place.say('say **bold** & <i>')
      await until(() => place.shown().length === 1)
      expect(place.shown()).toEqual(['**bold** & <i>'])
    })

    law(
      'a message changed while it waits is replaced, and both stay on record',
      { runs: false },
      async (place) => {
        const heard = place.say('say wrong')
        await until(async () => (await mailOf(place)).length === 1)
        const changed = place.change(heard, 'say right')
        await until(() => place.isAcknowledged(changed))
        place.tellAgain(changed)
        const again = place.change(heard, 'say right after all')
        await until(() => place.isAcknowledged(again))
        const mail = await allMail(place)
        expect(mail.map(({ text, state }) => [text, state])).toEqual([
          ['say wrong', 'withdrawn'],
          ['say right', 'withdrawn'],
          ['say right after all', 'pending'],
        ])
      },
    )

    law('a message changed after it was taken becomes a notification', {}, async (place) => {
      const heard = place.say('say first')
      await until(() => place.shown().length === 1)
      const changed = place.change(heard, 'say second')
      place.tellAgain(changed)
      await until(() => place.isAcknowledged(changed))
      await until(() => place.shown().length === 2)
      const mail = await allMail(place)
      expect(mail.map(({ lane }) => lane)).toEqual(['user', 'notification'])
      expect(mail[1]?.text).toContain('say second')
    })

    law(
      'a growing answer is one message that is changed until it is whole',
      // For several seconds: a machine that stalls sees it grow too.
      { tokensPerSecond: 50 },
      async (place) => {
        const words = Array.from({ length: 160 }, (_, at) => `word${at}`).join(' ')
        place.say(`say ${words}`)
        await until(() => place.shown().length === 1)
        expect(place.shown()[0]).not.toBe(words)
        expect(words.startsWith((place.shown()[0] ?? '').replace(' …', ''))).toBe(true)
        await until(() => place.shown()[0] === words)
        expect(place.shown()).toHaveLength(1)
        expect(place.sends()).toBe(1)
      },
    )

    it('a growing answer is never shown above an earlier one that still waits to be sent', async () => {
      // As when a process took over and has not come to send what the last one left.
      let isLate = true
      const seam = (store: Store): Store => ({
        ...store,
        claimReply: async (request) =>
          isLate ? { kind: 'none' } : await store.claimReply(request),
      })
      await played({ seam, tokensPerSecond: 150 }, async (place) => {
        place.say('say one')
        await until(
          async () => (await place.store.listReplies({ state: 'waiting', limit: 1 })).length === 1,
        )
        const words = Array.from({ length: 90 }, (_, at) => `word${at}`).join(' ')
        const heard = place.say(`say ${words}`)
        await until(() => place.isAcknowledged(heard))
        // Several times as long as it takes until a growing answer is shown.
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        expect(place.shown()).toEqual([])
        isLate = false
        await until(() => place.shown().at(-1) === words)
        expect(place.shown()).toEqual(['one', words])
      })
    })

    law(
      'a reply goes on in the messages that a dead process has shown of it',
      { tokensPerSecond: 150 },
      async (place) => {
        place.say('say before')
        await until(() => place.shown().length === 1)
        const [session] = await place.runtime.listSessions({ limit: 1 })
        if (session === undefined) throw new Error('No session.')
        // As it would stand in the store, had another process shown the first word and died.
        const old = place.shown().length
        const { runtime, store, channel, address } = place
        const key = `${session.id}-${session.turn + 1}`
        const ids = await idsOf(place)
        await store.putDraft({ sessionId: session.id, key, ids })
        await runtime.session(session.id).admit({
          ...{ source: 'other', key: 'k', parts: [{ type: 'text', text: 'say after' }] },
          replyTo: { edge: channel, address },
        })
        await until(() => place.shown().includes('after'))
        expect(place.shown()).toHaveLength(old)
        expect(place.sends()).toBe(old)
        await until(
          async () => (await store.findDraft({ sessionId: session.id, key })) === undefined,
        )
      },
    )

    law('what a dead process has shown beyond the whole reply is taken away', {}, async (place) => {
      place.say('say one')
      await until(() => place.shown().length === 1)
      place.say('say two')
      await until(() => place.shown().length === 2)
      const [session] = await place.runtime.listSessions({ limit: 1 })
      if (session === undefined) throw new Error('No session.')
      const { runtime, store, channel, address } = place
      const key = `${session.id}-${session.turn + 1}`
      await store.putDraft({ sessionId: session.id, key, ids: await idsOf(place, 2) })
      await runtime.session(session.id).admit({
        ...{ source: 'other', key: 'k', parts: [{ type: 'text', text: 'say after' }] },
        replyTo: { edge: channel, address },
      })
      await until(() => place.shown().join() === 'after')
      expect(place.sends()).toBe(2)
    })

    law('carries out commands and says what came of them', {}, async (place) => {
      const ask = async (text: string) => {
        const before = place.shown().length
        place.say(text)
        await until(() => place.shown().length > before)
        return place.shown().at(-1) ?? ''
      }
      expect(await ask('/status')).toContain('no session yet')
      await ask('say the harbour is blue')
      expect(await ask('/status')).toContain('ready')
      expect(await ask('/search harbour')).toContain('the harbour is blue')
      expect(await ask('/pin colour blue')).toContain('Pinned')
      expect(await ask('/pin rule: be brief')).toMatch(/pin/)
      expect(await ask('/stop')).toBe('No turn is running.')
      expect(await ask('/nonsense')).toContain('no command /nonsense')
      expect(await ask('/help')).toContain('/compact')
      expect(await ask('/new')).toContain('new session')
      expect(await place.runtime.listSessions({ limit: 10 })).toHaveLength(2)
      expect(await mailOf(place)).toEqual([])
    })

    law('two processes with one account are noticed and said', {}, async (place) => {
      place.say('say one')
      await until(() => place.shown().length === 1)
      place.rival()
      await until(async () =>
        (await place.runtime.health()).problems.some((text) => text.includes('process')),
      )
    })
  })
}

async function allMail(place: ChatPlace) {
  const { runtime, channel, address } = place
  const id = await runtime.findRoute({ agent: 'main', channel, address })
  if (id === undefined) return []
  const mail = await runtime.session(id).mailbox({ limit: 1_000 })
  return mail.filter(({ lane }) => lane !== 'control')
}

async function mailOf(place: ChatPlace): Promise<readonly string[]> {
  return (await allMail(place)).map(({ text }) => text)
}

/** The platform's ids of what was said last, as the outbox has them. */
async function idsOf(place: ChatPlace, count = 1): Promise<readonly string[]> {
  let receipts: readonly string[] = []
  await until(async () => {
    const sent = await place.store.listReplies({ state: 'sent', limit: 10 })
    receipts = sent.map(({ receipt }) => receipt)
    return receipts.length >= count
  })
  return receipts.slice(-count)
}
