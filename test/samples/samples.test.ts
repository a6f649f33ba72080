import { describe, expect, it } from 'vitest'
import type { Conversation } from '../../packages/core/src/message/codec.ts'
import type { Part } from '../../packages/core/src/message/message.ts'
import { repairPairs } from '../../packages/core/src/message/pairing.ts'
import { readConversation } from '../../packages/core/src/message/read.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { writeConversation } from '../../packages/core/src/message/write.ts'
import { sampleFiles } from '../support/corpus.ts'
import { compacted, said } from '../support/logs.ts'
import { LAST, PICTURE_BYTES, SUMMARY, TURNS } from './conversation.ts'

function open(name: string) {
  const read = (ending: string) =>
    readConversation(
      sampleFiles()
        .find((file) => file.name.endsWith(ending))
        ?.read() ?? '',
      'auto',
    )
  return { whole: read(`/${name}.jsonl`), before: read(`/${name}.jsonl before`) }
}

/** What people said: not the client in their place. */
function asksIn({ messages }: Conversation): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'user' && message.synthetic !== true ? [textOf(message)] : [],
  )
}

describe.each(['claude-code', 'codex', 'pi'])('a session that %s wrote', (name) => {
  const { whole, before } = open(name)

  it('contains the person’s requests, and nothing else in their name', () => {
    expect(asksIn(before)).toEqual(TURNS.map(({ ask }) => ask))
    expect(asksIn(whole).at(-1)).toBe(LAST.ask)
  })

  it('holds each call with its result, parallel ones too, and the picture', () => {
    expect(repairPairs(before.messages).repairs).toEqual([])
    const parts = before.messages.flatMap<Part>((message) =>
      'parts' in message ? message.parts : [],
    )
    const calls = parts.filter((part) => part.type === 'tool-call')
    const results = parts.filter((part) => part.type === 'tool-result')
    expect(calls).toHaveLength(6)
    expect(new Set(results.map(({ callId }) => callId))).toEqual(new Set(calls.map(({ id }) => id)))
    expect(JSON.stringify(results.at(-1)?.output)).toContain(PICTURE_BYTES.toString('base64'))
    expect(parts.filter((part) => part.type === 'reasoning').map(textOf)).toEqual([
      'The date must be in the notes.',
      'Now the count.',
    ])
  })

  it('continues from the summary of its own compaction', () => {
    const words = said(whole)
    const summary = words.findIndex((word) => word.includes(SUMMARY))
    expect(whole.messages[summary]).toMatchObject({ role: 'user', synthetic: true })
    expect(words.slice(-2)).toEqual([`user: ${LAST.ask}`, `assistant: ${LAST.steps[0]?.text}`])
    expect(words.length).toBeLessThan(before.messages.length)
  })

  it('comes back whole, and with a handoff that its reader starts from', () => {
    for (const read of [before, whole]) {
      expect(readConversation(writeConversation(read), 'auto').messages).toEqual(read.messages)
    }
    const again = readConversation(writeConversation(compacted(before, 2)), 'auto')
    const tail = again.messages.filter(({ role }) => role !== 'system')
    expect(again.format).toBe(before.format)
    expect(tail.map(({ role }) => role)).toEqual(['handoff', 'tool', 'assistant'])
    expect(said(again).at(-1)).toBe(said(before).at(-1))
  })
})

describe('the habits of single clients', () => {
  it('Claude Code keeps the newest messages after its summary', () => {
    expect(said(open('claude-code').whole)[1]).toBe('assistant: The sign is red.')
  })

  it('pi keeps the newest messages after its summary', () => {
    const words = said(open('pi').whole)
    const summary = words.findIndex((word) => word.includes(SUMMARY))
    expect(words[summary + 1]).toBe('assistant: The sign is red.')
  })

  it('pi keeps its prompt in sections, which do not change', () => {
    const { before } = open('pi')
    const [prompt] = before.messages
    expect(prompt).toMatchObject({ role: 'system' })
    expect(prompt && textOf(prompt)).toContain('<cwd>')
    const written = writeConversation(before).split('\n')[1] ?? ''
    const { message } = JSON.parse(written) as { message: { content: string; sections: object } }
    expect(message.content).toBe('')
    expect(Object.keys(message.sections)).toEqual(['preamble', 'tools', 'rules', 'docs', 'cwd'])
  })

  it.each(['claude-code', 'pi'])('%s marks results that are errors', (name) => {
    const results = open(name).before.messages.flatMap((message) =>
      message.role === 'tool' ? message.parts : [],
    )
    expect(results.filter(({ isError }) => isError)).toHaveLength(2)
  })

  it('Codex lets its provider compact, and keeps an item that only the provider can read', () => {
    const { before, whole } = open('codex-remote')
    expect(asksIn(before)).toEqual([TURNS[0]?.ask])
    expect(said(whole).slice(-4)).toEqual([
      `user: ${TURNS[0]?.ask}`,
      'assistant: [compaction]',
      `user: ${LAST.ask}`,
      `assistant: ${LAST.steps[0]?.text}`,
    ])
    expect(readConversation(writeConversation(whole), 'auto').messages).toEqual(whole.messages)
  })
})
