import { expect, it } from 'vitest'
import { DIALECTS } from '../dialect.ts'
import type { ImagePart, Message } from '../message.ts'
import { render } from './render.ts'

const image = (data: string): ImagePart => ({
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data },
})

/** With much that one provider or the other refuses. */
const MESSAGES: readonly Message[] = [
  {
    role: 'system',
    parts: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: ' ' },
    ],
  },
  { role: 'assistant', parts: [{ type: 'text', text: 'Hello.' }] },
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'Look.' },
      { type: 'text', text: '' },
      image('iVBORw0KGgo='),
      image('AAAA'),
      { type: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } },
      { type: 'image', source: { kind: 'id', id: 'file_1' } },
      {
        type: 'file',
        name: 'c.pdf',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0xLjQK' },
      },
      {
        type: 'file',
        name: 'd.txt',
        source: { kind: 'base64', mediaType: 'text/plain', data: 'SGk=' },
      },
      { type: 'file', source: { kind: 'url', url: 'https://a.example/e' } },
    ],
  },
  { role: 'system', parts: [{ type: 'text', text: 'Now be kind.' }] },
  {
    role: 'assistant',
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
          value: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e1' },
        },
      },
      {
        type: 'reasoning',
        text: 'deep',
        sealed: { provider: 'google', value: { thoughtSignature: 'g1' } },
      },
      { type: 'text', text: 'I read. ' },
      { type: 'tool-call', id: 'call:1', name: 'files.read', input: { path: 'a' } },
      { type: 'tool-call', id: 'c2', name: '2nd tool', input: 'bare' },
      { type: 'tool-call', id: 'c3', name: 'read', input: { path: 'c' } },
      {
        type: 'opaque',
        provider: 'anthropic',
        value: { type: 'server_tool_use', id: 'srv', name: 'web', input: {} },
      },
      { type: 'opaque', provider: 'openai', value: { type: 'web_search_call', id: 'ws' } },
      { type: 'opaque', provider: 'google', value: { executableCode: { code: 'x' } } },
    ],
  },
  {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: 'c2', name: '2nd tool', output: [], isError: true },
      {
        type: 'tool-result',
        callId: 'call:1',
        output: [
          { type: 'text', text: 'one' },
          image('iVBORw0KGgo='),
          { type: 'opaque', provider: 'anthropic', value: { type: 'search_result', source: 's' } },
          {
            type: 'opaque',
            provider: 'openai',
            value: { type: 'input_audio', data: 'CCCC' },
            origin: { format: 'openai-responses', at: 0 },
          },
          { type: 'opaque', provider: 'anthropic', value: { source: 'of no type' } },
        ],
      },
    ],
  },
  {
    role: 'assistant',
    isPartial: true,
    parts: [
      { type: 'text', text: 'It sa' },
      {
        type: 'reasoning',
        text: 'x',
        sealed: {
          provider: 'anthropic',
          value: { type: 'thinking', thinking: 'x', signature: 's2' },
        },
      },
    ],
  },
  { role: 'user', pinned: true, parts: [{ type: 'text', text: 'A pin.' }] },
  { role: 'user', parts: [{ type: 'text', text: 'Thanks.' }] },
  { role: 'user', parts: [{ type: 'text', text: '\ud800 Go on.' }] },
  { role: 'assistant', parts: [{ type: 'text', text: 'Bye. ' }] },
]

/** The requests, one member of a list per line after the list's name. */
const REQUESTS = {
  'openai-chat': String.raw`
messages {"role":"system","content":[{"type":"text","text":"Be brief."},{"type":"text","text":" "}]}
messages {"role":"assistant","content":"Hello."}
messages {"role":"user","content":[{"type":"text","text":"Look."},{"type":"text","text":""},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"text","text":"[image] (not shown: it is no image/png)"},{"type":"image_url","image_url":{"url":"https://a.example/b.png"}},{"type":"text","text":"[image]"},{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0xLjQK","filename":"c.pdf"}},{"type":"text","text":"[file d.txt]\nHi"},{"type":"file","file":{"file_data":"https://a.example/e"}}]}
messages {"role":"system","content":"Now be kind."}
messages {"role":"assistant","content":"I read. ","tool_calls":[{"id":"call:1","type":"function","function":{"name":"files_read","arguments":"{\"path\":\"a\"}"}},{"id":"c2","type":"function","function":{"name":"2nd_tool","arguments":"\"bare\""}},{"id":"c3","type":"function","function":{"name":"read","arguments":"{\"path\":\"c\"}"}}]}
messages {"role":"tool","tool_call_id":"c2","name":"2nd_tool","content":""}
messages {"role":"tool","tool_call_id":"call:1","content":[{"type":"text","text":"one"},{"type":"text","text":"[image] (shown behind the results)"},{"type":"text","text":"{\"type\":\"search_result\",\"source\":\"s\"}"},{"type":"text","text":"{\"type\":\"input_audio\",\"data\":\"CCCC\"}"},{"type":"text","text":"{\"source\":\"of no type\"}"}]}
messages {"role":"tool","tool_call_id":"c3","name":"read","content":"No result was recorded for this call: it may or may not have run."}
messages {"role":"user","content":[{"type":"text","text":"[Shown by the tools above:]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}
messages {"role":"assistant","content":"It sa"}
messages {"role":"user","content":[{"type":"text","text":"A pin."},{"type":"text","text":"Thanks."},{"type":"text","text":"� Go on."}]}
messages {"role":"assistant","content":"Bye. "}
messages {"role":"user","content":"Continue."}`,
  'openai-responses': String.raw`
input {"type":"message","role":"system","content":[{"type":"input_text","text":"Be brief."}]}
input {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello."}]}
input {"type":"message","role":"user","content":[{"type":"input_text","text":"Look."},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_text","text":"[image] (not shown: it is no image/png)"},{"type":"input_image","image_url":"https://a.example/b.png"},{"type":"input_image","file_id":"file_1"},{"type":"input_file","file_data":"data:application/pdf;base64,JVBERi0xLjQK","filename":"c.pdf"},{"type":"input_text","text":"[file d.txt]\nHi"},{"type":"input_file","file_url":"https://a.example/e"}]}
input {"type":"message","role":"system","content":[{"type":"input_text","text":"Now be kind."}]}
input {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e1"}
input {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read. "}]}
input {"type":"function_call","call_id":"call_1","name":"files_read","arguments":"{\"path\":\"a\"}"}
input {"type":"function_call","call_id":"c2","name":"2nd_tool","arguments":"\"bare\""}
input {"type":"function_call","call_id":"c3","name":"read","arguments":"{\"path\":\"c\"}"}
input {"type":"web_search_call","id":"ws"}
input {"type":"function_call_output","call_id":"c2","output":""}
input {"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_text","text":"{\"type\":\"search_result\",\"source\":\"s\"}"},{"type":"input_audio","data":"CCCC"},{"type":"input_text","text":"{\"source\":\"of no type\"}"}]}
input {"type":"function_call_output","call_id":"c3","output":"No result was recorded for this call: it may or may not have run."}
input {"type":"message","role":"assistant","content":[{"type":"output_text","text":"It sa"}]}
input {"type":"message","role":"user","content":[{"type":"input_text","text":"A pin."},{"type":"input_text","text":"Thanks."},{"type":"input_text","text":"� Go on."}]}
input {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Bye. "}]}
input {"type":"message","role":"user","content":[{"type":"input_text","text":"Continue."}]}`,
  anthropic: String.raw`
system "Be brief."
messages {"role":"user","content":"[The messages before this one are not shown.]"}
messages {"role":"assistant","content":"Hello."}
messages {"role":"user","content":[{"type":"text","text":"Look."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":"[image] (not shown: it is no image/png)"},{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQK"},"title":"c.pdf"},{"type":"text","text":"[file d.txt]\nHi"},{"type":"document","source":{"type":"url","url":"https://a.example/e"}},{"type":"text","text":"Now be kind."}]}
messages {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"text","text":"I read. "},{"type":"tool_use","id":"call_1","name":"files_read","input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"2nd_tool","input":{"input":"bare"}},{"type":"tool_use","id":"c3","name":"read","input":{"path":"c"}},{"type":"server_tool_use","id":"srv","name":"web","input":{}}]}
messages {"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"(no output)","is_error":true},{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"search_result","source":"s"},{"type":"text","text":"{\"type\":\"input_audio\",\"data\":\"CCCC\"}"},{"type":"text","text":"{\"source\":\"of no type\"}"}]},{"type":"tool_result","tool_use_id":"c3","content":"No result was recorded for this call: it may or may not have run.","is_error":true}]}
messages {"role":"assistant","content":"It sa"}
messages {"role":"user","content":[{"type":"text","text":"A pin."},{"type":"text","text":"Thanks."},{"type":"text","text":"� Go on."}]}
messages {"role":"assistant","content":"Bye. "}
messages {"role":"user","content":"Continue."}`,
  gemini: String.raw`
systemInstruction {"parts":[{"text":"Be brief."}]}
contents {"role":"user","parts":[{"text":"[The messages before this one are not shown.]"}]}
contents {"role":"model","parts":[{"text":"Hello."}]}
contents {"role":"user","parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"[image] (not shown: it is no image/png)"},{"fileData":{"fileUri":"https://a.example/b.png"}},{"text":"[image]"},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0xLjQK"}},{"text":"[file d.txt]\nHi"},{"fileData":{"fileUri":"https://a.example/e"}},{"text":"Now be kind."}]}
contents {"role":"model","parts":[{"text":"I read. "},{"functionCall":{"name":"files.read","args":{"path":"a"}},"thoughtSignature":"g1"},{"functionCall":{"name":"_2nd_tool","args":{"input":"bare"}}},{"functionCall":{"name":"read","args":{"path":"c"}}},{"executableCode":{"code":"x"}}]}
contents {"role":"user","parts":[{"functionResponse":{"name":"files.read","response":{"output":"one\n[image] (shown behind the results)\n{\"type\":\"search_result\",\"source\":\"s\"}\n{\"type\":\"input_audio\",\"data\":\"CCCC\"}\n{\"source\":\"of no type\"}"}}},{"functionResponse":{"name":"_2nd_tool","response":{"error":""}}},{"functionResponse":{"name":"read","response":{"error":"No result was recorded for this call: it may or may not have run."}}}]}
contents {"role":"user","parts":[{"text":"[Shown by the tools above:]"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}
contents {"role":"model","parts":[{"text":"It sa"}]}
contents {"role":"user","parts":[{"text":"A pin."},{"text":"Thanks."},{"text":"� Go on."}]}
contents {"role":"model","parts":[{"text":"Bye. "}]}
contents {"role":"user","parts":[{"text":"Continue."}]}`,
  strict: String.raw`
messages {"role":"system","content":"Be brief."}
messages {"role":"user","content":"[The messages before this one are not shown.]"}
messages {"role":"assistant","content":"Hello."}
messages {"role":"user","content":"Look.\n[image]\n[image]\n[image]\n[image]\n[file c.pdf]\n[file d.txt]\n[file]\nNow be kind."}
messages {"role":"assistant","content":"I read. \n[call files.read] {\"path\":\"a\"}\n[call 2nd tool] \"bare\"\n[call read] {\"path\":\"c\"}"}
messages {"role":"user","content":"[error from 2nd tool]\n\n[result of files.read]\none\n[image]\n[search_result]\n[input_audio]\n[unknown]\n[error from read]\nNo result was recorded for this call: it may or may not have run."}
messages {"role":"assistant","content":"It sa"}
messages {"role":"user","content":"A pin.\nThanks.\n� Go on."}
messages {"role":"assistant","content":"Bye. "}
messages {"role":"user","content":"Continue."}`,
}

it.each(DIALECTS)('messages that %s does not take as they are become this request', (dialect) => {
  const lines = Object.entries(render(MESSAGES, dialect)).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, each]),
  )
  expect(lines).toEqual(
    REQUESTS[dialect]
      .trim()
      .split('\n')
      .map((line) => {
        const [name = ''] = line.split(' ')
        return [name, JSON.parse(line.slice(name.length)) as unknown]
      }),
  )
})
