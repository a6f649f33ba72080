import { isObject } from '../../packages/core/src/base/json.ts'
import { eachLeaf, eachText } from '../../packages/core/src/compaction/ledger/gather.ts'
import type { Message, ToolCallPart } from '../../packages/core/src/message/message.ts'

/**
 * What the measure counts: the pieces of tool arguments that look like names. Deliberately not the
 * ledger's own rules, which are what is measured.
 */
const SPLIT = /[\s"'`,;(){}[\]<>|&=]+/
const BODY_TOOLS = new Set(['Write', 'Edit', 'MultiEdit', 'TodoWrite'])

export function atomsOf(call: ToolCallPart): string[] {
  const leaves: string[] = []
  if (BODY_TOOLS.has(call.name)) {
    const path = isObject(call.input) ? call.input['file_path'] : undefined
    if (typeof path === 'string') leaves.push(path)
  } else eachLeaf(call.input, (leaf) => leaves.push(leaf))
  const atoms = new Set<string>()
  for (const leaf of leaves) {
    for (const piece of leaf.split(SPLIT)) {
      const atom = piece.replace(/^[.:]+/, '').replace(/[.:]+$/, '')
      if (atom.length < 6 || atom.length > 160) continue
      if (/[0-9/._#-]/.test(atom) && /[A-Za-z0-9]{3}/.test(atom)) atoms.add(atom)
    }
  }
  return [...atoms]
}

/** All that the message says, a tool's arguments and results included. */
export function wordsOf(message: Message): string {
  const texts: string[] = []
  eachText(message, (text) => texts.push(text))
  return texts.join('\n')
}

/** Atoms of later calls that stand in the history and are not brought back before their use. */
export function demandOf(history: string, after: readonly Message[]): string[] {
  const needed = new Set<string>()
  let seen = ''
  for (const message of after) {
    if (message.role === 'assistant') {
      for (const part of message.parts) {
        if (part.type !== 'tool-call') continue
        for (const atom of atomsOf(part)) {
          if (!needed.has(atom) && history.includes(atom) && !seen.includes(atom)) needed.add(atom)
        }
      }
    }
    seen += `\n${wordsOf(message)}`
  }
  return [...needed]
}

export function isKept(atom: string, result: string): { strict: boolean; lenient: boolean } {
  const strict = result.includes(atom)
  const end = atom.includes('/') ? atom.split('/').slice(-2).join('/') : atom
  return { strict, lenient: strict || result.includes(end) }
}
