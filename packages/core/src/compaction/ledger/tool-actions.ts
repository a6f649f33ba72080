import { isObject, type JsonValue } from '../../base/json.ts'
import { clip, oneLine } from '../../base/line.ts'
import type { Message, ToolCallPart, ToolResultPart } from '../../message/message.ts'
import { plainText } from '../../message/text.ts'
import type { NumberOf } from '../layout.ts'
import { redact } from '../redact/redact.ts'
import { actingPartOf, isActingTool, isReadingCommand } from './acting.ts'
import { bounded } from './gather.ts'

/**
 * Actions, commands and errors, one line each: actions that changed something outside the
 * conversation, commands with their exit codes, and error lines of tools.
 */
export interface ToolAction {
  readonly kind: 'action' | 'command' | 'error'
  readonly text: string
  readonly number: number
  /** The last line of a command's output. */
  readonly said?: string
}

export function gatherToolActions(head: readonly Message[], numberOf: NumberOf): ToolAction[] {
  const actions: ToolAction[] = []
  const calls = new Map<string, ToolCallPart>()
  for (const [index, message] of head.entries()) {
    if (message.role === 'assistant') {
      for (const part of message.parts) if (part.type === 'tool-call') calls.set(part.id, part)
    } else if (message.role === 'tool') {
      for (const [part, result] of message.parts.entries()) {
        actions.push(...actionsOf(calls.get(result.callId), result, numberOf(index, part)))
        // A repeated id belongs to a new call.
        calls.delete(result.callId)
      }
    }
  }
  return actions
}

function actionsOf(
  call: ToolCallPart | undefined,
  result: ToolResultPart,
  number: number,
): ToolAction[] {
  const output = outputOf(result)
  const command = call === undefined ? undefined : shellCommandOf(call.input)
  const code = command === undefined ? undefined : exitCodeOf(output)
  const failed = result.isError === true || (code !== undefined && code !== 0)
  const actions: ToolAction[] = []
  if (command !== undefined) {
    const acting = failed ? undefined : actingPartOf(command)
    if (acting !== undefined) {
      const said = clip(firstLineOf(output), 80)
      const text = `#${number} ${clip(acting, 100)}${said === '' ? '' : ` → ${said}`}`
      actions.push({ kind: 'action', text, number })
    } else if (failed || !isReadingCommand(command)) {
      const outcome = failed ? ` (${code === undefined ? 'failed' : `exit ${code}`})` : ''
      const said = clip(lastLineOf(output), 80)
      const text = `${clip(command, 140)}${outcome}`
      actions.push({ kind: 'command', text, number, ...(said !== '' && { said }) })
    }
  } else if (call !== undefined && !failed && isActingTool(call.name)) {
    actions.push({ kind: 'action', text: `#${number} ${clip(describeCall(call))}`, number })
  }
  if (failed || command !== undefined) {
    const line = errorLineOf(output, failed)
    if (line !== '') actions.push({ kind: 'error', text: clip(line), number })
  }
  return actions
}

const OUTPUT_CHARACTERS_MAX = 8000

function outputOf(result: ToolResultPart): string {
  return bounded(plainText(result.output), OUTPUT_CHARACTERS_MAX)
}

const COMMAND_CHARACTERS_MAX = 1000
/** Redirections and cut-off pipes say how the output was read, not what was run. */
const READING_TAIL = / *2>(?:&1|\/dev\/null)| *\| *(?:head|tail)(?: -[a-z]? ?\d+)?(?=$| *[;&|])/g

/**
 * A shell is recognized by its argument: words or a list of words under a name that means command.
 */
function shellCommandOf(input: JsonValue): string | undefined {
  if (!isObject(input)) return undefined
  const given = input['command'] ?? input['cmd'] ?? input['script']
  const value = Array.isArray(given) ? given.at(-1) : given
  if (typeof value !== 'string') return undefined
  const text = redact(bounded(value, COMMAND_CHARACTERS_MAX)).replace(/"\$\(cat <<'?\w+'?\s/, '"')
  return oneLine(text).replaceAll(READING_TAIL, '')
}

/** The tool's name and the file it is about, or else its short arguments. */
function describeCall(call: ToolCallPart): string {
  const input = isObject(call.input) ? Object.entries(call.input) : []
  const path = input.find(([key, value]) => /path|file/i.test(key) && typeof value === 'string')
  const words =
    path !== undefined
      ? [path[1]]
      : input
          .filter(([, value]) => typeof value !== 'object' && String(value).length <= 120)
          .map(([key, value]) => `${key}=${value}`)
  return oneLine(redact(bounded([call.name, ...words].join(' '), COMMAND_CHARACTERS_MAX)))
}

/** Shell tools report the exit code before or after the output. */
function exitCodeOf(output: string): number | undefined {
  const ends = bounded(output, 400)
  const match = /exit(?:ed with)?[ _]?(?:code|status)"?:? ?(\d{1,3})/i.exec(ends)
  return match === null ? undefined : Number(match[1])
}

const ERROR_WORD =
  /\b(?:error|fatal|panic|exception|failed|failure|denied|refused|not found|FAIL)\b/i
const NO_ERROR = /\b0 (?:errors?|failures?|failed)\b|^\W*(?:Error: )?exit code/i
/** If the run as a whole succeeded, only a line that starts with a verdict counts. */
const VERDICT = /^\W{0,20}(?:\S{1,80}: ?)?(?:error|fatal|panic|FAIL)\b/

function errorLineOf(output: string, failed: boolean): string {
  const isError = failed ? ERROR_WORD : VERDICT
  for (const line of output.split('\n')) {
    const start = line.slice(0, LINE_READ_MAX)
    if (isError.test(start) && !NO_ERROR.test(start)) return cleanLine(start)
  }
  return failed ? lastLineOf(output) : ''
}

const LINE_READ_MAX = 400

function firstLineOf(output: string): string {
  const lines = output.slice(0, 1000).split('\n')
  return cleanLine(lines.find((line) => line.trim() !== '') ?? '')
}

function lastLineOf(output: string): string {
  const lines = output.slice(-1000).split('\n')
  return cleanLine(lines.findLast((line) => line.trim() !== '') ?? '')
}

/** Masked line by line: whole outputs are masked where words are read, and twice is too slow. */
function cleanLine(line: string): string {
  return oneLine(redact(line.slice(0, LINE_READ_MAX)))
}
