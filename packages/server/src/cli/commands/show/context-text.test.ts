import { expect, it } from 'vitest'
import type { ContextView } from '../../../runtime/runtime.ts'
import { noPaint } from '../../terminal/colours.ts'
import { drawContext } from './context-text.ts'

const view: ContextView = {
  ...{ sessionId: 'a', upto: 41, tokens: 10, windowTokens: 100, hardTokens: 90, softTokens: 70 },
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
