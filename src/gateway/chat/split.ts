import { splitsCharacter } from '../../base/line.ts'

/**
 * A long answer as several messages. Each is cut where a reader would pause: between paragraphs,
 * else lines, else sentences, else words. A block of code that is cut is closed at the end of one
 * message and opened again at the beginning of the next. While a text grows, the messages before the
 * last one stay as they are.
 */
export function splitText(text: string, lengthMax: number): readonly string[] {
  const pieces: string[] = []
  let fence: string | null = null
  for (let rest = text; rest !== ''; ) {
    const opening: string = fence === null ? '' : `${fence}\n`
    const room: number = lengthMax - opening.length - CLOSING.length
    const isLast: boolean = opening.length + rest.length <= lengthMax
    const end: number = isLast ? rest.length : findBreak(rest, Math.max(1, room))
    const body: string = rest.slice(0, end)
    fence = openFence(body, fence)
    const closing = fence !== null && !isLast ? CLOSING : ''
    const piece = `${opening}${isLast ? body : body.trimEnd()}${closing}`
    if (piece.trim() !== '') pieces.push(piece)
    rest = rest.slice(end)
    // Blank lines at a cut belong to neither side; indentation belongs to its line.
    if (!isLast) rest = rest.replace(/^[ \t]*\n+/, '')
  }
  return pieces
}

const CLOSING = '\n```'
const BREAKS = ['\n\n', '\n', '. ', ' '] as const
/** A break earlier than this would leave a message nearly empty. */
const EARLIEST_SHARE = 0.4

function findBreak(text: string, room: number): number {
  const window = text.slice(0, room)
  for (const mark of BREAKS) {
    const at = window.lastIndexOf(mark)
    if (at >= room * EARLIEST_SHARE) return at + mark.length
  }
  return splitsCharacter(text, room) && room > 1 ? room - 1 : room
}

const FENCE = /^ {0,3}```/
const LANGUAGE_MAX = 40

/** The opening line of the block of code that is still open at the end, if one is. */
function openFence(text: string, before: string | null): string | null {
  let open = before
  for (const line of text.split('\n')) {
    if (!FENCE.test(line)) continue
    open = open === null ? line.trim().slice(0, LANGUAGE_MAX) : null
  }
  return open
}
