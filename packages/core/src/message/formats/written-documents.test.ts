import { expect, it } from 'vitest'
import type { Message } from '../message.ts'
import { derivedId, derivedUuid } from './derived-id.ts'
import { CODECS } from './file-formats.ts'
import { geminiFormat } from './gemini/gemini.ts'
import { langchainFormat } from './langchain/langchain.ts'

/** Of no format: every kind of part, with and without what a part may have. */
const MESSAGES: readonly Message[] = [
  {
    role: 'system',
    parts: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.' },
    ],
  },
  {
    role: 'user',
    at: '2026-01-02T03:04:05.678Z',
    parts: [
      { type: 'text', text: 'Look.' },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } },
      { type: 'image', source: { kind: 'id', id: 'file_1' } },
      {
        type: 'file',
        name: 'c.pdf',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' },
      },
      { type: 'file', source: { kind: 'url', url: 'https://a.example/d.txt' } },
      { type: 'file', source: { kind: 'id', id: 'file_2' } },
    ],
  },
  {
    role: 'assistant',
    model: 'm-1',
    usage: { inputTokens: 12, outputTokens: 3 },
    at: '2026-01-02T03:04:06.000Z',
    parts: [
      { type: 'reasoning', text: 'Open thought.' },
      {
        type: 'reasoning',
        text: 'hm',
        sealed: {
          provider: 'anthropic',
          value: { type: 'thinking', thinking: 'hm', signature: 's1' },
        },
      },
      {
        type: 'reasoning',
        text: 'sum',
        sealed: {
          provider: 'openai',
          value: {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: 'sum' }],
            encrypted_content: 'e1',
          },
        },
      },
      {
        type: 'reasoning',
        text: 'deep',
        sealed: { provider: 'google', value: { thoughtSignature: 'g1' } },
      },
      { type: 'text', text: 'I read.' },
      { type: 'tool-call', id: 'c1', name: 'read', input: { path: 'a' } },
      {
        type: 'tool-call',
        id: 'c2',
        name: 'read',
        input: { path: 'b' },
        inputText: '{"path": "b"}',
      },
      { type: 'opaque', provider: 'anthropic', value: { type: 'server_tool_use', id: 'srv' } },
      { type: 'opaque', provider: 'openai', value: { type: 'web_search_call', id: 'ws' } },
    ],
  },
  {
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        callId: 'c1',
        name: 'read',
        output: [
          { type: 'text', text: 'one' },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/gif', data: 'CCCC' } },
        ],
      },
      {
        type: 'tool-result',
        callId: 'c2',
        output: [{ type: 'text', text: 'No such file.' }],
        isError: true,
      },
    ],
  },
  { role: 'assistant', isPartial: true, parts: [{ type: 'text', text: 'It sa' }] },
  { role: 'user', synthetic: true, parts: [{ type: 'text', text: 'Reminder.' }] },
  { role: 'user', parts: [{ type: 'text', text: 'Thanks.' }] },
]

/** What each format has for them, one item per line; new ids are numbered in their order. */
const WRITTEN = {
  'openai-chat': String.raw`
{"role":"system","content":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}]}
{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"https://a.example/b.png"}},{"type":"text","text":"[image]"},{"type":"file","file":{"file_data":"data:application/pdf;base64,BBBB","filename":"c.pdf"}},{"type":"file","file":{"file_data":"https://a.example/d.txt"}},{"type":"file","file":{"file_id":"file_2"}}]}
{"role":"assistant","content":[{"type":"text","text":"I read."}],"reasoning_content":"Open thought.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\": \"b\"}"}}]}
{"role":"tool","tool_call_id":"c1","name":"read","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,CCCC"}}]}
{"role":"tool","tool_call_id":"c2","content":"No such file."}
{"role":"assistant","content":"It sa"}
{"role":"user","content":"Reminder."}
{"role":"user","content":"Thanks."}`,
  'openai-responses': String.raw`
{"type":"message","role":"system","content":[{"type":"input_text","text":"Be brief."},{"type":"input_text","text":"Be kind."}]}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_image","image_url":"https://a.example/b.png"},{"type":"input_image","file_id":"file_1"},{"type":"input_file","file_data":"data:application/pdf;base64,BBBB","filename":"c.pdf"},{"type":"input_file","file_url":"https://a.example/d.txt"},{"type":"input_file","file_id":"file_2"}]}
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"sum"}],"encrypted_content":"e1"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read."}]}
{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"}
{"type":"function_call","call_id":"c2","name":"read","arguments":"{\"path\": \"b\"}"}
{"type":"web_search_call","id":"ws"}
{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/gif;base64,CCCC"}]}
{"type":"function_call_output","call_id":"c2","output":"No such file."}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It sa"}]}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Reminder."}]}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Thanks."}]}`,
  anthropic: `
{"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}],"messages":[{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"BBBB"},"title":"c.pdf"},{"type":"document","source":{"type":"url","url":"https://a.example/d.txt"}},{"type":"document","source":{"type":"file","file_id":"file_2"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"text","text":"I read."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"read","input":{"path":"b"}},{"type":"server_tool_use","id":"srv"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"CCCC"}}]},{"type":"tool_result","tool_use_id":"c2","content":"No such file.","is_error":true}]},{"role":"assistant","content":"It sa"},{"role":"user","content":"Reminder."},{"role":"user","content":"Thanks."}]}`,
  'ai-sdk': String.raw`
{"role":"system","content":"Be brief.\nBe kind."}
{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image","image":"AAAA","mediaType":"image/png"},{"type":"image","image":"https://a.example/b.png"},{"type":"text","text":"[image]"},{"type":"file","data":"BBBB","mediaType":"application/pdf","filename":"c.pdf"},{"type":"file","data":"https://a.example/d.txt","mediaType":"application/octet-stream"},{"type":"text","text":"[file]"}]}
{"role":"assistant","content":[{"type":"reasoning","text":"Open thought."},{"type":"reasoning","text":"hm","providerOptions":{"anthropic":{"signature":"s1"}}},{"type":"reasoning","text":"sum","providerOptions":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"e1"}}},{"type":"reasoning","text":"deep","providerOptions":{"google":{"thoughtSignature":"g1"}}},{"type":"text","text":"I read."},{"type":"tool-call","toolCallId":"c1","toolName":"read","input":{"path":"a"}},{"type":"tool-call","toolCallId":"c2","toolName":"read","input":{"path":"b"}}]}
{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"read","output":{"type":"content","value":[{"type":"text","text":"one"},{"type":"media","data":"CCCC","mediaType":"image/gif"}]}},{"type":"tool-result","toolCallId":"c2","toolName":"","output":{"type":"error-text","value":"No such file."}}]}
{"role":"assistant","content":[{"type":"text","text":"It sa"}]}
{"role":"user","content":"Reminder."}
{"role":"user","content":"Thanks."}`,
  'claude-code': `
{"parentUuid":null,"isSidechain":false,"sessionId":"id 1","timestamp":"2026-01-02T03:04:05.678Z","uuid":"id 2","type":"system","subtype":"system_prompt","content":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}]}
{"parentUuid":"id 2","isSidechain":false,"sessionId":"id 1","timestamp":"2026-01-02T03:04:05.678Z","uuid":"id 3","type":"user","message":{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"BBBB"},"title":"c.pdf"},{"type":"document","source":{"type":"url","url":"https://a.example/d.txt"}},{"type":"document","source":{"type":"file","file_id":"file_2"}}]}}
{"parentUuid":"id 3","isSidechain":false,"sessionId":"id 1","timestamp":"2026-01-02T03:04:06.000Z","uuid":"id 4","type":"assistant","message":{"type":"message","model":"m-1","usage":{"input_tokens":12,"output_tokens":3},"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"text","text":"I read."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"read","input":{"path":"b"}},{"type":"server_tool_use","id":"srv"}]}}
{"parentUuid":"id 4","isSidechain":false,"sessionId":"id 1","timestamp":"2026-01-02T03:04:06.000Z","uuid":"id 5","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"CCCC"}}]},{"type":"tool_result","tool_use_id":"c2","content":"No such file.","is_error":true}]}}
{"parentUuid":"id 5","isSidechain":false,"sessionId":"id 1","timestamp":"2026-01-02T03:04:06.000Z","uuid":"id 6","type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"It sa"}]}}
{"parentUuid":"id 6","isSidechain":false,"sessionId":"id 1","timestamp":"2026-01-02T03:04:06.000Z","isMeta":true,"uuid":"id 7","type":"user","message":{"role":"user","content":"Reminder."}}
{"parentUuid":"id 7","isSidechain":false,"sessionId":"id 1","timestamp":"2026-01-02T03:04:06.000Z","uuid":"id 8","type":"user","message":{"role":"user","content":"Thanks."}}`,
  codex: String.raw`
{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{"id":"id 1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"","originator":"throughline","cli_version":"0.0.0"}}
{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"message","role":"system","content":[{"type":"input_text","text":"Be brief."},{"type":"input_text","text":"Be kind."}]}}
{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_image","image_url":"https://a.example/b.png"},{"type":"input_image","file_id":"file_1"},{"type":"input_file","file_data":"data:application/pdf;base64,BBBB","filename":"c.pdf"},{"type":"input_file","file_url":"https://a.example/d.txt"},{"type":"input_file","file_id":"file_2"}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"sum"}],"encrypted_content":"e1"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read."}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call","call_id":"c2","name":"read","arguments":"{\"path\": \"b\"}"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"web_search_call","id":"ws"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/gif;base64,CCCC"}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"No such file."}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It sa"}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Reminder."}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Thanks."}]}}`,
  pi: `
{"type":"session","version":3,"id":"id 1","timestamp":"2026-01-02T03:04:05.678Z","cwd":""}
{"timestamp":"2026-01-02T03:04:05.678Z","type":"message","message":{"role":"system","content":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}]},"id":"id 2","parentId":null}
{"timestamp":"2026-01-02T03:04:05.678Z","type":"message","message":{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"[image] https://a.example/b.png"},{"type":"text","text":"[image]"},{"type":"text","text":"[file c.pdf]"},{"type":"text","text":"[file] https://a.example/d.txt"},{"type":"text","text":"[file]"}]},"id":"id 3","parentId":"id 2"}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"message","message":{"role":"assistant","api":"anthropic-messages","provider":"anthropic","model":"m-1","usage":{"input":12,"output":3,"cacheRead":0,"cacheWrite":0},"stopReason":"toolUse","content":[{"type":"thinking","thinking":"Open thought."},{"type":"thinking","thinking":"hm","thinkingSignature":"s1"},{"type":"text","text":"I read."},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a"}},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"b"}}]},"id":"id 4","parentId":"id 3"}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","isError":false,"content":[{"type":"text","text":"one"},{"type":"image","data":"CCCC","mimeType":"image/gif"}]},"id":"id 5","parentId":"id 4"}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"message","message":{"role":"toolResult","toolCallId":"c2","toolName":"","isError":true,"content":[{"type":"text","text":"No such file."}]},"id":"id 6","parentId":"id 5"}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"message","message":{"role":"assistant","api":"unknown","provider":"unknown","stopReason":"stop","content":[{"type":"text","text":"It sa"}]},"id":"id 7","parentId":"id 6"}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"custom_message","customType":"throughline","content":"Reminder.","display":false,"id":"id 8","parentId":"id 7"}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"message","message":{"role":"user","content":"Thanks."},"id":"id 9","parentId":"id 8"}`,
  hermes: String.raw`
{"role":"system","content":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}]}
{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"https://a.example/b.png"}},{"type":"text","text":"[image]"},{"type":"file","file":{"file_data":"data:application/pdf;base64,BBBB","filename":"c.pdf"}},{"type":"file","file":{"file_data":"https://a.example/d.txt"}},{"type":"file","file":{"file_id":"file_2"}}]}
{"role":"assistant","content":[{"type":"text","text":"I read."}],"reasoning_content":"Open thought.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\": \"b\"}"}}]}
{"role":"tool","tool_call_id":"c1","name":"read","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,CCCC"}}]}
{"role":"tool","tool_call_id":"c2","content":"No such file."}
{"role":"assistant","content":"It sa"}
{"role":"user","content":"Reminder."}
{"role":"user","content":"Thanks."}`,
  gemini: String.raw`
{"role":"user","parts":[{"text":"Be brief."},{"text":"Be kind."}]}
{"role":"user","parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"fileData":{"fileUri":"https://a.example/b.png"}},{"text":"[image]"},{"inlineData":{"mimeType":"application/pdf","data":"BBBB"}},{"fileData":{"fileUri":"https://a.example/d.txt"}},{"text":"[file]"}]}
{"role":"model","parts":[{"text":"deep","thought":true,"thoughtSignature":"g1"},{"text":"I read."},{"functionCall":{"id":"c1","name":"read","args":{"path":"a"}}},{"functionCall":{"id":"c2","name":"read","args":{"path":"b"}}}]}
{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"one\n[image]"}}},{"functionResponse":{"id":"c2","name":"read","response":{"error":"No such file."}}}]}
{"role":"model","parts":[{"text":"It sa"}]}
{"role":"user","parts":[{"text":"Reminder."}]}
{"role":"user","parts":[{"text":"Thanks."}]}`,
  langchain: `
{"type":"system","content":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}]}
{"type":"human","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"https://a.example/b.png"}},{"type":"text","text":"[image]"},{"type":"file","file":{"file_data":"data:application/pdf;base64,BBBB","filename":"c.pdf"}},{"type":"file","file":{"file_data":"https://a.example/d.txt"}},{"type":"file","file":{"file_id":"file_2"}}]}
{"type":"ai","content":[{"type":"text","text":"I read."}],"tool_calls":[{"name":"read","args":{"path":"a"},"id":"c1","type":"tool_call"},{"name":"read","args":{"path":"b"},"id":"c2","type":"tool_call"}]}
{"type":"tool","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,CCCC"}}],"tool_call_id":"c1","name":"read"}
{"type":"tool","content":"No such file.","tool_call_id":"c2","status":"error"}
{"type":"ai","content":"It sa"}
{"type":"human","content":"Reminder."}
{"type":"human","content":"Thanks."}`,
}

it.each([...CODECS, geminiFormat, langchainFormat])(
  'messages of no format are written as these items of $name, and nothing else',
  ({ name, format }) => {
    const written = format({ format: name, messages: MESSAGES, notes: [] } as never)
    const items = Array.isArray(written) ? written : [written]
    expect(numbered(JSON.stringify(items))).toEqual(
      WRITTEN[name]
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    )
  },
)

function numbered(json: string): unknown {
  const ids = new Map<string, number>()
  const id = /"[0-9a-f]{8}(?:-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12})?"/g
  return JSON.parse(
    json.replace(id, (found) => {
      if (!ids.has(found)) ids.set(found, ids.size + 1)
      return `"id ${ids.get(found)}"`
    }),
  )
}

it('derives the id of a new line from what it follows', () => {
  // printf 'a\n1' | sha256sum
  expect(derivedId('a', 1)).toBe('4f395a2e9ea1c0680348d384135458270e9e6f5af3576151fec246b7b6de98e6')
  expect(derivedUuid('a', 1)).toBe('4f395a2e-9ea1-8068-8348-d38413545827')
})
