import { isFence } from '../chat/code-fence.ts'

/**
 * Markdown as models write it, in the dialect that Discord shows. No input can break a message:
 * Discord refuses no markup, so only the length and an open code block matter. Messages are sent
 * with mentions disabled.
 */
export const LENGTH_MAX = 2_000
/** The longest input, so that the markup added here fits. */
export const TEXT_LENGTH_MAX = 1_900

const FENCE = '```'

export function discordMarkdown(text: string): string {
  const dressed = closed(dress(text.split('\n')))
  const fits = dressed.length <= LENGTH_MAX ? dressed : closed(text.split('\n'))
  const rendered = fits.slice(0, LENGTH_MAX)
  // Discord refuses a message of whitespace only.
  return rendered.trim() === '' ? '…' : rendered
}

/** Headings below the third become bold lines; tables become code blocks. */
function dress(lines: readonly string[]): readonly string[] {
  const dressed: string[] = []
  let isCode = false
  let isTable = false
  for (const line of lines) {
    if (isFence(line)) isCode = !isCode
    const isRow = !isCode && line.startsWith('|') && line.trimEnd().endsWith('|')
    if (isRow !== isTable) dressed.push(FENCE)
    isTable = isRow
    dressed.push(isCode || isRow ? line : dressLine(line))
  }
  if (isTable) dressed.push(FENCE)
  return dressed
}

function dressLine(line: string): string {
  const heading = /^#{4,6} (.*)$/.exec(line)?.[1]
  if (heading !== undefined) return `**${heading.replaceAll('**', '')}**`
  // Discord shows an image only by its URL; the `!` in front would appear as text.
  return line.startsWith('![') ? line.slice(1) : line
}

function closed(lines: readonly string[]): string {
  const isOpen = lines.filter(isFence).length % 2 === 1
  return [...lines, ...(isOpen ? [FENCE] : [])].join('\n')
}
