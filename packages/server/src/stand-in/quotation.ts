import type { Record } from './records.ts'

/**
 * Reads a request for a handoff as a model would see it: instructions, then texts quoted between
 * equal lines that carry a name and a hash. It shares no code with the writer of such requests.
 */
export interface Quotations {
  /** The text outside the quotations. */
  readonly instructions: string
  readonly records: readonly Record[]
  /** Earlier handoffs, or those of pieces, oldest first. */
  readonly handoffs: readonly string[]
}

const FENCE = /^===== ([a-z0-9 ]{1,60}) [0-9a-f]{12} =====$/

export function readQuotations(prompt: string): Quotations {
  const outside: string[] = []
  const records: Record[] = []
  const handoffs: string[] = []
  const lines = prompt.split('\n')
  const ends = new Map(lines.map((line, index) => [line, index]))
  for (let at = 0; at < lines.length; at++) {
    const fence = lines[at] ?? ''
    const name = FENCE.exec(fence)?.[1]
    const end = ends.get(fence) ?? at
    if (name === undefined || end === at) {
      outside.push(fence)
      continue
    }
    const quoted = lines.slice(at + 1, end)
    if (name.includes('handoff')) handoffs.push(quoted.join('\n'))
    else records.push(...readConversation(quoted))
    at = end
  }
  return { instructions: outside.join('\n'), records, handoffs }
}

const SPEAKER = /^#(\d{1,9}) (user|assistant|tool results|system)( \(written by a program\))?:$/

/** `#12 user:` and the lines below it; text before the first such line has no author. */
function readConversation(lines: readonly string[]): readonly Record[] {
  const records: { where: string; who: Record['who']; lines: string[] }[] = []
  for (const line of lines) {
    const [, number, speaker, byProgram] = SPEAKER.exec(line) ?? []
    if (speaker === undefined) records.at(-1)?.lines.push(line)
    else records.push({ where: `message ${number}`, who: whoIs(speaker, byProgram), lines: [] })
  }
  if (records.length === 0) {
    return [{ where: 'the text', who: 'user', text: lines.join('\n') }]
  }
  return records.map(({ where, who, lines }) => ({ where, who, text: lines.join('\n').trim() }))
}

function whoIs(speaker: string, byProgram: string | undefined): Record['who'] {
  if (speaker === 'tool results') return 'tool'
  // Reminders and command output in the user role are not requests of the user.
  if (speaker === 'user') return byProgram === undefined ? 'user' : 'tool'
  return speaker === 'assistant' ? 'assistant' : 'system'
}
