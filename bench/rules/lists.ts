import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * Messages as people write them to agents, one a line: `+ ` before one that holds a standing rule, `- `
 * before one that does not. Where a message holds more than the rule, the rule stands between ‹ and ›.
 * ` ⏎ ` is a line break. In `sentences-plain` the same phrases stand in many forms.
 */
export interface MessageList {
  readonly name: string
  readonly rules: readonly string[]
  readonly others: readonly string[]
}

function listsIn(folder: string): readonly MessageList[] {
  return globSync('*.txt', { cwd: join(import.meta.dirname, folder) })
    .toSorted()
    .map((file) => {
      const lines = linesOf(join(folder, file))
      const withSign = (sign: string) =>
        lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(sign.length)] : []))
      return { name: basename(file, '.txt'), rules: withSign('+ '), others: withSign('- ') }
    })
}

function linesOf(file: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(' ⏎ ', '\n'))
}

/** A message of which only the part between the marks is a rule, or all of it without marks. */
export function ruleIn(message: string): { text: string; isRule: (sentence: string) => boolean } {
  const rule = /‹(.*)›/s.exec(message)?.[1]
  return {
    text: message.replace(/[‹›]/g, ''),
    isRule: (sentence) => rule === undefined || sentence.includes(rule) || rule.includes(sentence),
  }
}

/** The weights are fitted on these. */
export const FITTED: readonly MessageList[] = listsIn('fitted')

/** Never read for a cue, a weight or a threshold: read totals only. */
export const HELD_OUT: readonly MessageList[] = listsIn('held-out')

/** Lines of plans, logs and programs. */
export const FRAGMENTS: readonly string[] = linesOf('fragments.txt')

export function listNamed(name: string): MessageList {
  const found = FITTED.find((list) => list.name === name)
  if (found === undefined) throw new Error(`no list is named ${name}`)
  return found
}
