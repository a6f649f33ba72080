import { withoutMarks } from './handoff/summary-marks.ts'
import type { Message } from './message.ts'

/**
 * Claude Code records a slash command as blocks in the user's message. People see what was typed,
 * and what the command printed.
 */
const BLOCKS = [
  ...['command-name', 'command-message', 'command-args'],
  ...['local-command-caveat', 'local-command-stdout', 'local-command-stderr'],
  ...['bash-input', 'bash-stdout', 'bash-stderr'],
] as const

/** The message as people see it. */
export function asTyped<Said extends Message>(message: Said): Said {
  if (message.role !== 'user') return message
  const read = message.isSummary === true ? withoutMarks : typedText
  const parts = message.parts.map((part) =>
    part.type === 'text' ? { ...part, text: read(part.text) } : part,
  )
  return { ...message, parts }
}

/** A text that does not begin with such a block is the person's own. */
export function typedText(text: string): string {
  const lines: string[] = []
  const found = new Map<string, string>()
  let rest = text
  for (let block = takeBlock(rest); block !== null; block = takeBlock(rest)) {
    // Of several commands each begins a line of its own.
    if (found.has(block.name)) {
      lines.push(lineOf(found))
      found.clear()
    }
    found.set(block.name, block.content)
    rest = block.rest
  }
  if (found.size === 0) return text
  return [...lines, lineOf(found), rest.trim()].filter((line) => line !== '').join('\n')
}

function takeBlock(text: string): { name: string; content: string; rest: string } | null {
  const start = text.trimStart()
  const name = BLOCKS.find((each) => start.startsWith(`<${each}>`))
  if (name === undefined) return null
  const end = start.indexOf(`</${name}>`)
  if (end === -1) return null
  const content = start.slice(name.length + 2, end).trim()
  return { name, content, rest: start.slice(end + name.length + 3) }
}

function lineOf(found: ReadonlyMap<string, string>): string {
  const part = (name: (typeof BLOCKS)[number]) => found.get(name) ?? ''
  const shell = part('bash-input')
  const typed = [part('command-name'), part('command-args'), shell === '' ? '' : `! ${shell}`]
  const printed = (['local-command', 'bash'] as const).flatMap((of) => [
    part(`${of}-stdout`),
    part(`${of}-stderr`),
  ])
  const line = typed.filter((words) => words !== '').join(' ')
  return [line, ...printed].filter((words) => words !== '').join('\n')
}
