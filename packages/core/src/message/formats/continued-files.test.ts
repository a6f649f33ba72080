import { expect, it } from 'vitest'
import {
  assistant,
  handoff,
  notice,
  system,
  toolCall,
  toolResult,
  user,
} from '../../../../../test/support/builders.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import type { Message } from '../message.ts'
import { claudeCodeFormat } from './claude-code/claude-code.ts'
import { codexFormat } from './codex/codex.ts'
import { piFormat } from './pi/pi.ts'

const CLAUDE_CODE = `
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","slug":"x","timestamp":"t1","isCompactSummary":true,"message":{"role":"user","content":"Sum."}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","timestamp":"t2","message":{"role":"assistant","id":"m1","model":"m-1","content":[{"type":"text","text":"Well."}]}}
{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","timestamp":"t3","message":{"role":"user","content":"Go on."}}`

const PI = `
{"type":"session","version":3,"id":"s","timestamp":"t0","cwd":"/a"}
{"type":"message","id":"e1","parentId":null,"timestamp":"t1","message":{"role":"user","content":"Hi."}}
{"type":"compaction","id":"e2","parentId":"e1","timestamp":"t2","summary":"Sum.","firstKeptEntryId":"e3","tokensBefore":9}
{"type":"message","id":"e3","parentId":"e2","timestamp":"t3","message":{"role":"user","content":"Go on."}}
{"type":"message","id":"e4","parentId":"e3","timestamp":"t4","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":2}}`

/** Of an earlier version, without a tree. */
const OLD_PI = PI.replace('"version":3,', '').replace('"timestamp":"t0",', '')

/** Of no format. */
const NEW: readonly Message[] = [
  user('New.'),
  { ...assistant('Reply.'), model: 'm-2', usage: { inputTokens: 3, outputTokens: 4 } },
  toolCall('c1', { a: 1 }, 'look'),
  toolResult('c1', 'Seen.', 'look'),
  {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: 'c2', output: [{ type: 'text', text: 'No.' }], isError: true },
    ],
  },
  notice('Mind.'),
  { ...assistant('Late.'), at: 't9' },
]

function originOf(message: Message | undefined) {
  return message?.role === 'user' && message.origin !== undefined ? { origin: message.origin } : {}
}

type Change = (messages: readonly Message[]) => readonly Message[]
type Case = readonly [title: string, codec: Codec, file: string, change: Change, written: string]

/** What is written after each change: new ids are numbered in their order, a handoff is shortened. */
const CASES: readonly Case[] = [
  [
    'a file of Claude Code is written as it was',
    claudeCodeFormat,
    CLAUDE_CODE,
    (all) => all,
    `
{"parentUuid":null,"uuid":"u1","sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","slug":"x","timestamp":"t1","isCompactSummary":true,"type":"user","message":{"role":"user","content":"Sum."}}
{"parentUuid":"u1","uuid":"u2","sessionId":"s","timestamp":"t2","type":"assistant","message":{"id":"m1","model":"m-1","role":"assistant","content":[{"type":"text","text":"Well."}]}}
{"parentUuid":"u2","uuid":"u3","sessionId":"s","timestamp":"t3","type":"user","message":{"role":"user","content":"Go on."}}`,
  ],
  [
    'a file of Claude Code goes on with new messages',
    claudeCodeFormat,
    CLAUDE_CODE,
    (all) => [...all, ...NEW],
    `
{"parentUuid":null,"uuid":"u1","sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","slug":"x","timestamp":"t1","isCompactSummary":true,"type":"user","message":{"role":"user","content":"Sum."}}
{"parentUuid":"u1","uuid":"u2","sessionId":"s","timestamp":"t2","type":"assistant","message":{"id":"m1","model":"m-1","role":"assistant","content":[{"type":"text","text":"Well."}]}}
{"parentUuid":"u2","uuid":"u3","sessionId":"s","timestamp":"t3","type":"user","message":{"role":"user","content":"Go on."}}
{"parentUuid":"u3","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t3","uuid":"new-1","type":"user","message":{"role":"user","content":"New."}}
{"parentUuid":"new-1","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t3","uuid":"new-2","type":"assistant","message":{"type":"message","model":"m-2","usage":{"input_tokens":3,"output_tokens":4},"role":"assistant","content":[{"type":"text","text":"Reply."}]}}
{"parentUuid":"new-2","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t3","uuid":"new-3","type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{"a":1}}]}}
{"parentUuid":"new-3","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t3","uuid":"new-4","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Seen."}]}}
{"parentUuid":"new-4","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t3","uuid":"new-5","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"No.","is_error":true}]}}
{"parentUuid":"new-5","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t3","isMeta":true,"uuid":"new-6","type":"user","message":{"role":"user","content":"Mind."}}
{"parentUuid":"new-6","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t9","uuid":"new-7","type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"Late."}]}}`,
  ],
  [
    'a handoff is the summary of a file of Claude Code',
    claudeCodeFormat,
    CLAUDE_CODE,
    (all) => [handoff(), ...all.slice(1), ...NEW.slice(0, 1)],
    `
{"parentUuid":null,"isSidechain":false,"sessionId":"s","timestamp":"t2","isCompactSummary":true,"uuid":"new-1","type":"user","message":{"role":"user","content":"(handoff)"}}
{"parentUuid":"new-1","uuid":"u2","sessionId":"s","timestamp":"t2","type":"assistant","message":{"id":"m1","model":"m-1","role":"assistant","content":[{"type":"text","text":"Well."}]}}
{"parentUuid":"u2","uuid":"u3","sessionId":"s","timestamp":"t3","type":"user","message":{"role":"user","content":"Go on."}}
{"parentUuid":"u3","isSidechain":false,"sessionId":"s","timestamp":"t3","uuid":"new-2","type":"user","message":{"role":"user","content":"New."}}`,
  ],
  [
    'an older summary of Claude Code loses its mark, and a line twice gets an id',
    claudeCodeFormat,
    CLAUDE_CODE,
    (all) => [system('Rules.'), user('First.'), ...all, ...all.slice(2)],
    `
{"parentUuid":null,"isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t1","uuid":"new-1","type":"system","subtype":"system_prompt","content":"Rules."}
{"parentUuid":"new-1","isSidechain":false,"sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","timestamp":"t1","uuid":"new-2","type":"user","message":{"role":"user","content":"First."}}
{"parentUuid":"new-2","uuid":"u1","sessionId":"s","version":"2","cwd":"/a","gitBranch":"main","userType":"external","slug":"x","timestamp":"t1","isMeta":true,"type":"user","message":{"role":"user","content":"Sum."}}
{"parentUuid":"u1","uuid":"u2","sessionId":"s","timestamp":"t2","type":"assistant","message":{"id":"m1","model":"m-1","role":"assistant","content":[{"type":"text","text":"Well."}]}}
{"parentUuid":"u2","uuid":"u3","sessionId":"s","timestamp":"t3","type":"user","message":{"role":"user","content":"Go on."}}
{"parentUuid":"u3","uuid":"new-3","sessionId":"s","timestamp":"t3","type":"user","message":{"role":"user","content":"Go on."}}`,
  ],
  [
    'a new file of Claude Code',
    claudeCodeFormat,
    '',
    () => [handoff(), ...NEW],
    `
{"parentUuid":null,"isSidechain":false,"sessionId":"new-1","timestamp":"t9","isCompactSummary":true,"uuid":"new-2","type":"user","message":{"role":"user","content":"(handoff)"}}
{"parentUuid":"new-2","isSidechain":false,"sessionId":"new-1","timestamp":"t9","uuid":"new-3","type":"user","message":{"role":"user","content":"New."}}
{"parentUuid":"new-3","isSidechain":false,"sessionId":"new-1","timestamp":"t9","uuid":"new-4","type":"assistant","message":{"type":"message","model":"m-2","usage":{"input_tokens":3,"output_tokens":4},"role":"assistant","content":[{"type":"text","text":"Reply."}]}}
{"parentUuid":"new-4","isSidechain":false,"sessionId":"new-1","timestamp":"t9","uuid":"new-5","type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{"a":1}}]}}
{"parentUuid":"new-5","isSidechain":false,"sessionId":"new-1","timestamp":"t9","uuid":"new-6","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Seen."}]}}
{"parentUuid":"new-6","isSidechain":false,"sessionId":"new-1","timestamp":"t9","uuid":"new-7","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"No.","is_error":true}]}}
{"parentUuid":"new-7","isSidechain":false,"sessionId":"new-1","timestamp":"t9","isMeta":true,"uuid":"new-8","type":"user","message":{"role":"user","content":"Mind."}}
{"parentUuid":"new-8","isSidechain":false,"sessionId":"new-1","timestamp":"t9","uuid":"new-9","type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"Late."}]}}`,
  ],
  [
    'a file of pi is written as its branch',
    piFormat,
    PI,
    (all) => all,
    `
{"type":"session","version":3,"id":"s","timestamp":"t0","cwd":"/a"}
{"type":"compaction","id":"e2","timestamp":"t2","tokensBefore":9,"summary":"Sum.","parentId":null,"firstKeptEntryId":"e3"}
{"id":"e3","timestamp":"t3","type":"message","message":{"role":"user","content":"Go on."},"parentId":"e2"}
{"id":"e4","timestamp":"t4","type":"message","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":2},"parentId":"e3"}`,
  ],
  [
    'a file of pi goes on with new messages',
    piFormat,
    PI,
    (all) => [...all, ...NEW],
    `
{"type":"session","version":3,"id":"s","timestamp":"t0","cwd":"/a"}
{"type":"compaction","id":"e2","timestamp":"t2","tokensBefore":9,"summary":"Sum.","parentId":null,"firstKeptEntryId":"e3"}
{"id":"e3","timestamp":"t3","type":"message","message":{"role":"user","content":"Go on."},"parentId":"e2"}
{"id":"e4","timestamp":"t4","type":"message","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":2},"parentId":"e3"}
{"timestamp":"t4","type":"message","message":{"role":"user","content":"New."},"id":"new-1","parentId":"e4"}
{"timestamp":"t4","type":"message","message":{"role":"assistant","api":"unknown","provider":"unknown","model":"m-2","usage":{"input":3,"output":4,"cacheRead":0,"cacheWrite":0},"stopReason":"stop","content":[{"type":"text","text":"Reply."}]},"id":"new-2","parentId":"new-1"}
{"timestamp":"t4","type":"message","message":{"role":"assistant","api":"unknown","provider":"unknown","stopReason":"toolUse","content":[{"type":"toolCall","id":"c1","name":"look","arguments":{"a":1}}]},"id":"new-3","parentId":"new-2"}
{"timestamp":"t4","type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"look","isError":false,"content":[{"type":"text","text":"Seen."}]},"id":"new-4","parentId":"new-3"}
{"timestamp":"t4","type":"message","message":{"role":"toolResult","toolCallId":"c2","toolName":"","isError":true,"content":[{"type":"text","text":"No."}]},"id":"new-5","parentId":"new-4"}
{"timestamp":"t4","type":"custom_message","customType":"throughline","content":"Mind.","display":false,"id":"new-6","parentId":"new-5"}
{"timestamp":"t9","type":"message","message":{"role":"assistant","api":"unknown","provider":"unknown","stopReason":"stop","content":[{"type":"text","text":"Late."}]},"id":"new-7","parentId":"new-6"}`,
  ],
  [
    'a handoff is a compaction of pi, and an older one a message',
    piFormat,
    PI,
    (all) => [system('Rules.'), handoff(), ...all, ...all.slice(-1)],
    `
{"type":"session","version":3,"id":"s","timestamp":"t0","cwd":"/a"}
{"timestamp":"t0","type":"message","message":{"role":"system","content":"Rules."},"id":"new-1","parentId":null}
{"timestamp":"t0","type":"compaction","tokensBefore":0,"summary":"(handoff)","id":"new-2","parentId":"new-1","firstKeptEntryId":"new-3"}
{"type":"custom_message","customType":"throughline","content":"Sum.","display":false,"id":"new-3","parentId":"new-2"}
{"id":"e3","timestamp":"t3","type":"message","message":{"role":"user","content":"Go on."},"parentId":"new-3"}
{"id":"e4","timestamp":"t4","type":"message","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":2},"parentId":"e3"}
{"id":"new-4","timestamp":"t4","type":"message","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":2},"parentId":"e4"}`,
  ],
  [
    'a command of pi whose output was cut is a message',
    piFormat,
    PI,
    (all) => [...all.slice(1, 2), { ...notice('Ran ls'), ...originOf(all[2]) }],
    `
{"type":"session","version":3,"id":"s","timestamp":"t0","cwd":"/a"}
{"id":"e3","timestamp":"t3","type":"message","message":{"role":"user","content":"Go on."},"parentId":null}
{"type":"custom_message","customType":"throughline","content":"Ran ls","display":false,"id":"new-1","parentId":"e3"}`,
  ],
  [
    'a file of pi without a tree',
    piFormat,
    OLD_PI,
    (all) => [handoff(), ...all.slice(1)],
    `
{"type":"session","id":"s","cwd":"/a"}
{"timestamp":"1970-01-01T00:00:00.000Z","type":"compaction","tokensBefore":0,"summary":"(handoff)","firstKeptEntryIndex":2}
{"id":"e3","timestamp":"t3","type":"message","message":{"role":"user","content":"Go on."}}
{"id":"e4","timestamp":"t4","type":"message","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":2}}`,
  ],
  [
    'a new file of pi',
    piFormat,
    '',
    () => [handoff(), ...NEW],
    `
{"type":"session","version":3,"id":"new-1","timestamp":"t9","cwd":""}
{"timestamp":"t9","type":"compaction","tokensBefore":0,"summary":"(handoff)","id":"new-2","parentId":null,"firstKeptEntryId":"new-3"}
{"timestamp":"t9","type":"message","message":{"role":"user","content":"New."},"id":"new-3","parentId":"new-2"}
{"timestamp":"t9","type":"message","message":{"role":"assistant","api":"unknown","provider":"unknown","model":"m-2","usage":{"input":3,"output":4,"cacheRead":0,"cacheWrite":0},"stopReason":"stop","content":[{"type":"text","text":"Reply."}]},"id":"new-4","parentId":"new-3"}
{"timestamp":"t9","type":"message","message":{"role":"assistant","api":"unknown","provider":"unknown","stopReason":"toolUse","content":[{"type":"toolCall","id":"c1","name":"look","arguments":{"a":1}}]},"id":"new-5","parentId":"new-4"}
{"timestamp":"t9","type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"look","isError":false,"content":[{"type":"text","text":"Seen."}]},"id":"new-6","parentId":"new-5"}
{"timestamp":"t9","type":"message","message":{"role":"toolResult","toolCallId":"c2","toolName":"","isError":true,"content":[{"type":"text","text":"No."}]},"id":"new-7","parentId":"new-6"}
{"timestamp":"t9","type":"custom_message","customType":"throughline","content":"Mind.","display":false,"id":"new-8","parentId":"new-7"}
{"timestamp":"t9","type":"message","message":{"role":"assistant","api":"unknown","provider":"unknown","stopReason":"stop","content":[{"type":"text","text":"Late."}]},"id":"new-9","parentId":"new-8"}`,
  ],
  [
    'a new file of Codex',
    codexFormat,
    '',
    () => [handoff(), ...NEW],
    String.raw`
{"timestamp":"t9","type":"session_meta","payload":{"id":"new-1","timestamp":"t9","cwd":"","originator":"throughline","cli_version":"0.0.0"}}
{"timestamp":"t9","type":"compacted","payload":{"message":"Work went on.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"(handoff)"}]}]}}
{"timestamp":"t9","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"New."}]}}
{"timestamp":"t9","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Reply."}]}}
{"timestamp":"t9","type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"look","arguments":"{\"a\":1}"}}
{"timestamp":"t9","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Seen."}}
{"timestamp":"t9","type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"No."}}
{"timestamp":"t9","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Mind."}]}}
{"timestamp":"t9","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Late."}]}}`,
  ],
]

it.each(CASES)('%s', (_, codec, file, change, written) => {
  const lines = file.trim().split('\n').filter(Boolean)
  const read = codec.parse(lines.map((line) => JSON.parse(line) as JsonValue))
  const document = codec.format({ ...read, messages: change(read.messages) }) as JsonValue[]
  const text = document.map((line) => JSON.stringify(line)).join('\n')
  const ids: string[] = []
  const shown = text
    .replaceAll(/\[handoff [^"]+ end\]/g, '(handoff)')
    .replaceAll(/"([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{8})"/g, (_, id: string) => {
      if (!ids.includes(id)) ids.push(id)
      return `"new-${ids.indexOf(id) + 1}"`
    })
  expect(shown).toBe(written.trim())
})
