import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Message, ToolCallPart } from '../../packages/core/src/message/message.ts'
import type { AdoptedEntry } from '../../packages/core/src/store/adoption.ts'
import { atomsOf, isKept, wordsOf } from '../retention/atoms.ts'
import { type Event, readSessions, recordedEvents } from '../retention/sessions.ts'

/** A conversation to search in, and what is asked about it. Entry numbers begin at 1. */
export interface Conversation {
  readonly name: string
  readonly entries: readonly AdoptedEntry[]
  readonly questions: readonly Question[]
}

export interface Question {
  readonly text: string
  readonly kind: string
  /** The entries that hold the answer, where the set says so. */
  readonly evidence: readonly number[]
  /** What the answer must show word for word, where the set says so. */
  readonly fact: string | null
}

const LOCOMO_KINDS = ['', 'multi-hop', 'temporal', 'open-domain', 'single-hop', 'adversarial']

interface LocomoTurn {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
  readonly blip_caption?: string
}

/** Half of the LoCoMo conversations: two people over months, with the turns that hold each answer. */
export function locomo(folder: string): readonly Conversation[] {
  const directory = path.join(folder, 'locomo-even')
  const names = readdirSync(directory).filter((name) => name.endsWith('.json'))
  return names.sort().map((name) => {
    const file = JSON.parse(readFileSync(path.join(directory, name), 'utf8'))
    const said = file.conversation ?? file
    const entries: AdoptedEntry[] = []
    const numbers = new Map<string, number>()
    for (let session = 1; said[`session_${session}`] !== undefined; session++) {
      const at = locomoTime(said[`session_${session}_date_time`])
      for (const turn of said[`session_${session}`] as LocomoTurn[]) {
        const picture = turn.blip_caption === undefined ? '' : ` [image: ${turn.blip_caption}]`
        const text = `${turn.speaker}: ${turn.text}${picture}`
        entries.push(spoken(turn.speaker === said.speaker_a, text, at))
        numbers.set(turn.dia_id, entries.length)
      }
    }
    const questions = (file.qa as { question: string; evidence: string[]; category: number }[]).map(
      ({ question, evidence, category }) => ({
        text: question,
        kind: LOCOMO_KINDS[category] ?? '',
        evidence: [...new Set(evidence.join(' ').match(/D\d+:\d+/g) ?? [])].flatMap(
          (id) => numbers.get(id) ?? [],
        ),
        fact: null,
      }),
    )
    return {
      name: `locomo ${path.parse(name).name}`,
      entries,
      questions: questions.filter(({ evidence }) => evidence.length > 0),
    }
  })
}

/** "1:56 pm on 8 May, 2023" */
function locomoTime(text: string): number {
  const [time, date] = text.split(' on ')
  return Date.parse(`${date} ${time} UTC`)
}

/**
 * A small conversation in each language, written for this purpose: statements, each with a question
 * in other forms of its words; and all of them in one conversation.
 */
export function inLanguages(): readonly Conversation[] {
  const directory = path.join(import.meta.dirname, 'languages')
  const each = readdirSync(directory)
    .sort()
    .map((name) => {
      const lines = readFileSync(path.join(directory, name), 'utf8').trim().split('\n')
      return { name: path.parse(name).name, lines }
    })
  const all = { name: 'all in one', lines: each.flatMap(({ lines }) => lines) }
  return [...each, all].map(({ name, lines }) => {
    const entries: AdoptedEntry[] = []
    const questions: Question[] = []
    for (const line of lines) {
      if (!line.startsWith('? ')) entries.push(spoken(true, line, START + entries.length * 60_000))
      else questions.push({ text: line, kind: name, evidence: [entries.length], fact: null })
    }
    return { name, entries, questions }
  })
}

function spoken(isPerson: boolean, text: string, at: number): AdoptedEntry {
  const parts = [{ type: 'text', text }]
  return isPerson
    ? {
        kind: 'input',
        lane: 'user',
        row: null,
        at,
        tokens: 1,
        body: { message: { role: 'user', parts } },
      }
    : { kind: 'assistant', calls: [], row: null, at, tokens: 1, body: { role: 'assistant', parts } }
}

/**
 * Recorded compactions of a coding agent. A fact is a piece of a later call that the history holds
 * and the recorded summary does not; the question is made of the words around its use.
 */
export function codeAgent(folder: string): readonly Conversation[] {
  return recordedEvents(readSessions(folder), MINIMA).flatMap((event) => {
    const questions = factsOf(event)
    if (questions.length === 0) return []
    return [{ name: `code ${event.name}`, entries: event.before.flatMap(adopted), questions }]
  })
}

const MINIMA = { before: 1, after: 1, atoms: 1 }
const START = Date.UTC(2026, 0, 5, 9)
const WORDS_AROUND = 200

function factsOf({ demand, summary = '', before, after }: Event): readonly Question[] {
  const wanted = new Set(demand.filter((atom) => !isKept(atom, summary).lenient))
  const entries = before.flatMap(adopted).map(({ body }) => JSON.stringify(body))
  const questions: Question[] = []
  for (const message of after) {
    if (message.role !== 'assistant') continue
    const texts = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    for (const part of message.parts) {
      if (part.type !== 'tool-call') continue
      for (const atom of atomsOf(part)) {
        if (!wanted.delete(atom)) continue
        const needle = JSON.stringify(atom).slice(1, -1)
        const evidence = entries.flatMap((body, index) =>
          body.includes(needle) ? [index + 1] : [],
        )
        const text = `${texts.join(' ').slice(-WORDS_AROUND)} ${argumentsAround(part, atom)}`
        questions.push({ text: text.replaceAll(atom, ' '), kind: 'fact', evidence, fact: atom })
      }
    }
  }
  return questions
}

function argumentsAround(call: ToolCallPart, atom: string): string {
  const text = wordsOf({ role: 'assistant', parts: [call] })
  const at = Math.max(0, text.indexOf(atom))
  return text.slice(Math.max(0, at - WORDS_AROUND), at + atom.length + WORDS_AROUND)
}

function adopted(message: Message, index: number): readonly AdoptedEntry[] {
  const head = { row: null, at: START + index * 60_000, tokens: 1 } as const
  switch (message.role) {
    case 'user':
      return [
        {
          ...head,
          kind: 'input',
          lane: 'user',
          body: { message: message as unknown as JsonValue },
        },
      ]
    case 'assistant': {
      const calls = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
      return [{ ...head, kind: 'assistant', calls, body: message as unknown as JsonValue }]
    }
    case 'tool':
      return message.parts.map((part) => ({
        ...head,
        kind: 'result',
        call: part.callId,
        outcome: 'ok',
        body: part.output as unknown as JsonValue,
      }))
    default:
      return []
  }
}
