import { expect, it } from 'vitest'
import { RICH } from '../../../../../test/support/documents/rich.ts'
import type { JsonValue } from '../../base/json.ts'
import { CODECS } from './file-formats.ts'
import { geminiFormat } from './gemini/gemini.ts'
import { langchainFormat } from './langchain/langchain.ts'

/** Read off the documents by hand: what is around the messages, then one message per line. */
const READ = {
  'openai-chat': String.raw`
{"format":"openai-chat","notes":[]}
{"role":"system","parts":[{"type":"text","text":"old rules"}]}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"url","url":"https://old.example/a.png"}},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"oldA"}},{"type":"image","source":{"kind":"url","url":"https://old.example/b.png"}},{"type":"file","source":{"kind":"base64","mediaType":"application/pdf","data":"oldB"},"name":"old.pdf"},{"type":"file","source":{"kind":"id","id":"old-file"}},{"type":"opaque","provider":"openai","value":{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"old thought"},{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"},"inputText":"{\"path\": \"old\"}"},{"type":"tool-call","id":"old-2","name":"old_patch","input":"old patch"}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","output":[{"type":"text","text":"old result"}]}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-2","output":[{"type":"text","text":"old part"}]}]}
{"role":"assistant","parts":[{"type":"text","text":"old refusal"}]}
{"role":"assistant","parts":[{"type":"text","text":"no"}]}
{"role":"user","parts":[{"type":"text","text":"old question"}]}`,
  'openai-responses': String.raw`
{"format":"openai-responses","notes":[]}
{"role":"system","parts":[{"type":"text","text":"old rules"}]}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"url","url":"https://old.example/a.png"}},{"type":"image","source":{"kind":"id","id":"old-image"}},{"type":"file","source":{"kind":"url","url":"https://old.example/a.pdf"}},{"type":"file","source":{"kind":"base64","mediaType":"text/plain","data":"oldA"},"name":"old.txt"},{"type":"file","source":{"kind":"id","id":"old-file"}}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"thought","sealed":{"provider":"openai","value":{"type":"reasoning","id":"rs_1","encrypted_content":"seal","summary":[{"type":"summary_text","text":"thought"}]}}},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"},"inputText":"{\"path\": \"old\"}"},{"type":"tool-call","id":"old-2","name":"old_patch","input":"old patch"}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","output":[{"type":"text","text":"old result"}]}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-2","output":[{"type":"text","text":"old part"}]}]}
{"role":"assistant","parts":[{"type":"text","text":"old answer"},{"type":"text","text":"old refusal"}]}
{"role":"user","parts":[{"type":"text","text":"old question"}]}`,
  anthropic: `
{"format":"anthropic","wrapper":{"key":"messages","fields":{"model":"m","max_tokens":5}},"model":"m","notes":[]}
{"role":"system","parts":[{"type":"text","text":"old rules"}]}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"oldA"}},{"type":"image","source":{"kind":"url","url":"https://old.example/a.png"}},{"type":"image","source":{"kind":"id","id":"old-image"}},{"type":"file","source":{"kind":"base64","mediaType":"application/pdf","data":"oldB"},"name":"old title"},{"type":"opaque","provider":"anthropic","value":{"type":"search_result","title":"y"}}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"thought","sealed":{"provider":"anthropic","value":{"type":"thinking","thinking":"thought","signature":"seal"}}},{"type":"reasoning","text":"","sealed":{"provider":"anthropic","value":{"type":"redacted_thinking","data":"seal"}}},{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"}},{"type":"tool-call","id":"old-2","name":"old_read","input":{}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","output":[{"type":"text","text":"old result"}]},{"type":"tool-result","callId":"old-2","output":[{"type":"text","text":"old part"}],"isError":true}]}
{"role":"user","parts":[{"type":"text","text":"old words"}]}
{"role":"user","parts":[{"type":"text","text":"old question"}]}`,
  'ai-sdk': `
{"format":"ai-sdk","notes":[]}
{"role":"system","parts":[{"type":"text","text":"old rules"}]}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"url","url":"https://old.example/a.png"}},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"oldA"}},{"type":"image","source":{"kind":"base64","mediaType":"image/*","data":"oldB"}},{"type":"file","source":{"kind":"base64","mediaType":"application/pdf","data":"oldC"},"name":"old.pdf"},{"type":"file","source":{"kind":"base64","mediaType":"text/plain","data":"oldD"}},{"type":"image","source":{"kind":"base64","mediaType":"image/gif","data":"oldE"}}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"old thought"},{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"}},{"type":"tool-call","id":"old-2","name":"old_read","input":{"path":"old"}},{"type":"opaque","provider":"other","value":{"type":"tool-call","toolCallId":"p-1","toolName":"web","input":{},"providerExecuted":true}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","name":"old_read","output":[{"type":"text","text":"old result"}]},{"type":"tool-result","callId":"old-2","name":"old_read","output":[{"type":"text","text":"old error"}],"isError":true}]}
{"role":"user","parts":[{"type":"text","text":"old question"}]}`,
  'claude-code': `
{"format":"claude-code","model":"m","notes":[]}
{"role":"user","parts":[{"type":"text","text":"old question"}],"at":"2026-01-01T00:00:00Z"}
{"role":"assistant","parts":[{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"}}],"at":"2026-01-01T00:00:01Z","model":"m"}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","output":[{"type":"text","text":"old result"}]}],"at":"2026-01-01T00:00:02Z"}`,
  codex: `
{"format":"codex","header":[{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/"}}],"notes":[]}
{"role":"user","parts":[{"type":"text","text":"old text"}],"at":"2026-01-01T00:00:01Z"}
{"role":"assistant","parts":[{"type":"tool-call","id":"old-1","name":"old_read","input":"old"}],"at":"2026-01-01T00:00:02Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","output":[{"type":"text","text":"old result"}]}],"at":"2026-01-01T00:00:03Z"}
{"role":"assistant","parts":[{"type":"text","text":"old answer"}],"at":"2026-01-01T00:00:04Z"}`,
  pi: `
{"format":"pi","header":[{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}],"model":"m","notes":[]}
{"role":"system","parts":[{"type":"text","text":"old rules"},{"type":"text","text":"old style"}],"at":"2026-01-01T00:00:01Z"}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"oldA"}}],"at":"2026-01-01T00:00:01Z"}
{"role":"assistant","parts":[{"type":"reasoning","text":"old thought"},{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"}},{"type":"tool-call","id":"old-2","name":"old_read","input":{}}],"model":"m","at":"2026-01-01T00:00:02Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","name":"old_read","output":[{"type":"text","text":"old result"}],"isError":true}],"at":"2026-01-01T00:00:03Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-2","output":[{"type":"text","text":"old part"}]}],"at":"2026-01-01T00:00:04Z"}
{"role":"user","parts":[{"type":"text","text":"old note"}],"synthetic":true,"at":"2026-01-01T00:00:05Z"}
{"role":"user","parts":[{"type":"text","text":"old summary"}],"synthetic":true,"at":"2026-01-01T00:00:06Z"}
{"role":"user","parts":[{"type":"text","text":"old summary"}],"synthetic":true,"at":"2026-01-01T00:00:07Z"}
{"role":"user","parts":[{"type":"text","text":"old words"}],"synthetic":true,"at":"2026-01-01T00:00:08Z"}`,
  hermes: `
{"format":"hermes","notes":[]}
{"role":"system","parts":[{"type":"text","text":"old rules"}]}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"url","url":"https://old.example/a.png"}},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"oldA"}},{"type":"image","source":{"kind":"url","url":"https://old.example/b.png"}},{"type":"text","text":"old words"}]}
{"role":"assistant","parts":[{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"a":"old"}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","output":[{"type":"text","text":"old result"}]}]}
{"role":"user","parts":[{"type":"text","text":"old question"}]}`,
  gemini: String.raw`
{"format":"gemini","notes":[]}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"oldA"}},{"type":"file","source":{"kind":"base64","mediaType":"application/pdf","data":"oldB"}},{"type":"image","source":{"kind":"base64","mediaType":"image/*","data":"oldC"}},{"type":"image","source":{"kind":"url","url":"https://old.example/a"}},{"type":"opaque","provider":"google","value":{"executableCode":{"code":"x"}}}]}
{"role":"assistant","parts":[{"type":"reasoning","text":"old thought","sealed":{"provider":"google","value":{"thoughtSignature":"seal"}}},{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"}},{"type":"tool-call","id":"old-2","name":"old_read","input":{}},{"type":"tool-call","id":"old-3","name":"old_read","input":{}},{"type":"reasoning","text":"","sealed":{"provider":"google","value":{"thoughtSignature":"seal"}}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","name":"old_read","output":[{"type":"text","text":"old result"}]},{"type":"tool-result","callId":"old-2","name":"old_read","output":[{"type":"text","text":"old error"}],"isError":true},{"type":"tool-result","callId":"old-3","name":"old_read","output":[{"type":"text","text":"{\"rows\":[\"old\",1]}"}]}]}
{"role":"user","parts":[{"type":"text","text":"old question"}]}`,
  langchain: `
{"format":"langchain","notes":[]}
{"role":"system","parts":[{"type":"text","text":"old rules"}]}
{"role":"user","parts":[{"type":"text","text":"old text"},{"type":"image","source":{"kind":"url","url":"https://old.example/a.png"}},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"oldA"}},{"type":"file","source":{"kind":"base64","mediaType":"audio/wav","data":"oldB"}},{"type":"file","source":{"kind":"url","url":"https://old.example/a.pdf"}}]}
{"role":"assistant","parts":[{"type":"text","text":"old answer"},{"type":"tool-call","id":"old-1","name":"old_read","input":{"path":"old"}}]}
{"role":"tool","parts":[{"type":"tool-result","callId":"old-1","output":[{"type":"text","text":"old result"}],"name":"old_read","isError":true}]}
{"role":"user","parts":[{"type":"text","text":"old question"}]}`,
}

it.each([...CODECS, geminiFormat, langchainFormat])(
  'a document of $name is read as these messages, with every field of theirs',
  ({ name, parse }) => {
    const { messages, ...around } = parse(RICH[name] ?? null)
    expect([around, ...messages].map(withoutOrigins)).toEqual(linesOf(READ[name]))
  },
)

function linesOf(text: string): unknown[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

function withoutOrigins(value: object): JsonValue {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === 'origin' ? undefined : inner)),
  ) as JsonValue
}
