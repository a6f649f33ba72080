import type { Colour } from './colours.ts'

/** How full a context is, as a bar: `███████░░░ 68 %`. */
export interface Fill {
  readonly tokens: number
  readonly windowTokens: number
}

const WIDTH = 10
// A background compaction begins at 75 % of what may be used; the colour changes near the limit.
const WATCH_SHARE = 0.75
const FULL_SHARE = 0.95

export function drawFill(fill: Fill): { text: string; colour: Colour } {
  const share = shareOf(fill)
  const blocks = Math.min(WIDTH, Math.round(share * WIDTH))
  const bar = '█'.repeat(blocks) + '░'.repeat(WIDTH - blocks)
  const colour = share >= FULL_SHARE ? 'red' : share >= WATCH_SHARE ? 'yellow' : 'green'
  return { text: `${bar} ${Math.round(share * 100)} %`, colour }
}

function shareOf({ tokens, windowTokens }: Fill): number {
  return windowTokens > 0 ? tokens / windowTokens : 0
}
