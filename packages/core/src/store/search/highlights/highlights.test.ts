import { expect, it } from 'vitest'
import { highlightsIn } from './highlights.ts'

function marked(text: string, question: string, exact = false): string {
  let shown = ''
  let end = 0
  for (const { from, to } of highlightsIn(text, { text: question, exact })) {
    shown += `${text.slice(end, from)}<${text.slice(from, to)}>`
    end = to
  }
  return shown + text.slice(end)
}

it.each([
  ['words in any form', 'The deployments FAILED, failing', 'deploy fail', '<FAILED>, <failing>'],
  ['with marks on letters', 'ein Café in Zürich', 'cafe zurich', 'ein <Café> in <Zürich>'],
  ['no function words', 'what is it about the orchid', 'what is the orchid', 'the <orchid>'],
  ['function words alone', 'with what', 'with what', '<with> <what>'],
  ['a name by its part', 'call compactMessages()', 'compact', 'call <compactMessages>()'],
  ['parts of a path', 'in src/store/find.ts', 'store/find.ts', 'src/<store>/<find>.<ts>'],
  ['scripts without blanks', 'データベースの設計', '設計', 'データベースの<設計>'],
  ['a phrase', 'x is  not\na function', '"is not a"', 'x <is  not\na> function'],
  ['a phrase and words', 'x is not a function', '"is not" x', '<x> <is not> a function'],
  ['nothing else', 'nothing of it', 'orchid', 'nothing of it'],
])('marks %s', (_, text, question, wanted) => {
  expect(marked(text, question)).toContain(wanted)
})

it('marks only whole occurrences of an exact text, whatever its signs', () => {
  const text = 'TypeError: x[0] is; typeerror: X[0] is; TypeError: x'
  expect(marked(text, 'TypeError: x[0]', true)).toBe(
    '<TypeError: x[0]> is; <typeerror: X[0]> is; TypeError: x',
  )
})

it('stays within the text and cuts no character, whatever it is given', () => {
  const texts = ['', '\ud800', '😀 İstanbul İ', 'ﬁn ﬁ', '漢'.repeat(5_000), 'a'.repeat(100_000)]
  for (const text of texts) {
    for (const question of [...texts, 'istanbul', 'fin', '"İ"']) {
      for (const exact of [true, false]) {
        let end = -1
        for (const { from, to } of highlightsIn(text, { text: question, exact })) {
          expect(from).toBeGreaterThan(end)
          expect(to).toBeGreaterThan(from)
          expect(text.slice(from, to).isWellFormed()).toBe(text.isWellFormed())
          end = to
        }
        expect(end).toBeLessThanOrEqual(text.length)
      }
    }
  }
})
