import { splitsCharacter } from '../../base/line.ts'
import { isFence } from './fence.ts'

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
    if (VISIBLE.test(piece)) pieces.push(piece)
    rest = rest.slice(end)
    // Blank lines at a cut belong to neither side; indentation belongs to its line.
    if (!isLast) rest = rest.replace(/^[ \t]*\n+/, '')
  }
  return pieces
}

const CLOSING = '\n```'
/** Platforms refuse a message in which there is nothing to see. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Mn}\u115f\u1160\u2800\u3164\uffa0]/u
const BREAKS = ['\n\n', '\n', '. ', ' '] as const
/** A break earlier than this would leave a message nearly empty. */
const EARLIEST_SHARE = 0.4

function findBreak(text: string, room: number): number {
  const window = text.slice(0, room)
  for (const mark of BREAKS) {
    const at = window.lastIndexOf(mark)
    if (at >= room * EARLIEST_SHARE) return at + mark.length
  }
  return wholeUpTo(text, room)
}

const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** More than any emoji of several people takes. */
const CLUSTER_MAX = 64

/** The last border before `room` between two characters as people see them. */
function wholeUpTo(text: string, room: number): number {
  let end = 0
  for (const { index } of CLUSTERS.segment(text.slice(0, room + CLUSTER_MAX))) {
    if (index > room) break
    end = index
  }
  if (end > 0) return end
  // One that is longer than all this is cut all the same, though never within a code point.
  return splitsCharacter(text, room) && room > 1 ? room - 1 : room
}

const LANGUAGE_MAX = 40

/** The opening line of the block of code that is still open at the end, if one is. */
function openFence(text: string, before: string | null): string | null {
  let open = before
  for (const line of text.split('\n')) {
    if (!isFence(line)) continue
    open = open === null ? line.trim().slice(0, LANGUAGE_MAX) : null
  }
  return open
}
