import { describe, expect, it } from 'vitest'
import { CONTINUATIONS, OTHER_FAULTS, SUMMARIES } from '../../../../../bench/summaries/cases.ts'
import { assistant, toolCall, toolResult, user } from '../../../../../test/support/builders.ts'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import type { Message } from '../../message/message.ts'
import { handoffPrompt } from '../summary/prompt.ts'
import { judgeSummary } from './judge-summary.ts'

const english = 'Please check the harbour map and write down every depth at the piers. '
const russian = 'Пожалуйста, проверь карту гавани и запиши все глубины у причалов. '
const japanese = '港の地図を確認して、桟橋のすべての水深を書き留めてください。'
const german =
  'Bitte prüfe die Karte und notiere, wie tief das Wasser ist und ob der Kai nicht mit einer Mauer endet. '
const summary = `## Progress and decisions\n- The map was checked; src/harbour/map.ts holds the depths.\n- The user was told that the second pier and the depth of it are still to be measured by the crew.\n- It was decided that the survey of the harbour starts with the north side and that the boats are hired.\n`
const { ask } = handoffPrompt('', { tokensMax: 1_500 })

const faultOf = (text: string, range: readonly Message[] = []) =>
  judgeSummary(text, { range, ask }).fault

describe('judgeSummary by form', () => {
  it.each(SUMMARIES)('takes $name', ({ text }) => {
    expect(faultOf(text)).toBeUndefined()
  })

  it.each(CONTINUATIONS)('catches a continuation: $name', ({ text }) => {
    expect(faultOf(text)).toBe('continuation')
  })

  it.each(OTHER_FAULTS)('catches $fault: $name', ({ text, fault }) => {
    expect(faultOf(text)).toBe(fault)
  })

  it.each([
    "I'm sorry, but I can't help with that.",
    'I cannot summarize this conversation.',
    'As an AI language model I must not.',
    'Es tut mir leid, dabei kann ich nicht helfen.',
    'Je suis désolé, je ne peux pas.',
    '抱歉，我无法提供帮助。',
    'Извините, я не могу помочь.',
  ])('%s is a refusal [fault 51]', (text) => {
    expect(faultOf(text)).toBe('refusal')
  })

  it('accepts a summary that mentions a refusal', () => {
    expect(faultOf(`${summary}I cannot help with that, said the agent.`)).toBeUndefined()
  })

  it('catches a repetition of the instructions', () => {
    expect(faultOf(ask)).toBe('prompt-echo')
    expect(faultOf(`Here is what I was given.\n${ask.slice(0, 700)}`)).toBe('prompt-echo')
  })

  it('does not take a text of more than 800 characters for a refusal', () => {
    const refusal = (length: number) => `I cannot do that. ${'n'.repeat(length)}`.slice(0, length)
    expect([faultOf(refusal(800)), faultOf(refusal(801))]).toEqual(['refusal', undefined])
  })

  it('accepts a tool call in a summary after forty words', () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ')
    const call = '<tool_call>{"name":"find"}</tool_call>'
    expect(faultOf(`${words(39)} ${call}`)).toBe('tool-call')
    expect(faultOf(`${words(40)} ${call}`)).toBeUndefined()
    expect(faultOf(call)).toBe('tool-call')
  })

  it('catches repetition by runs of six words', () => {
    /** A de Bruijn cycle of one-letter words: each run of `stretch` words occurs once per cycle. */
    const cycling = (stretch: number, words: number) => {
      const cycle = '0'.repeat(stretch).split('')
      const seen = new Set([cycle.join('')])
      for (;;) {
        const end = cycle.slice(1 - stretch).join('')
        const next = ['1', '0'].find((word) => !seen.has(end + word))
        if (next === undefined) break
        seen.add(end + next)
        cycle.push(next)
      }
      const round = cycle.slice(0, 2 ** stretch)
      return Array.from({ length: words }, (_, at) => round[at % round.length]).join(' ')
    }
    expect(faultOf(cycling(6, 74))).toBeUndefined()
    expect(faultOf(cycling(6, 64 + 64 + 5))).toBeUndefined()
    expect(faultOf(cycling(6, 64 + 64 + 6))).toBe('repetition')
    // A short text may repeat itself.
    expect(faultOf('no '.repeat(34))).toBeUndefined()
    expect(faultOf('no '.repeat(35))).toBe('repetition')
  })

  it('removes turns that the writer invented after the summary', () => {
    const played = `${summary}\n[USER]: And now?\n\n[ASSISTANT]: Now we sail.`
    expect(judgeSummary(played, { range: [], ask })).toEqual({ text: summary.trim() })
  })

  it('judges only the text inside summary tags', () => {
    const text = `<analysis>Let me think. I'll read it again.</analysis><summary>${summary}</summary>`
    expect(judgeSummary(text, { range: [], ask })).toEqual({ text: summary.trim() })
  })
})

describe('judgeSummary with the conversation', () => {
  const topics = ['lig', 'cra', 'war', 'rai', 'cus'].map((name) =>
    Array.from({ length: 24 }, (_, at) => `${name}${String.fromCharCode(97 + at)}x`),
  )
  const range = topics.flatMap((words, at) => [
    user(`Look at ${words.slice(0, 12).join(' ')}.`),
    toolCall(`c${at}`, { query: words.slice(12, 20).join(' ') }),
    toolResult(`c${at}`, 'nothing to see '.repeat(200)),
    assistant(`Found ${words.slice(20).join(' ')}.`),
  ])
  const naming = (from: number) =>
    `The survey went on. ${topics
      .slice(from)
      .map((words) => `The user asked about ${words.slice(0, 6).join(', ')}.`)
      .join(' ')}`

  it('accepts a text that mentions every part of the conversation, and catches one that mentions only the last', () => {
    expect(faultOf(naming(0), range)).toBeUndefined()
    expect(faultOf(naming(4), range)).toBe('omits-history')
  })

  it('accepts a text under the requested headings that covers only the newest part', () => {
    expect(faultOf(`## Progress and decisions\n- ${naming(4)}`, range)).toBeUndefined()
    const elsewhere =
      '## What remains\n- The user asked about bread prices in May, a recipe with rye, and whether the oven should be replaced before winter comes.'
    expect(faultOf(elsewhere, range)).toBe('omits-history')
  })

  it('does not apply this to the summary of a piece', () => {
    expect(judgeSummary(naming(4), { range, ask, isPiece: true }).fault).toBeUndefined()
  })

  it('catches a text that is too short for its conversation', () => {
    const long = Array.from({ length: 40 }, () => user('harbour depth tide '.repeat(90)))
    expect(faultOf('## What remains\n- Nothing.', long)).toBe('too-short')
    expect(faultOf('## What remains\n- Nothing.', long.slice(0, 1))).toBeUndefined()
  })

  /** A text about this many topics that never mentions the user. */
  const about = (count: number, perTopic: number, extra = 0) =>
    `Seen in order: ${topics
      .slice(0, count)
      .map((words, at) => words.slice(0, perTopic + (at === 0 ? extra : 0)).join(' '))
      .join('; ')}. All of it was written down with the places and the hours of each.`
  const free = (text: string) => judgeSummary(text, { range }).fault

  it('requires four words of all parts but one in a text without the headings', () => {
    expect(faultOf(about(4, 5), range)).toBeUndefined()
    expect(faultOf(about(4, 5, -1), range)).toBe('omits-history')
    expect(faultOf(about(3, 10), range)).toBe('omits-history')
  })

  it('requires only half of the parts if no headings were requested', () => {
    expect(free(about(3, 4))).toBeUndefined()
    expect(free(about(2, 12))).toBe('omits-history')
  })

  it('requires nothing of a conversation with too few distinct parts', () => {
    // Three of five stretches have enough distinctive words.
    const few = [...range.slice(0, 12), ...Array.from({ length: 8 }, () => user('Go on.'))]
    const nothing = 'Bread was baked with rye in May, and the oven was replaced before the winter.'
    expect(judgeSummary(nothing, { range: few }).fault).toBeUndefined()
    expect(judgeSummary(nothing, { range }).fault).toBe('omits-history')
  })

  it('recognizes a requested heading with blanks around it', () => {
    const headed = `## What Remains\n- ${naming(4)}`
    const asked = '# Write\n##   what remains \t\nAs a list.'
    expect(judgeSummary(headed, { range, ask: asked }).fault).toBeUndefined()
  })

  it('requires one word for each 150 words of the conversation', () => {
    // 9,000 characters are 1,500 words.
    const spoken = Array.from({ length: 5 }, () => user('x'.repeat(1_800)))
    const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ')
    expect(judgeSummary(words(10), { range: spoken }).fault).toBeUndefined()
    expect(judgeSummary(words(9), { range: spoken }).fault).toBe('too-short')
  })

  it('judges the language by the user’s own messages only', () => {
    const wrote = [user(english), assistant(german.repeat(9))]
    expect(faultOf(summary, wrote)).toBeUndefined()
    const synthetic: Message = { ...user(german.repeat(9)), synthetic: true }
    expect(faultOf(summary, [user(english), synthetic])).toBeUndefined()
    expect(faultOf(summary, [user(english), user(german.repeat(9))])).toBe('other-language')
  })

  it.each([
    ['English of Russian', summary, russian, 'other-language'],
    ['English of Japanese', summary, japanese.repeat(3), 'other-language'],
    ['English of German', summary, german.repeat(3), 'other-language'],
    ['Russian of English', russian.repeat(3), english, 'other-language'],
    ['Russian of Russian', `Пользователь просил: «${russian}»`, russian, undefined],
    [
      'Russian with many paths',
      `Пользователь ${Array.from({ length: 9 }, (_, at) => `src/a/b${at}.ts`).join(' ')}`,
      russian,
      undefined,
    ],
    ['Japanese of Japanese', `ユーザー：「${japanese}」`, japanese.repeat(3), undefined],
    ['English of commands', summary, 'npm run build', undefined],
    ['English of nothing', summary, '', undefined],
  ])('%s', (_, text, asked, fault) => {
    const wrote = text === russian.repeat(3) ? `## What remains\n${russian}${russian}` : text
    expect(faultOf(wrote, [user(asked)])).toBe(fault)
  })

  it('takes linear time', () => {
    const prepare = (length: number) => () =>
      faultOf('a 中"\' '.repeat(length), [user('б"\' [USER]: `'.repeat(length))])
    expect(costOfTenfold(prepare, { size: 5_000 })).toBeLessThan(15)
  })
})
