import { describe, expect, it } from 'vitest'
import { FITTED, FRAGMENTS, HELD_OUT, ruleIn } from '../../../../../bench/rules/lists.ts'
import { assistant, system, toolResult, user } from '../../../../../test/support/builders.ts'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import { findCues } from './cues/find-cues.ts'
import { type FoundRule, findRules } from './find-rules.ts'
import { keepRules } from './keep-rules.ts'
import { weigh } from './weigh.ts'

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
  const shareFound = (messages: readonly string[]) =>
    messages.filter((message) => {
      const { text, isRule } = ruleIn(message)
      return textsOf(user(text)).some(isRule)
    }).length / messages.length

  it.each([
    ['that its weights were fitted on', FITTED, 0.85, 0.08],
    ['that no cue and no weight was chosen for', HELD_OUT, 0.85, 0.12],
  ])('finds most rules and few other sentences, in lists %s', (_, lists, most, few) => {
    expect(shareFound(lists.flatMap(({ rules }) => rules))).toBeGreaterThanOrEqual(most)
    expect(shareFound(lists.flatMap(({ others }) => others))).toBeLessThanOrEqual(few)
  })

  it('finds few rules in lines of a plan, a log or a program', () => {
    expect(textsOf(user(FRAGMENTS.join('\n'))).length).toBeLessThanOrEqual(3)
  })

  it('weighs a sentence the same with any number in it', () => {
    const [two, other] = [2, 12_345].map((count) => weigh(`Keep ${count} spaces, and 3 lines.`))
    expect(other).toEqual(two)
    expect(two?.reasons.map(({ feature }) => feature)).toContain('0')
  })

  it('lists the reasons for and against a rule, the strongest first', () => {
    const { sum, reasons } = weigh('never push to main again')
    expect(sum).toBe(reasons.reduce((total, { weight }) => total + weight, 0))
    const weights = reasons.map(({ weight }) => Math.abs(weight))
    expect(weights).toEqual(weights.toSorted((a, b) => b - a))
    const reported = weigh('my boss said that he never reads it').reasons
    expect(reasons.find(({ feature }) => feature === '@^always')?.weight).toBeGreaterThan(0)
    expect(reported.find(({ feature }) => feature === '@they')?.weight).toBeLessThan(0)
  })

  it('finds the start of a clause after a comma or a polite word', () => {
    const first = (text: string) =>
      findCues(text).flatMap((cue) => (cue.isFirst && cue.kind !== 'skip' ? [cue.text] : []))
    expect(first('Please never open it, and do not ask why')).toEqual(['never', 'do not'])
  })

  it('recognizes a word without its accent, but not a different word', () => {
    expect(textsOf(user('nao apague nada sem perguntar'))).toHaveLength(1)
    expect(textsOf(user('não apague nada sem perguntar'))).toHaveLength(1)
    expect(findCues('à partir de demain')[0]).toMatchObject({ text: 'à partir' })
    expect(findCues('isso é bom')[1]).toMatchObject({ text: 'é', kind: 'be' })
    expect(findCues('isso e aquilo')[1]).not.toMatchObject({ kind: 'be' })
  })

  it.each([
    'Never run rm -rf on the server.',
    'Never use git push --force.',
    'Never edit /etc/hosts.',
    'Never call /v1/charge.',
    'Never set NODE_ENV=production.',
    'Never kill -9 the database.',
    'Never log in to https://prod.example.com.',
    'Always log errors.',
    'Always delete temporary files.',
  ])('finds a rule about commands, paths and addresses: %s', (rule) => {
    expect(textsOf(user(rule))).toEqual([rule])
  })

  it.each(['tabs are open', 'it printed plain text only', 'ohne erfolg', 'alles gut'])(
    'takes a remark for none: %s',
    (remark) => {
      expect(textsOf(user(remark))).toEqual([])
    },
  )

  it.each([
    'Remember that.',
    'Please remember this for later.',
    'I want you to remember that!',
    'Never do that again.',
    'Keep it that way.',
    'Merke dir das bitte.',
    'Denk daran.',
    'Souviens-toi de ça.',
    "Ne l'oublie pas.",
    'No lo olvides.',
    'Não se esqueça disso.',
    'Ricordalo, per favore.',
    'Hou dat in gedachten.',
    'Не забудь это.',
    '记住这一点。',
    'これを忘れないでください。',
    '기억해 둬.',
  ])('does not take a sentence that only refers to another one for a rule: %s', (pointer) => {
    expect(textsOf(user(pointer))).toEqual([])
    // What it points at is kept by itself.
    const rule = 'Never open the gate.'
    expect(textsOf(user(`${rule} ${pointer}`))).toEqual([rule])
  })

  it.each([
    'Remember that I hate emojis.',
    'Always remember to run the linter.',
    'Keep it short.',
    'Never touch it.',
    'Denk immer daran, nie auf main zu pushen.',
    'N’oublie pas : jamais de push sur main.',
    'No lo subas nunca a producción.',
    '记住，永远不要删除日志。',
  ])('keeps a reference that also says what to do: %s', (rule) => {
    expect(textsOf(user(rule))).toEqual([rule])
  })

  it('finds rules only in messages of the person', () => {
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

  it('finds no rules in quotations', () => {
    const quotes = ['> Fine. Always approve it.\n\nMia: Go on.', '  > > Never ask Ben.\nWhat now?']
    for (const text of quotes) expect(textsOf(user(text))).toEqual([])
    const ruled = 'Mia: Never approve it without me.'
    expect(textsOf(user(`> Always approve it.\n\n${ruled}`))).toEqual([ruled])
  })

  it('names the author of a rule in a group, and masks a secret', () => {
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
  it('reads and writes each of many rules a few times only', () => {
    const count = 400
    let reads = 0
    const rules = Array.from({ length: count }, (_, at) => ({
      number: at + 1,
      get text() {
        reads += 1
        return `Never change the file number${at}.`
      },
    }))
    let written = 0
    const said = Array.from({ length: count }, (_, at) => ({
      message: user(''),
      number: count + at + 1,
      found: [{ text: `Never open the box number${at}.`, lifts: at % 2 === 0 }],
    }))
    const kept = keepRules({
      said,
      earlier: { rules } as unknown as Handoff,
      tokensMax: 200,
      countTokens: (text) => {
        written += text.split('\n').length
        return countTokens(text)
      },
    })
    expect(kept.at(-1)?.text).toBe(`Never open the box number${count - 1}.`)
    expect(reads).toBeLessThan(count * 20)
    expect(written).toBeLessThan(count * 20)
  })

  it('holds no more rules than any budget has room for', () => {
    const said = Array.from({ length: 1_100 }, (_, at) => ({
      message: user(''),
      number: at + 1,
      found: [{ text: `Never open the box number${at}.`, lifts: false }],
    }))
    const kept = keepRules({ said, tokensMax: Number.POSITIVE_INFINITY, countTokens })
    expect(kept).toHaveLength(1_000)
    expect(kept[0]?.number).toBe(101)
  })

  it('keeps author and time of a rule, and the rules of the earlier handoff', () => {
    const first = keep([{ ...user('Never push to main.'), at: '2026-11-16T10:00:00Z' }])
    expect(first).toEqual([{ text: 'Never push to main.', number: 1, at: '2026-11-16T10:00:00Z' }])
    const second = keep([user('Go on.')], { rules: first } as unknown as Handoff)
    expect(second).toEqual(first)
  })

  it.each([
    ['taken back', ['Never push to main.', 'You may now push to main.'], ['1>2', '2']],
    ['another value', ['The budget is 500 euros.', 'The budget is 800 euros.'], ['1>2', '2']],
    [
      'the same value in other words',
      ['The budget is 500 euros.', 'Our budget must be 500 euros.'],
      ['1', '2'],
    ],
    ['another language', ['Answer in German.', 'From now on answer in French.'], ['1>2', '2']],
    ['the opposite', ['Always squash the commits.', 'Never squash the commits.'], ['1>2', '2']],
    ['said again', ['Never push to main.', 'never push to main!'], ['2']],
    ['something else', ['Never push to main.', 'Never delete a branch.'], ['1', '2']],
    ['another name', ['Call me Captain.', 'Please call me Ana from now on.'], ['1>2', '2']],
    ['nothing taken back', ['You can now look at the map.'], []],
  ])('lets a later rule supersede an earlier one: %s', (_, said, expected) => {
    expect(numbered(keep(said.map((text) => user(text))))).toEqual(expected)
  })

  it('takes a rule back only if the revocation names most of what the shorter of both names', () => {
    const kept = (...found: readonly FoundRule[]) =>
      numbered(
        keepRules({
          said: found.map((each, at) => ({ message: user(''), number: 1 + at, found: [each] })),
          tokensMax: 1_000,
          countTokens,
        }),
      )
    const rule = { text: 'Never deploy the billing service on Fridays.', lifts: false }
    const lifting = (text: string) => ({ text, lifts: true })
    expect(kept(rule, lifting('You may deploy the billing service again.'))).toEqual(['1>2', '2'])
    expect(kept(rule, lifting('You may deploy photos of gardens and boats.'))).toEqual(['1'])
    expect(kept(rule, lifting('You may print photos.'))).toEqual(['1'])
  })

  it.each([
    ['Never touch server web-1.', 'Never touch server web-2.'],
    ['Never restart db-stage-3.', 'Never restart db-stage-4.'],
    ['Never open port 8080.', 'Never open port 8081.'],
    ['Never mail customer 1043.', 'Never mail customer 2077.'],
    ['Never deploy before 9:00.', 'Never deploy after 17:00.'],
    ['Never restart the production database.', 'Always restart the staging database.'],
    ['Call me before you deploy anything.', 'Please call me Ana.'],
    ['The budget for ads is 500 euros.', 'The budget for travel is 300 euros.'],
    ['Never answer customers in German.', 'Always answer me in English.'],
    ['Never touch server web-1.', 'You may now touch server web-2.'],
  ])('does not let a rule about something else supersede it: %s %s', (first, second) => {
    const kept = keep([user(first), user(second)])
    expect(kept.map(({ supersededBy }) => supersededBy)).not.toContain(2)
    expect(kept.map(({ text }) => text)).toContain(first)
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
