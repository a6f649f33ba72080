import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../test/support/timing.ts'
import { findSummaryFault } from './judge-summary.ts'

const english = 'Please check the harbour map and write down every depth at the piers. '
const russian = 'Пожалуйста, проверь карту гавани и запиши все глубины у причалов. '
const japanese = '港の地図を確認して、桟橋のすべての水深を書き留めてください。'
const summary = `## Progress and decisions\n- The map was checked; src/harbour/map.ts holds the depths.\n`

describe('findSummaryFault', () => {
  it.each([
    "I'm sorry, but I can't help with that.",
    'I cannot summarise this conversation.',
    'As an AI language model I must not.',
    'Es tut mir leid, dabei kann ich nicht helfen.',
    'Je suis désolé, je ne peux pas.',
    '抱歉，我无法提供帮助。',
    'Извините, я не могу помочь.',
  ])('%s is a refusal [fault 51]', (text) => {
    expect(findSummaryFault(text, english)).toBe('refusal')
  })

  it('a handoff that tells of a refusal is none', () => {
    const told = `${summary}I cannot help with that, said the agent, and gave up.`
    expect(findSummaryFault(told, english)).toBeUndefined()
    expect(
      findSummaryFault(`I can't ${'was the refrain of the whole day. '.repeat(40)}`, english),
    ).toBe(undefined)
  })

  it.each([
    ['English of Russian', summary.repeat(3), russian, 'other-language'],
    ['English of Japanese', summary.repeat(3), japanese.repeat(3), 'other-language'],
    ['Russian of English', russian.repeat(3), english, 'other-language'],
    ['Russian of Russian', russian.repeat(3), russian, undefined],
    [
      'Russian of Russian with many paths',
      `${russian}\n${'src/a/b.ts '.repeat(20)}`,
      russian,
      undefined,
    ],
    ['Japanese of Japanese', japanese.repeat(3), japanese.repeat(3), undefined],
    ['English of commands', summary, 'npm run build', undefined],
    ['English of nothing', summary, '', undefined],
  ])('%s: %#', (_, text, asked, fault) => {
    expect(findSummaryFault(text, asked)).toBe(fault)
  })

  it('takes linear time', () => {
    const prepare = (length: number) => () =>
      findSummaryFault('a 中'.repeat(length), 'б"\' '.repeat(length))
    expect(costOfTenfold(prepare, { size: 25_000 })).toBeLessThan(15)
  })
})
