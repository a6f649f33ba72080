import type { CountTokens } from '../counters.ts'
import { clipText } from '../plan/clear.ts'

const ATTEMPTS_MAX = 20

export interface CutOptions {
  readonly tokensMax: number
  readonly countTokens: CountTokens
  /** The newest message that the summary covers. */
  readonly covers: number
}

/**
 * Short sections stay whole; long ones share the remaining space and lose whole points from their
 * middle, because they open with the most important points and close with the newest. The text says
 * that it was cut.
 */
export function cutSummary(text: string, { tokensMax, countTokens, covers }: CutOptions): string {
  const note = `[Cut: this summary was too long. The full text is in messages 1 to ${covers} of the transcript; search it with recall.]`
  const sections = sectionsOf(text).map((section) => ({ section, tokens: countTokens(section) }))
  let space = tokensMax - countTokens(note) - 1
  for (let attempt = 0; attempt < ATTEMPTS_MAX && space > 0; attempt++) {
    const level = levelFor(sections, space)
    const cut = sections.map(({ section, tokens }) =>
      tokens <= level ? section : cutSection(section, level, countTokens),
    )
    const whole = [...cut, note].join('\n')
    if (countTokens(whole) <= tokensMax) return whole
    space = Math.floor(space * 0.95)
  }
  return clipText(text, { tokensMax, countTokens, note: () => note })
}

/** How large a section may be so that all of them together take `space`. */
function levelFor(sections: readonly { readonly tokens: number }[], space: number): number {
  let left = space
  const sizes = sections.map(({ tokens }) => tokens).sort((a, b) => a - b)
  for (const [index, size] of sizes.entries()) {
    const level = Math.floor(left / (sizes.length - index))
    if (size > level) return level
    left -= size
  }
  return space
}

function cutSection(section: string, tokensMax: number, countTokens: CountTokens): string {
  const [heading, ...points] = pointsOf(section)
  if (heading === undefined) return ''
  const mark = (count: number) => `[… ${count} points cut]`
  let left = tokensMax - countTokens(heading) - countTokens(mark(points.length)) - 2
  const sizes = points.map((point) => countTokens(point) + 1)
  let from = 0
  let to = points.length
  // Two from the beginning, then one from the end, as long as the next one fits.
  for (let turn = 0; from < to; turn++) {
    const size = sizes[turn % 3 === 2 ? to - 1 : from] ?? 0
    if (size > left) break
    left -= size
    if (turn % 3 === 2) to--
    else from++
  }
  if (from === 0) {
    const note = (characters: number) => `[… ${characters} characters cut]`
    return clipText(section, { tokensMax, countTokens, note })
  }
  return [heading, ...points.slice(0, from), mark(to - from), ...points.slice(to)].join('\n')
}

/** Each begins with its heading, except for text before the first one. */
function sectionsOf(text: string): readonly string[] {
  return text.split(/\n(?=#{1,4} )/)
}

/** A heading, then list items with their indented lines, paragraphs, and loose lines. */
function pointsOf(section: string): readonly string[] {
  return section.split(/\n+(?=\S)/)
}
