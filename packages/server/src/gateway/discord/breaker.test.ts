import type { APIMessage } from 'discord.js'
import { describe, expect, it } from 'vitest'
import type { Sent } from '../chat/platform.ts'
import { Breaker, type BreakerTerms } from './breaker.ts'
import { snowflakeAt } from './resume-point.ts'

const [SELF, BOT] = ['1', '7']
const RULE = { messagesMax: 2, tokensMin: 10 }
const NOTICE =
  '<@7> (The last 2 messages between us were all short and nothing happened in between, so further ones of that kind wake nobody here. One with something to say does.)'
const NOTE =
  '[This was kept without waking you: the last 2 messages between you two were all short and nothing happened in between. Further ones of that kind are kept the same way.]'

const START = 1_700_000_000_000
const idAt = (seconds: number) => snowflakeAt(START + seconds * 1_000)

function said(seconds: number, from: string, content: string): APIMessage {
  return { id: idAt(seconds), author: { id: from, bot: true }, content } as unknown as APIMessage
}

function open({
  later = [] as readonly APIMessage[],
  sent = { kind: 'sent', id: '9' } as Sent,
  actedAt = null as number | null,
  rule = RULE as BreakerTerms['rule'],
} = {}) {
  const log: unknown[] = []
  const note = (level: string) => (fields: object, text: string) => {
    log.push([level, fields, text])
  }
  const breaker = new Breaker({
    ...{ self: SELF, bots: [BOT], rule, address: '20' },
    findAct: async (bot) => {
      log.push(['acts of', bot])
      return actedAt
    },
    readAfter: async (id) => {
      log.push(['read after', id])
      return later
    },
    send: async (out) => {
      log.push(['send', out])
      return sent
    },
    logger: {
      ...{ debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    },
  })
  // As many as the rule allows, one of each.
  breaker.note(said(1, BOT, '<@1> thanks'))
  breaker.note(said(2, SELF, '<@7> thanks'))
  return { breaker, log }
}

const THIRD = said(3, BOT, '<@1> thanks')
const LOGGED = [
  'warn',
  { address: '20', bot: BOT },
  'bots only acknowledge each other: their messages wait',
]
const SENT = ['send', { address: '20', text: NOTICE, nonce: `held-${THIRD.id}` }]

describe('Breaker', () => {
  it('lets a message with something to say pass, and asks nothing', async () => {
    const { breaker, log } = open()
    expect(await breaker.passes(said(3, BOT, `<@1> ${'word '.repeat(10)}`))).toBe(true)
    expect([log, breaker.kept]).toEqual([[], []])
  })

  it('hears only listed bots that address us', () => {
    const { breaker } = open()
    expect(breaker.hears(THIRD)).toBe(true)
    expect(breaker.hears(said(3, '8', '<@1> thanks'))).toBe(false)
    expect(breaker.hears(said(3, BOT, '<@9> thanks'))).toBe(false)
  })

  it('keeps short ones beyond the rule, and tells both bots once', async () => {
    const { breaker, log } = open()
    expect(await breaker.passes(THIRD)).toBe(false)
    const next = said(4, BOT, '<@1> bye')
    expect(await breaker.passes(next)).toBe(false)
    expect(log).toEqual([
      ...[['acts of', BOT], ['read after', THIRD.id], LOGGED, SENT],
      ['acts of', BOT],
    ])
    expect(breaker.kept).toEqual([
      { message: THIRD, note: NOTE },
      { message: next, note: null },
    ])
    breaker.release()
    expect(breaker.kept).toEqual([])
  })

  it('lets it pass after a tool call of one of the two', async () => {
    const { breaker, log } = open({ actedAt: START + 1_500 })
    expect(await breaker.passes(THIRD)).toBe(true)
    expect(log).toEqual([['acts of', BOT]])
    const before = open({ actedAt: START })
    expect(await before.breaker.passes(THIRD)).toBe(false)
  })

  it.each<[string, APIMessage, boolean]>([
    ['our notice to it', said(4, SELF, NOTICE), false],
    ['our notice to another', said(4, SELF, NOTICE.replace('<@7>', '<@8>')), true],
    ['a notice of another', said(4, '8', NOTICE), true],
    ['another word of ours', said(4, SELF, '<@7> thanks'), true],
  ])('tells again after a restart, behind %s: %s', async (_what, later, isTold) => {
    const { breaker, log } = open({ later: [later] })
    expect(await breaker.passes(THIRD)).toBe(false)
    expect(log.slice(2)).toEqual(isTold ? [LOGGED, SENT] : [])
  })

  it('logs a notice that was not sent', async () => {
    const { breaker, log } = open({ sent: { kind: 'failed', why: 'final', text: 'no' } })
    await breaker.passes(THIRD)
    await Promise.resolve()
    expect(log.at(-1)).toEqual(['warn', { address: '20', reason: 'no' }, 'notice not sent'])
  })

  it('keeps nothing without a rule', async () => {
    const { breaker, log } = open({ rule: null })
    expect([await breaker.passes(THIRD), log]).toEqual([true, []])
  })
})
