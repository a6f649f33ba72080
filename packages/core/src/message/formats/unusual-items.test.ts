import { expect, it } from 'vitest'
import { unusualItems } from '../../../../../test/support/documents/unusual.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { CODECS } from './file-formats.ts'
import { geminiFormat } from './gemini/gemini.ts'
import { langchainFormat } from './langchain/langchain.ts'

/** What is around the messages, then one message per line. */
const READ = {
  'openai-chat': `
{"format":"openai-chat","wrapper":{"key":"messages","fields":{"model":"m-1"}},"model":"m-1","notes":[]}
{"role":"system","parts":[{"type":"text","text":"Be brief."},{"type":"opaque","provider":"openai","value":{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}}]}
{"role":"assistant","parts":[{"type":"text","text":"Calling."},{"type":"tool-call","id":"function_call_1","name":"read","input":{"path":"a"}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"function_call_1","name":"read","output":[{"type":"text","text":"one"}]}]}
{"role":"assistant","parts":[{"type":"opaque","provider":"openai","value":{"id":"audio_1"}}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"A thought."},{"type":"opaque","provider":"other","value":"broken"},{"type":"tool-call","id":"c1","name":"read","input":{"path":"a"}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"","name":"read","output":[{"type":"text","text":"two"}]}]}
{"role":"user","parts":[{"type":"text","text":"bare"},{"type":"opaque","provider":"other","value":7}]}
{"role":"user","parts":[{"type":"opaque","provider":"other","value":{"kind":"whole"}}]}`,
  'openai-responses': String.raw`
{"format":"openai-responses","wrapper":{"key":"input","fields":{"model":"m-1"}},"model":"m-1","notes":[]}
{"role":"system","parts":[{"type":"text","text":"Be brief."}]}
{"role":"system","parts":[{"type":"text","text":"a"},{"type":"opaque","provider":"openai","value":{"type":"input_image","file_id":"f"}}]}
{"role":"user","parts":[{"type":"opaque","provider":"openai","value":{"type":"input_image"}},{"type":"opaque","provider":"openai","value":{"type":"input_file","file_id":"f","file_url":"u"}},{"type":"opaque","provider":"openai","value":{"type":"input_audio","data":"AAAA"}}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"a\nb","sealed":{"provider":"openai","value":{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"a"},{"type":"x"},{"type":"reasoning_text","text":"b"}]}}},{"type":"opaque","provider":"openai","value":{"type":"web_search_call","id":"ws_1"}},{"type":"tool-call","id":"c1","name":"local_shell","input":{"type":"exec","command":["ls"]}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"c1","output":[{"type":"text","text":"{\"output\":\"a\"}"}]}]}
{"role":"assistant","parts":[{"type":"opaque","provider":"openai","value":{"type":"function_call_output","output":7}}]}`,
  anthropic: `
{"format":"anthropic","wrapper":{"key":"messages","fields":{"model":"m-1"}},"model":"m-1","notes":[]}
{"role":"system","parts":[{"type":"text","text":"Be brief."}]}
{"role":"user","parts":[{"type":"opaque","provider":"other","value":{"type":"text","text":7}},{"type":"opaque","provider":"anthropic","value":{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}}},{"type":"opaque","provider":"anthropic","value":{"type":"image","source":{"type":"url"}}},{"type":"text","text":"bare"}]}
{"role":"assistant","parts":[{"type":"tool-call","id":"c1","name":"read","input":null},{"type":"tool-call","id":"c2","name":"read","input":{}},{"type":"opaque","provider":"anthropic","value":{"type":"web_search_tool_result","tool_use_id":"srv"}},{"type":"reasoning","text":"unsigned"},{"type":"opaque","provider":"other","value":{"type":"hologram"}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"c1","output":[]},{"type":"tool-result","callId":"c2","output":[{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"AAAA"}}]}]}
{"role":"user","parts":[{"type":"text","text":"Before."},{"type":"text","text":"After."}]}`,
  'ai-sdk': String.raw`
{"format":"ai-sdk","wrapper":{"key":"messages","fields":{"model":"m-1"}},"model":"m-1","notes":[]}
{"role":"system","parts":[{"type":"text","text":"Be brief."}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"a","sealed":{"provider":"anthropic","value":{"type":"thinking","thinking":"a","signature":"s"}}},{"type":"reasoning","text":"","sealed":{"provider":"anthropic","value":{"type":"redacted_thinking","data":"d"}}},{"type":"reasoning","text":"b","sealed":{"provider":"openai","value":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"b"}],"encrypted_content":"e"}}},{"type":"reasoning","text":"","sealed":{"provider":"openai","value":{"type":"reasoning","id":"rs_2","summary":[]}}},{"type":"reasoning","text":"c","sealed":{"provider":"google","value":{"thoughtSignature":"g"}}},{"type":"reasoning","text":"d"},{"type":"tool-call","id":"c1","name":"read","input":{}},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"AAAA"}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"c1","name":"read","output":[{"type":"text","text":"{\"a\":1}"}]},{"type":"tool-result","callId":"c1","name":"read","output":[{"type":"text","text":"[1]"}]},{"type":"tool-result","callId":"c1","name":"read","output":[{"type":"text","text":"\"no\""}],"isError":true},{"type":"tool-result","callId":"c1","name":"read","output":[{"type":"opaque","provider":"other","value":{"type":"of-next-year"}}]},{"type":"tool-result","callId":"c1","name":"read","output":[{"type":"text","text":"a"},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"AAAA"}},{"type":"file","source":{"kind":"base64","mediaType":"application/pdf","data":"BBBB"}},{"type":"opaque","provider":"other","value":{"type":"file-url","url":"https://a.example"}}]},{"type":"tool-result","callId":"c1","name":"read","output":[]},{"type":"tool-result","callId":"","output":[{"type":"opaque","provider":"other","value":"stray"}]}]}
{"role":"user","parts":[{"type":"text","text":"Thanks."}]}`,
  'claude-code': `
{"format":"claude-code","model":"m-1","notes":["Error notices of the API were left out: 1."]}
{"role":"system","parts":[{"type":"text","text":"Be brief."}],"at":"t0"}
{"role":"user","parts":[{"type":"text","text":"Caveat."}],"at":"t1","synthetic":true}
{"role":"user","parts":[{"type":"text","text":"<command-name>/model</command-name>"}],"at":"t2","synthetic":true}
{"role":"user","parts":[{"type":"text","text":"[Request interrupted by user]"},{"type":"text","text":"Go on."}],"at":"t3"}
{"role":"assistant","parts":[{"type":"reasoning","text":"hm","sealed":{"provider":"anthropic","value":{"type":"thinking","thinking":"hm","signature":"s"}}},{"type":"text","text":"Done."}],"at":"t5","model":"m-1","usage":{"inputTokens":2,"outputTokens":6}}`,
  codex: `
{"format":"codex","header":[{"timestamp":"t0","type":"session_meta","payload":{"id":"s","base_instructions":{"text":"Be brief."},"instructions":"Not this."}}],"model":"m-1","notes":[]}
{"role":"system","parts":[{"type":"text","text":"Be brief."}]}
{"role":"user","parts":[{"type":"text","text":"# AGENTS.md instructions for /a"},{"type":"text","text":"b"}],"at":"t2","synthetic":true}
{"role":"user","parts":[{"type":"text","text":"Ask."}],"at":"t3"}
{"role":"assistant","parts":[{"type":"reasoning","text":"hm","sealed":{"provider":"openai","value":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"}}},{"type":"tool-call","id":"c1","name":"apply_patch","input":"*** Begin"}],"at":"t4"}
{"role":"tool","parts":[{"type":"tool-result","callId":"c1","output":[{"type":"text","text":"Done."}]}],"at":"t6"}`,
  pi: String.raw`
{"format":"pi","header":[{"type":"session","version":3,"id":"s","modelId":"m-0","cwd":"/"}],"model":"m-0","notes":["Replies that hold nothing were left out: 1."]}
{"role":"user","parts":[{"type":"text","text":"Ran ls\n(no output)\n(cancelled)"}],"synthetic":true,"at":"t1"}
{"role":"user","parts":[{"type":"text","text":"Ran ls\na"}],"synthetic":true,"at":"t2"}
{"role":"assistant","parts":[{"type":"reasoning","text":"","sealed":{"provider":"anthropic","value":{"type":"redacted_thinking","data":"d"}}},{"type":"reasoning","text":"a","sealed":{"provider":"anthropic","value":{"type":"thinking","thinking":"a","signature":"s"}}},{"type":"text","text":"bare"},{"type":"opaque","provider":"other","value":{"type":"hologram"}}],"at":"t3"}
{"role":"assistant","parts":[{"type":"reasoning","text":"b","sealed":{"provider":"openai","value":{"type":"reasoning","id":"rs_1"}}}],"usage":{"inputTokens":111,"outputTokens":5},"at":"t4"}
{"role":"tool","parts":[{"type":"tool-result","callId":"c1","output":[{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"AAAA"}}]}],"at":"t7"}
{"role":"user","parts":[{"type":"text","text":"Next."}]}`,
  hermes: `
{"format":"hermes","header":[{"role":"session_meta","model":"m-1"}],"model":"m-1","notes":["Rows that are no longer active were left out: 1."]}
{"role":"user","parts":[{"type":"text","text":"[CONTEXT SUMMARY] So far."}],"at":"1970-01-01T00:00:01.500Z","synthetic":true}
{"role":"assistant","parts":[{"type":"reasoning","text":"A thought."},{"type":"tool-call","id":"call_1","name":"f","input":{}}],"at":"2026-01-01T00:00:00"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_1","output":[{"type":"text","text":"x"}]}]}`,
  gemini: String.raw`
{"format":"gemini","notes":[]}
{"role":"user","parts":[{"type":"text","text":"Ask."},{"type":"text","text":"bare"},{"type":"file","source":{"kind":"url","url":"https://a.example/a.pdf"}}]}
{"role":"assistant","parts":[{"type":"text","text":"plain"},{"type":"reasoning","text":"","sealed":{"provider":"google","value":{"thoughtSignature":"g"}}},{"type":"tool-call","id":"gemini_call_1_0","name":"f","input":{"a":1}},{"type":"tool-call","id":"gemini_call_1_1","name":"f","input":{}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"gemini_call_1_0","name":"f","output":[{"type":"text","text":"one"}]},{"type":"tool-result","callId":"gemini_call_1_1","name":"f","output":[]},{"type":"tool-result","callId":"gemini_response_2","name":"g","output":[{"type":"text","text":"{\"error\":\"no\",\"code\":5}"}],"isError":true}]}`,
  langchain: `
{"format":"langchain","notes":[]}
{"role":"system","parts":[{"type":"text","text":"Be brief."},{"type":"opaque","provider":"other","value":{"type":"image_url","image_url":"https://a.example"}}]}
{"role":"user","parts":[{"type":"text","text":"Said."}]}
{"role":"assistant","parts":[{"type":"opaque","provider":"other","value":"broken"},{"type":"tool-call","id":"c1","name":"f","input":{}},{"type":"opaque","provider":"other","value":{"args":{}}},{"type":"tool-call","id":"","name":"g","input":1}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"","output":[{"type":"text","text":"bare"}]}]}
{"role":"user","parts":[{"type":"opaque","provider":"other","value":{"type":"image","url":"https://a.example","data":"AAAA"}},{"type":"file","source":{"kind":"url","url":"https://a.example"}}]}`,
}

it.each([...CODECS, geminiFormat, langchainFormat])(
  'unusual items of $name are read as these messages',
  ({ name, parse }) => {
    const { messages, ...around } = parse(unusualItems(name))
    expect([around, ...messages].map(withoutOrigins)).toEqual(linesOf(READ[name]))
  },
)

it.each([
  ...CODECS.filter(({ framing, name }) => framing === 'json' || name === 'hermes'),
  geminiFormat,
])('unusual items of $name are written as they were', ({ name, parse, format }) => {
  const document = unusualItems(name)
  const read = parse(document)
  const left = name === 'hermes' ? (document as JsonValue[]).toSpliced(2, 1) : document
  expect(format(read as never)).toEqual(left)
})

function linesOf(text: string): JsonObject[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
}

function withoutOrigins(value: object): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === 'origin' ? undefined : inner)),
  )
}
