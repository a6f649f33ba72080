import { describe, expect, it } from 'vitest'
import { nearest } from './nearest.ts'

const NAMES = ['softShare', 'ledgerTokens', 'baseUrl', 'port', 'openai-chat', 'openai-responses']

describe('the name that was meant', () => {
  it.each([
    ['the same in another spelling', 'Soft-Share', 'softShare'],
    ['with a letter missing', 'prt', 'port'],
    ['with a letter too many', 'poort', 'port'],
    ['with another letter', 'pxrt', 'port'],
    ['with two letters swapped', 'prot', 'port'],
    ['with three letters missing, if it is long', 'ledgerTok', 'ledgerTokens'],
    ['without its second word', 'openai', 'openai-chat'],
  ])('is found %s', (_, written, meant) => {
    expect(nearest(written, NAMES)).toBe(meant)
  })

  it('is the closest of several', () => {
    expect(nearest('titles', ['tiles', 'title', 'titles2x'])).toBe('tiles')
    expect(nearest('titles', ['tiled', 'titles2x', 'title'])).toBe('title')
  })

  it.each(['pr', 'prxt', 'ledgerTo', 'x'.repeat(65), ''])('is not guessed for %j', (written) => {
    expect(nearest(written, [...NAMES, 'x'.repeat(65)])).toBeUndefined()
  })
})
