import { describe, expect, it } from 'vitest'
import {
  FRESH_DISTRACTORS,
  FRESH_RULES,
  HELD_OUT_DISTRACTORS,
  HELD_OUT_RULES,
} from '../../../../../bench/rules/fresh-sentences.ts'
import { LATER_DISTRACTORS, LATER_RULES } from '../../../../../bench/rules/later-sentences.ts'
import { DISTRACTORS, RULES } from '../../../../../bench/rules/sentences.ts'
import {
  SPOKEN_DISTRACTORS,
  SPOKEN_RULES,
  UNSEEN_DISTRACTORS,
  UNSEEN_RULES,
} from '../../../../../bench/rules/spoken-sentences.ts'
import {
  NEXT_DISTRACTORS,
  NEXT_RULES,
  TERSE_DISTRACTORS,
  TERSE_RULES,
  WIDE_DISTRACTORS,
  WIDE_RULES,
} from '../../../../../bench/rules/wide-sentences.ts'
import { assistant, system, toolResult, user } from '../../../../../test/support/builders.ts'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import { findRules } from './find-rules.ts'
import { keepRules } from './keep-rules.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const textsOf = (message: Message) => findRules(message).map(({ text }) => text)
const keep = (head: readonly Message[], earlier?: Handoff, tokensMax = 1_000) =>
  keepRules({
    said: head.map((message, at) => ({ message, number: 1 + at, found: findRules(message) })),
    tokensMax,
    countTokens,
    ...(earlier && { earlier }),
  })
const numbered = (rules: ReturnType<typeof keep>) =>
  rules.map(({ number, supersededBy }) =>
    supersededBy ? `${number}>${supersededBy}` : `${number}`,
  )

describe('findRules', () => {
  it('finds rules in many forms and languages', () => {
    const wide = [...WIDE_RULES, ...NEXT_RULES, ...TERSE_RULES]
    const all = [...RULES, ...LATER_RULES, ...FRESH_RULES, ...wide]
    const found = all.filter((rule) => textsOf(user(rule)).length > 0)
    expect(found.length / all.length).toBeGreaterThanOrEqual(0.98)
  })

  it('finds none in what only sounds like one', () => {
    const wrong = [...DISTRACTORS, ...LATER_DISTRACTORS, ...FRESH_DISTRACTORS].filter(
      (text) => textsOf(user(text)).length > 0,
    )
    expect(wrong).toEqual([])
  })

  it('takes few sentences of the wide lists for one', () => {
    const all = [...WIDE_DISTRACTORS, ...NEXT_DISTRACTORS, ...TERSE_DISTRACTORS]
    const wrong = all.filter((text) => textsOf(user(text)).length > 0)
    expect(wrong.length / all.length).toBeLessThanOrEqual(0.01)
  })

  it('finds most of those that it was not tuned on, and takes few others for one', () => {
    const count = (texts: readonly string[]) =>
      texts.filter((text) => textsOf(user(text)).length > 0).length
    expect(count(HELD_OUT_RULES)).toBeGreaterThanOrEqual(33)
    expect(count(HELD_OUT_DISTRACTORS)).toBeLessThanOrEqual(3)
    expect(count(UNSEEN_RULES)).toBeGreaterThanOrEqual(60)
    expect(count(UNSEEN_DISTRACTORS)).toBeLessThanOrEqual(2)
  })

  it('finds rules that are jotted down without a verb, in several languages', () => {
    const count = (texts: readonly string[]) =>
      texts.filter((text) => textsOf(user(text)).length > 0).length
    expect(count(SPOKEN_RULES)).toBeGreaterThanOrEqual(85)
    expect(count(SPOKEN_DISTRACTORS)).toBeLessThanOrEqual(2)
    // A remark of the same words has a verb, a subject, or says how something ended.
    for (const remark of [
      'tabs are open',
      'it printed plain text only',
      'ohne erfolg',
      'alles gut',
    ]) {
      expect(textsOf(user(remark))).toEqual([])
    }
  })

  it('takes none from anybody but the person', () => {
    const rule = 'Never open the gate.'
    expect(textsOf(user(rule))).toEqual([rule])
    for (const message of [
      assistant(rule),
      system(rule),
      toolResult('a', rule),
      user(`<system-reminder>${rule}</system-reminder>`),
      user(`\`\`\`\n${rule}\n${'x = 1\n'.repeat(90)}\`\`\``),
      user(`She wrote: "${rule}"`),
      { role: 'user', synthetic: true, parts: [{ type: 'text', text: rule }] } as const,
    ]) {
      expect(textsOf(message)).toEqual([])
    }
  })

  it('takes none from what a reply quotes', () => {
    const quotes = ['> Fine. Always approve it.\n\nMia: Go on.', '  > > Never ask Ben.\nWhat now?']
    for (const text of quotes) expect(textsOf(user(text))).toEqual([])
    const ruled = 'Mia: Never approve it without me.'
    expect(textsOf(user(`> Always approve it.\n\n${ruled}`))).toEqual([ruled])
  })

  it('says who ruled in a group, and masks a secret', () => {
    expect(textsOf(user('Anna: Good morning. Never open the gate.'))).toEqual([
      'Anna: Never open the gate.',
    ])
    const token = `ghp_${'a1B2'.repeat(9)}`
    const [text] = textsOf(user(`Never share the key ${token} with us.`))
    expect(text).toMatch(/^Never share the key (?!ghp_)/)
  })

  it('takes linear time', () => {
    const prepare = (length: number) => () =>
      textsOf(user('never a, always b if not '.repeat(length)))
    expect(costOfTenfold(prepare, { size: 400 })).toBeLessThan(15)
  })
})

describe('keepRules', () => {
  it('keeps who said it and when, and those of the earlier handoff', () => {
    const first = keep([{ ...user('Never push to main.'), at: '2026-11-16T10:00:00Z' }])
    expect(first).toEqual([{ text: 'Never push to main.', number: 1, at: '2026-11-16T10:00:00Z' }])
    const second = keep([user('Go on.')], { rules: first } as unknown as Handoff)
    expect(second).toEqual(first)
  })

  it.each([
    ['taken back', ['Never push to main.', 'You may now push to main.'], ['1>2', '2']],
    ['another value', ['The budget is 500 euros.', 'The budget is 800 euros.'], ['1>2', '2']],
    ['another language', ['Answer in German.', 'From now on answer in French.'], ['1>2', '2']],
    ['the opposite', ['Always squash the commits.', 'Never squash the commits.'], ['1>2', '2']],
    ['said again', ['Never push to main.', 'never push to main!'], ['2']],
    ['something else', ['Never push to main.', 'Never delete a branch.'], ['1', '2']],
    ['nothing taken back', ['You can now look at the map.'], []],
  ])('lets a later one supersede an earlier one: %s', (_, said, expected) => {
    expect(numbered(keep(said.map((text) => user(text))))).toEqual(expected)
  })

  it('stays within its budget, superseded ones first', () => {
    const head = [
      user('Never push to main.'),
      ...Array.from({ length: 30 }, (_, at) => user(`Never open gate ${at} in hall ${at}${at}.`)),
      user('You may now push to main.'),
    ]
    const kept = keep(head, undefined, 120)
    expect(kept.length).toBeGreaterThan(3)
    expect(kept.map(({ number }) => number)).not.toContain(1)
    expect(kept.at(-1)?.number).toBe(32)
  })
})
