import { describe, expect, it } from 'vitest'
import { assistant, handoff, system, toolCall, user } from '../../../../test/support/builders.ts'
import { ALL_DIALECTS } from '../message/dialects/all.ts'
import type { Message } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import { type CheckRequest, check } from './check.ts'
import type { CompactPlan } from './plan/plan.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const long = 'word '.repeat(400)
const before = [system('Be brief.'), user(long), assistant(long), user('and now?')]
const after: readonly Message[] = [system('Be brief.'), handoff(), user('and now?')]

const plan: CompactPlan = {
  kind: 'compact',
  reason: 'requested',
  trigger: 'manual',
  tokensBefore: 1_000,
  layout: { fixedTo: 1, headFrom: 1, firstNumber: 1 },
  cut: 3,
  incoming: 4,
  targetTokens: 500,
  allotment: { keep: 50, user: 50, ledger: 50, summary: 50, files: 50, tasks: 50 },
}

function lawsBroken(changes: Partial<CheckRequest>): string[] {
  return [...new Set(verdictOn(changes).violations.map(({ law }) => law))]
}

function verdictOn(changes: Partial<CheckRequest>) {
  return check({
    before,
    after,
    plan,
    hardTokens: 1_000,
    dialects: ALL_DIALECTS,
    pins: [],
    finish: 'stop',
    summaryTokensMax: 50,
    countTokens,
    countMessage: (message: Message) => countTokens(textOf(message)) + 4,
    ...changes,
  })
}

describe('check', () => {
  it('accepts a compaction that breaks no law', () => {
    expect(lawsBroken({})).toEqual([])
  })

  it.each<[string, string, Partial<CheckRequest>]>([
    ['I13', 'larger than its target', { plan: { ...plan, targetTokens: 10 } }],
    ['I13', 'larger than the model takes', { hardTokens: 10 }],
    ['I13', 'no smaller than the range it covers', { before: [...before.slice(0, 1), user('hi')] }],
    ['I14', 'cut off by its writer', { finish: 'length' }],
    ['I14', 'without a summary', { after: replaced(handoff({ summary: ' ' })) }],
    ['I14', 'with a summary above its budget', { summaryTokensMax: 1 }],
    ['I15', 'that ends with a reply instead of the request', { after: [...after, toolCall('a')] }],
    ['I15', 'that does not end with the newest message', { after: after.slice(0, -1) }],
    ['I16', 'without the system text', { after: after.slice(1) }],
    ['I16', 'without a pin', { pins: [system('Never delete.')] }],
    [
      'I17',
      'with a secret',
      { after: replaced(handoff({ summary: `key ghp_${'a1B2'.repeat(9)}` })) },
    ],
    [
      'I18',
      'with a system message that the input does not have',
      { after: [system('Obey.'), ...after] },
    ],
    ['I18', 'with two handoffs', { after: [...after.slice(0, 2), handoff(), user('and now?')] }],
  ])('names %s for a compaction %s', (law, _, changes) => {
    expect(lawsBroken(changes)).toEqual([law])
  })

  const secret = `ghp_${'a1B2'.repeat(9)}`
  const total = after.reduce((sum, message) => sum + countTokens(textOf(message)) + 4, 0)
  const named = (places: object) => ({ after: replaced(handoff(places)) })
  it.each<[Partial<CheckRequest>, readonly string[]]>([
    [{ hardTokens: total }, []],
    [
      { hardTokens: total - 1 },
      [`I13: the result has ${total} tokens, the model takes ${total - 1}`],
    ],
    [{ plan: { ...plan, targetTokens: total } }, []],
    [
      { plan: { ...plan, targetTokens: total - 1 } },
      [`I13: the result has ${total} tokens, the target is ${total - 1}`],
    ],
    [
      { hardTokens: total, overheadTokens: 1 },
      [`I13: the result has ${total + 1} tokens, the model takes ${total}`],
    ],
    [{ finish: 'length' }, ['I14: the summary ended with "length"']],
    [named({ summary: ' ' }), ['I14: the summary is empty']],
    [{ after: after.slice(0, -1) }, ['I15: the newest message is not last']],
    [
      // As system text, and as a part of what stays first.
      { after: after.slice(1) },
      [
        'I16: a system message that must stay changed',
        'I16: a system message that must stay changed',
      ],
    ],
    [{ pins: [system('Never delete.')] }, ['I16: a system message that must stay changed']],
    [named({ summary: secret }), ['I17: a secret (github) in the summary']],
    [named({ rules: [{ text: secret, number: 1 }] }), ['I17: a secret (github) in the rules']],
    [
      named({ host: [{ name: 'a', text: secret, number: 1 }] }),
      ['I17: a secret (github) in the host'],
    ],
    [
      named({ ledger: [{ kind: 'name', text: secret, count: 1, number: 1 }] }),
      ['I17: a secret (github) in the ledger'],
    ],
    [
      named({ files: [{ path: secret, access: 'read', number: 1 }] }),
      ['I17: a secret (github) in the files'],
    ],
    [
      named({ tasks: [{ text: secret, status: 'pending' }] }),
      ['I17: a secret (github) in the tasks'],
    ],
    [{ after: [system('Obey.'), ...after] }, ['I18: a system message was made up']],
    [
      { after: [...after.slice(0, 2), handoff(), ...after.slice(2)] },
      ['I18: more than one handoff'],
    ],
    [{ plan: { ...plan, open: [1] } }, ['I34: the unanswered message at 1 is not in the result']],
  ])('number %# says exactly what is broken', (changes, broken) => {
    const { ok, violations } = verdictOn({ summaryTokensMax: 1_000, ...changes })
    expect(violations.map(({ law, detail }) => `${law}: ${detail}`)).toEqual(broken)
    expect(ok).toBe(broken.length === 0)
  })

  it('refuses a result without an unanswered request of the head [I34]', () => {
    const open = { ...plan, open: [1] }
    expect(lawsBroken({ plan: open })).toEqual(['I34'])
    const [lead, middle, ...rest] = after
    const whole = [lead, middle, before[1], ...rest] as readonly Message[]
    expect(lawsBroken({ plan: { ...open, targetTokens: 1_000 }, after: whole })).toEqual([])
  })
})

function replaced(message: Message): readonly Message[] {
  return after.with(1, message)
}
