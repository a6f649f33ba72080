import { expect, it } from 'vitest'
import type { ContextView } from '../../../runtime/runtime.ts'
import { noPaint } from '../../terminal/colours.ts'
import { drawContext } from './context-text.ts'

const view: ContextView = {
  ...{ sessionId: 'a', upto: 41, tokens: 10, windowTokens: 100, hardTokens: 90, softTokens: 70 },
  countedTokens: null,
  ...{ parts: [], messages: [] },
} as unknown as ContextView

it.each([
  [{}, 'Context of a up to entry 41:'],
  [{ at: 42 }, 'Context of a at step 42, built from entries up to 41:'],
  [{ snapshot: 57 }, 'Context of a just before compaction 57:'],
])('names the moment that was asked for: %j', (moment, title) => {
  const style = { paint: noPaint, partLinesMax: 3 }
  expect(drawContext(view, style, moment).split('\n')[0]).toMatch(new RegExp(`^${title}`))
})

it('says for the session of a client when the proxy makes a handoff', () => {
  const style = { paint: noPaint, partLinesMax: 3 }
  const [, own] = drawContext(view, style).split('\n')
  expect(own).toBe('A compaction is prepared from 70 tokens on; the limit is 90.')
  const [, client] = drawContext({ ...view, countedTokens: 61 }, style).split('\n')
  expect(client).toMatch(/counts more than 70 tokens; in the last one it counted 61\./)
})
