import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../../test/support/seeded-random.ts'
import { providerWords } from './provider-words.ts'

describe('providerWords', () => {
  it('leaves an ordinary message as it is', () => {
    const message =
      'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29500. See https://platform.openai.com/account/rate-limits.'
    expect(providerWords(message)).toBe(message)
  })

  it.each([
    ['lines', 'one\r\ntwo\u2028three\tfour', 'one two three four'],
    ['what a terminal obeys', 'a\u001b[2Jb\u009b1Ac\u0007', 'a [2Jb 1Ac'],
    ['what reorders or hides text', 'a\u202eb\u200bc\ufeffd', 'a b c d'],
    ['what ends the quotation', 'a” “b" «c»', "a' 'b' 'c'"],
    ['Markdown, markup and mentions', '**a** [b](c) <d> @all `e` # f', 'a [b] (c) d all e f'],
    ['stacked marks', `e${'\u0301'.repeat(9)}`, 'e\u0301\u0301'],
    ['everything', '\u0000\n**', ''],
  ])('takes out %s', (_, message, words) => {
    expect(providerWords(message)).toBe(words)
  })

  it('masks a key, also a divided one and one at the end of what is shown', () => {
    const key = 'sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFF'
    expect(providerWords(`Your key ${key} is slow.`)).toBe('Your key [secret:anthropic] is slow.')
    expect(providerWords(`Your key ${key.replace('-api', '-\u200bapi')}.`)).not.toContain('BBBB')
    expect(providerWords(`${'x '.repeat(110)}${key}`)).not.toContain('AAAA')
  })

  it('masks the key that was used, whatever its form', () => {
    const key = 'team~blue-access'
    expect(providerWords(`Bearer ${key} is slow.`, key)).toBe('Bearer [secret:key] is slow.')
    expect(providerWords('Bearer team blue-access is slow.', key)).not.toContain('blue')
    expect(providerWords(`${' '.repeat(1_990)}${key}`, key)).not.toContain('team')
    expect(providerWords('ollama is slow', 'ollama')).toBe('ollama is slow')
  })

  it('is short, on one line, and never ends its quotation', () => {
    const text = fc.string({ unit: 'binary', maxLength: 3_000 })
    fc.assert(
      fc.property(text, (message) => {
        const words = providerWords(message)
        expect([...words].length).toBeLessThanOrEqual(241)
        expect(words).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}“”"]/u)
      }),
      { numRuns: tries(200) },
    )
  })
})
