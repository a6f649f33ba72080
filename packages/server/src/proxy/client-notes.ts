/**
 * Notes that a client inserts into a conversation: reminders, its environment, project rules. They
 * change from request to request and belong to no speaker. Clients may change these texts; an
 * unrecognized note only costs a recorded unit.
 */
export interface ClientNote {
  /** Notes of one kind replace each other. */
  readonly kind: string
  readonly text: string
}

export interface SplitText {
  /** The person's or the tool's own words. */
  readonly text: string
  readonly notes: readonly ClientNote[]
}

const TAGS = [
  'system-reminder',
  'environment_context',
  'user_instructions',
  'turn_aborted',
  'permissions instructions',
  'collaboration_mode',
  'total_tokens',
] as const

const WHOLE = ['# AGENTS.md instructions'] as const

/** How Claude Code, Codex and pi begin the summary that replaces their older messages. */
const SUMMARIES = [
  'This session is being continued from a previous conversation',
  'Another language model started to solve this problem',
  'The conversation history before this point was compacted into the following summary',
] as const

/** A handoff that `leave` put into the client's log. */
const LEFT = /^\[handoff [0-9a-f]{12} by=/

export function isClientSummary(text: string): boolean {
  return isLeftHandoff(text) || SUMMARIES.some((start) => text.startsWith(start))
}

export function isLeftHandoff(text: string): boolean {
  return LEFT.test(text)
}

/** Takes the notes out of a text; linear in its length. */
export function splitNotes(text: string): SplitText {
  if (WHOLE.some((start) => text.startsWith(start))) {
    return { text: '', notes: [{ kind: kindOf(text), text }] }
  }
  return splitTags(text)
}

/** The same for a text that is never a note as a whole, such as a tool's. */
export function splitTags(text: string): SplitText {
  if (!text.includes('<')) return { text, notes: [] }
  const notes: ClientNote[] = []
  let rest = text
  for (const tag of TAGS) rest = takeOut(rest, tag, notes)
  return { text: rest, notes }
}

function takeOut(text: string, tag: string, notes: ClientNote[]): string {
  const open = `<${tag}>`
  const close = `</${tag}>`
  let from = text.indexOf(open)
  if (from === -1) return text
  let kept = ''
  let at = 0
  while (from !== -1) {
    // A person may write about a tag, so only a tag at the start of a line is the client's.
    const isLineStart = from === 0 || text[from - 1] === '\n'
    if (!isLineStart) {
      from = text.indexOf(open, from + open.length)
      continue
    }
    const end = text.indexOf(close, from + open.length)
    if (end === -1) break
    const to = end + close.length
    const note = text.slice(from, to)
    notes.push({ kind: kindOf(note), text: note })
    kept += text.slice(at, from)
    at = to
    from = text.indexOf(open, to)
  }
  return kept + text.slice(at)
}

const KIND_LENGTH = 80

/** Its tag and the beginning of its first line, without figures, which change. */
export function kindOf(text: string): string {
  const tag = /^<[^>]{1,60}>/.exec(text)?.[0] ?? ''
  const line = text.slice(tag.length).trimStart().split('\n', 1)[0] ?? ''
  return `${tag}${line.slice(0, KIND_LENGTH).replaceAll(/[\d.,:]+/g, '#')}`
}
