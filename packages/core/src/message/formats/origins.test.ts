import { expect, it } from 'vitest'
import { RICH } from '../../../../../test/support/documents/rich.ts'
import { unusualItems } from '../../../../../test/support/documents/unusual.ts'
import type { Origin } from '../message.ts'
import { CODECS } from './file-formats.ts'
import { geminiFormat } from './gemini/gemini.ts'
import { langchainFormat } from './langchain/langchain.ts'

/**
 * What each message and part keeps of its source: which item, which words for its form, and the fields
 * that our model lacks. A field that our model has must not be kept twice.
 */
const RICH_ORIGINS = {
  'openai-chat': `
system 0 [string] {"extra":"x"}
user 1 [parts]
text 1 {"extra":"x"}
image 1 {"extra":1,"image_url":{"detail":"low"}}
image 1 [flat]
file 1 {"extra":"y","file":{"extra":"x"}}
opaque 1
assistant 2 [string] {"extra":"x"}
reasoning 2 [reasoning_content]
tool-call 2 {"extra":"x","inner":{"extra":"y"}}
tool-call 2 [custom]
tool 3
tool-result 3 [string] {"extra":"x"}
tool 4
tool-result 4 [parts]
assistant 5 [parts]
text 5 [refusal] {"extra":"x"}
assistant 6 [null no-calls]
text 6 [refusal-field]
user 7 [string] {"name":"ann"}`,
  'openai-responses': `
system 0 [string untyped developer] {"extra":"x"}
user 1 [parts] {"extra":"x"}
text 1 [input_text] {"extra":"x"}
image 1 {"detail":"low"}
image 1
file 1 [file_url] {"extra":"x"}
file 1 [file_data]
file 1 [file_url]
assistant 2 {"others":[{"format":"openai-responses","at":3},{"format":"openai-responses","at":4}]}
reasoning 2
tool-call 3 [function_call] {"id":"fc_1"}
tool-call 4 [custom_tool_call] {"id":"c_2"}
tool 5
tool-result 5 [string function_call_output] {"id":"o_1"}
tool 6
tool-result 6 [parts custom_tool_call_output]
text 6 [input_text]
assistant 7 [parts] {"id":"msg_1","status":"completed"}
text 7 [output_text] {"annotations":[]}
text 7 [refusal] {"extra":"x"}
user 8 [string]`,
  anthropic: `
system -1 [parts outside]
text -1 {"cache_control":{"type":"ephemeral"}}
user 0 [parts] {"extra":"x"}
text 0 {"cache_control":{"type":"ephemeral"}}
image 0 {"extra":"x"}
image 0
file 0 {"context":"x"}
opaque 0
assistant 1 [parts]
text 1 {"citations":[]}
tool-call 1 {"extra":"x"}
tool 2 [parts]
tool-result 2 [string] {"extra":"x"}
tool-result 2 [parts]
user 2 [parts]
user 3 [string]`,
  'ai-sdk': `
system 0 [string] {"providerOptions":{"a":1}}
user 1 [parts]
text 1 {"providerOptions":{"a":1}}
image 1 {"extra":"x"}
image 1 [no-type]
file 1 [address] {"mediaType":"text/plain"}
image 1 [as-file]
assistant 2 [parts]
reasoning 2 {"extra":"x"}
tool-call 2 [args]
opaque 2
tool 3 [parts]
tool-result 3 [text] {"extra":"x"}
tool-result 3 [error-text] {}
user 4 [string]`,
  'claude-code': `
user 0 [string] {"uuid":"u1","timestamp":"2026-01-01T00:00:00Z","cwd":"/","message":{"extra":"x"}}
assistant 1 [parts] {"uuid":"u2","timestamp":"2026-01-01T00:00:01Z","message":{"id":"m1","type":"message","model":"m"}}
text 1 {"extra":"x"}
tool 2 [parts] {"uuid":"u3","timestamp":"2026-01-01T00:00:02Z"}
tool-result 2 [string]`,
  codex: `
user 0 [parts] {"line":{"timestamp":"2026-01-01T00:00:01Z"}}
text 0 [input_text]
assistant 1 {"line":{"timestamp":"2026-01-01T00:00:02Z"}}
tool-call 1 [function_call]
tool 2 {"line":{"timestamp":"2026-01-01T00:00:03Z"}}
tool-result 2 [string function_call_output]
assistant 3 [parts] {"line":{"timestamp":"2026-01-01T00:00:04Z"}}
text 3 [output_text]`,
  pi: `
system 0 [parts] {"id":"e0","timestamp":"2026-01-01T00:00:01Z","message":{"extra":"x","sections":{"style":"old style","gone":null}}}
text 0 [section] {"name":"style"}
user 1 [parts] {"id":"e1","timestamp":"2026-01-01T00:00:01Z"}
text 1 {"extra":"x"}
image 1 {"extra":"x"}
assistant 2 [parts] {"id":"e2","timestamp":"2026-01-01T00:00:02Z","message":{"api":"openai-responses","model":"m"}}
reasoning 2 {"extra":"x"}
tool-call 2 {"extra":"x"}
tool-call 2 [no-input]
tool 3 {"id":"e3","timestamp":"2026-01-01T00:00:03Z","message":{"extra":"x"}}
tool-result 3 [parts]
tool 4 {"id":"e4","timestamp":"2026-01-01T00:00:04Z","message":{"isError":false}}
tool-result 4 [string]
user 5 [string custom_message] {"id":"e5","timestamp":"2026-01-01T00:00:05Z","customType":"x","display":true}
user 6 [branch_summary] {"id":"e6","timestamp":"2026-01-01T00:00:06Z","fromId":"e0"}
user 7 [summary] {"id":"e7","timestamp":"2026-01-01T00:00:07Z","message":{"role":"branchSummary","extra":"x"}}
user 8 [string] {"id":"e8","timestamp":"2026-01-01T00:00:08Z","message":{"role":"hook","extra":"x"}}`,
  hermes: `
system 0 [string]
user 1 [parts marked-list:compact]
text 1 {"extra":"x","spelled":"input_text"}
image 1 {"detail":"low","spelled":"input_image"}
image 1 {"spelled":"image"}
image 1 {"extra":"x","spelled":"image"}
assistant 2 [parts marked-list:compact]
text 2 {"spelled":"output_text"}
tool 3
tool-result 3 [string]
user 4 [string]`,
  gemini: `
user 0 [parts] {"extra":"x"}
text 0 {"outer":{"extra":"x"}}
image 0 {"outer":{"extra":"y"},"inner":{"displayName":"x"}}
image 0 [no-type]
image 0 {"outer":{"extra":"x"},"inner":{"mimeType":"image/png"}}
opaque 0
assistant 1 [parts]
reasoning 1 {"outer":{"thoughtSignature":"seal","extra":"x"}}
tool-call 1 {"outer":{"thoughtSignature":"seal","extra":"y"},"inner":{"extra":"x"}}
tool-call 1 [no-args]
tool-call 1
reasoning 1 [unmarked] {"outer":{"thoughtSignature":"seal"}}
tool 2 [parts]
tool-result 2 [output] {"outer":{"extra":"y"}}
tool-result 2 [error] {"inner":{"extra":"x"}}
tool-result 2 [json]
user 3 [parts]`,
  langchain: `
system 0 [string] {"extra":"x"}
user 1 [parts]
text 1 {"extra":"x"}
image 1 [block mime_type] {"type":"image","source_type":"base64"}
file 1 [block mimeType] {"type":"audio","extra":"x"}
file 1 [block] {"type":"file","mimeType":"application/pdf"}
assistant 2 [string] {"id":"run-1","extra":"x"}
tool-call 2 {"type":"tool_call"}
tool 3
tool-result 3 [string] {"status":"error","extra":"x"}
user 4 [string]`,
}

const UNUSUAL_ORIGINS = {
  'openai-chat': `
system 0 [parts] {"role":"developer"}
opaque 0
assistant 1 [string]
tool-call 1 [function-call]
tool 2
tool-result 2 [string function]
assistant 3 [null]
opaque 3 [audio-field]
assistant 4 [empty]
reasoning 4 [reasoning]
opaque 4 [call]
tool-call 4 [untyped value]
tool 5
tool-result 5 [parts no-id]
user 6 [parts]
text 6 [bare]
opaque 6
user 7 [whole]
opaque 7`,
  'openai-responses': `
system -1 [outside]
system 0 [parts untyped system]
text 0 [input_text]
opaque 0
user 1 [parts untyped]
opaque 1
opaque 1
opaque 1
assistant 2 {"others":[{"format":"openai-responses","at":3},{"format":"openai-responses","at":4}]}
reasoning 2
opaque 3 [item]
tool-call 4 [local_shell_call]
tool 5
tool-result 5 [string local_shell_call_output]
assistant 6
opaque 6 [item]`,
  anthropic: `
system -1 [string outside]
user 0 [parts]
opaque 0
opaque 0
opaque 0
text 0 [bare]
assistant 1 [parts]
tool-call 1 [no-input]
opaque 1
reasoning 1
opaque 1
tool 2 [parts order:1,2,0,3]
tool-result 2 [absent]
tool-result 2 [parts] {"is_error":false}
user 2 [parts order:1,2,0,3]`,
  'ai-sdk': `
system -1 [outside]
assistant 0 [parts]
reasoning 0 {"providerOptions":{"anthropic":{"signature":"s"}}}
reasoning 0 {"providerOptions":{"anthropic":{"redactedData":"d"}}}
reasoning 0 {"providerOptions":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"e"}}}
reasoning 0 {"providerOptions":{"openai":{"itemId":"rs_2"}}}
reasoning 0 {"providerOptions":{"google":{"thoughtSignature":"g"}}}
reasoning 0 {"providerOptions":{"other":{}}}
tool-call 0 [no-input]
image 0 [as-file]
tool 1 [parts]
tool-result 1 [result] {}
tool-result 1 [json] {}
tool-result 1 [error-json] {}
tool-result 1 [whole] {}
opaque 1
tool-result 1 [content] {}
image 1 [media]
file 1 [file-data] {"filename":"b.pdf"}
opaque 1
tool-result 1 [absent] {}
tool-result 1 [stray]
opaque 1
user 2 [string]`,
  'claude-code': `
system 0 [string] {"uuid":"u0","timestamp":"t0"}
user 1 [string] {"uuid":"u1","timestamp":"t1","isMeta":true}
user 2 [string] {"uuid":"u2","timestamp":"t2"}
user 3 [parts] {"uuid":"u3","timestamp":"t3"}
assistant 4 [parts] {"uuid":"u5","timestamp":"t5","message":{"id":"m","model":"m-1","usage":{"input_tokens":1,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":5}}} {"others":[{"format":"claude-code","at":5,"fields":{"uuid":"u6","timestamp":"t6","message":{"id":"m","model":"<synthetic>","usage":{"input_tokens":2,"output_tokens":6}}},"shape":"parts"}]}
reasoning 4
text 5`,
  codex: `
system -1 [outside]
user 0 [parts] {"line":{"timestamp":"t2"}}
text 0 [input_text]
text 0 [input_text]
user 1 [parts] {"line":{"timestamp":"t3"}}
text 1 [input_text]
assistant 2 {"line":{"timestamp":"t4"}} {"others":[{"format":"codex","at":3,"fields":{"line":{"timestamp":"t5"}}}]}
reasoning 2
tool-call 3 [custom_tool_call]
tool 4 {"line":{"timestamp":"t6"}}
tool-result 4 [string custom_tool_call_output]`,
  pi: String.raw`
user 0 [bashExecution] {"id":"e1","timestamp":"t1","message":{"role":"bashExecution","command":"ls","output":"","cancelled":true}}
user 1 [bashExecution] {"id":"e2","timestamp":"t2","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":0}}
assistant 2 [parts] {"id":"e3","timestamp":"t3","message":{"api":"anthropic-messages"}}
reasoning 2 {"thinkingSignature":"d","redacted":true}
reasoning 2 {"thinkingSignature":"s"}
text 2 [bare]
opaque 2
assistant 3 [parts] {"id":"e4","timestamp":"t4","message":{"api":"openai-responses","usage":{"input":1,"cacheRead":10,"cacheWrite":100,"output":5}}}
reasoning 3 {"thinkingSignature":"{\"type\":\"reasoning\",\"id\":\"rs_1\"}"}
tool 4 {"id":"e7","timestamp":"t7"}
tool-result 4 [parts]
user 5 [string] {"id":"e9"}`,
  hermes: String.raw`
user 0 [string] {"timestamp":1.5}
assistant 1 [null text-calls:python] {"timestamp":"2026-01-01T00:00:00","as_written":{"tool_calls":"[{\"id\": \"fc_1\", \"call_id\": \"call_1\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]"}}
reasoning 1 [reasoning]
tool-call 1 {"call_id":"call_1","other_id":"fc_1"}
tool 2
tool-result 2 [string] {"timestamp":1e+300}`,
  gemini: `
user 0 [parts]
text 0 [bare]
file 0 {"inner":{"mimeType":"application/pdf"}}
assistant 1 [parts]
text 1 {"outer":{"thought":false}}
reasoning 1 [unmarked] {"outer":{"thoughtSignature":"g"}}
tool-call 1 [no-id]
tool-call 1 [no-id no-args] {"inner":{"id":""}}
tool 2 [parts]
tool-result 2 [output no-id]
tool-result 2 [absent no-id]
tool-result 2 [json no-id]`,
  langchain: `
system 0 [parts]
opaque 0
user 1 [string] {"type":"generic"}
assistant 2 [empty]
opaque 2 [call]
opaque 2 [call]
tool-call 2 [no-id]
tool 3
tool-result 3 [parts] {"status":"success"}
text 3 [bare]
user 4 [parts]
opaque 4
file 4 [block] {"type":"video"}`,
}

const ALL = [...CODECS, geminiFormat, langchainFormat]

it.each(ALL)('a document of $name keeps this of its source', ({ name, parse }) => {
  expect(originsIn(parse(RICH[name] ?? null).messages, name)).toEqual(linesOf(RICH_ORIGINS[name]))
})

it.each(ALL)('unusual items of $name keep this of their source', ({ name, parse }) => {
  const { messages } = parse(unusualItems(name))
  expect(originsIn(messages, name)).toEqual(linesOf(UNUSUAL_ORIGINS[name]))
})

function linesOf(text: string): readonly string[] {
  return text.trim().split('\n')
}

interface Kept {
  readonly origin?: Origin
  readonly role?: string
  readonly type?: string
  readonly parts?: readonly Kept[]
  readonly output?: readonly Kept[]
}

function originsIn(kept: readonly object[], name: string): readonly string[] {
  return (kept as readonly Kept[]).flatMap(({ origin, role, type, parts = [], output = [] }) => {
    const inner = originsIn([...parts, ...output], name)
    if (origin === undefined) return inner
    const { format, at, shape, fields, ...more } = origin
    expect(format).toBe(name)
    const words = [role ?? type, at, shape && `[${shape}]`, fields && JSON.stringify(fields)]
    const rest = Object.keys(more).length === 0 ? '' : JSON.stringify(more)
    return [
      [...words, rest].filter((word) => word !== undefined && word !== '').join(' '),
      ...inner,
    ]
  })
}
