import type { JsonObject, JsonValue } from '../../../packages/core/src/base/json.ts'

/** Items that are rare, old, broken or of another program, one per line; a request's own fields come first. */
const ITEMS = {
  'openai-chat': String.raw`
{"model":"m-1"}
{"role":"developer","content":[{"type":"text","text":"Be brief."},{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}]}
{"role":"assistant","content":"Calling.","function_call":{"name":"read","arguments":"{\"path\":\"a\"}"}}
{"role":"function","name":"read","content":"one"}
{"role":"assistant","content":null,"audio":{"id":"audio_1"}}
{"role":"assistant","content":"","reasoning":"A thought.","tool_calls":["broken",{"id":"c1","function":{"name":"read","arguments":{"path":"a"}}}]}
{"role":"tool","content":[{"type":"text","text":"two"}],"name":"read"}
{"role":"user","content":["bare",7]}
{"role":"user","content":{"kind":"whole"}}`,
  'openai-responses': String.raw`
{"model":"m-1","instructions":"Be brief."}
{"role":"system","content":[{"type":"input_text","text":"a"},{"type":"input_image","file_id":"f"}]}
{"role":"user","content":[{"type":"input_image"},{"type":"input_file","file_id":"f","file_url":"u"},{"type":"input_audio","data":"AAAA"}]}
{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"a"},{"type":"x"},{"type":"reasoning_text","text":"b"}]}
{"type":"web_search_call","id":"ws_1"}
{"type":"local_shell_call","call_id":"c1","action":{"type":"exec","command":["ls"]}}
{"type":"local_shell_call_output","call_id":"c1","output":"{\"output\":\"a\"}"}
{"type":"function_call_output","output":7}`,
  anthropic: `
{"model":"m-1","system":"Be brief."}
{"role":"user","content":[{"type":"text","text":7},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}},{"type":"image","source":{"type":"url"}},"bare"]}
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":null},{"type":"tool_use","id":"c2","name":"read"},{"type":"web_search_tool_result","tool_use_id":"srv"},{"type":"thinking","thinking":"unsigned"},{"type":"hologram"}]}
{"role":"user","content":[{"type":"text","text":"Before."},{"type":"tool_result","tool_use_id":"c1"},{"type":"tool_result","tool_use_id":"c2","is_error":false,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},{"type":"text","text":"After."}]}`,
  'ai-sdk': `
{"model":"m-1","system":"Be brief."}
{"role":"assistant","content":[{"type":"reasoning","text":"a","providerOptions":{"anthropic":{"signature":"s"}}},{"type":"reasoning","text":"","providerOptions":{"anthropic":{"redactedData":"d"}}},{"type":"reasoning","text":"b","providerOptions":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"e"}}},{"type":"reasoning","text":"","providerOptions":{"openai":{"itemId":"rs_2"}}},{"type":"reasoning","text":"c","providerOptions":{"google":{"thoughtSignature":"g"}}},{"type":"reasoning","text":"d","providerOptions":{"other":{}}},{"type":"tool-call","toolCallId":"c1","toolName":"read"},{"type":"file","data":"AAAA","mediaType":"image/png"}]}
{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"read","result":{"a":1}},{"type":"tool-result","toolCallId":"c1","toolName":"read","output":{"type":"json","value":[1]}},{"type":"tool-result","toolCallId":"c1","toolName":"read","output":{"type":"error-json","value":"no"}},{"type":"tool-result","toolCallId":"c1","toolName":"read","output":{"type":"of-next-year"}},{"type":"tool-result","toolCallId":"c1","toolName":"read","output":{"type":"content","value":[{"type":"text","text":"a"},{"type":"media","data":"AAAA","mediaType":"image/png"},{"type":"file-data","data":"BBBB","mediaType":"application/pdf","filename":"b.pdf"},{"type":"file-url","url":"https://a.example"}]}},{"type":"tool-result","toolCallId":"c1","toolName":"read"},"stray"]}
{"role":"user","content":"Thanks."}`,
  'claude-code': `
{"type":"summary","summary":"A title","leafUuid":"u6"}
{"type":"system","subtype":"system_prompt","uuid":"u0","parentUuid":null,"timestamp":"t0","content":"Be brief."}
{"type":"user","uuid":"u1","parentUuid":"u0","timestamp":"t1","isMeta":true,"message":{"role":"user","content":"Caveat."}}
{"type":"user","uuid":"u2","parentUuid":"u1","timestamp":"t2","message":{"role":"user","content":"<command-name>/model</command-name>"}}
{"type":"user","uuid":"u3","parentUuid":"u2","timestamp":"t3","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"},{"type":"text","text":"Go on."}]}}
{"type":"assistant","uuid":"u4","parentUuid":"u3","timestamp":"t4","isApiErrorMessage":true,"message":{"id":"e","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}
{"type":"assistant","uuid":"u5","parentUuid":"u4","timestamp":"t5","message":{"id":"m","role":"assistant","model":"m-1","content":[{"type":"thinking","thinking":"hm","signature":"s"}],"usage":{"input_tokens":1,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":5}}}
{"type":"assistant","uuid":"u6","parentUuid":"u5","timestamp":"t6","message":{"id":"m","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":2,"output_tokens":6}}}
{"type":"user","uuid":"u7","parentUuid":"u6","isSidechain":true,"message":{"role":"user","content":"Aside."}}`,
  codex: `
{"timestamp":"t0","type":"session_meta","payload":{"id":"s","base_instructions":{"text":"Be brief."},"instructions":"Not this."}}
{"timestamp":"t1","type":"turn_context","payload":{"model":"m-1"}}
{"timestamp":"t2","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /a"},{"type":"input_text","text":"b"}]}}
{"timestamp":"t3","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ask."}]}}
{"timestamp":"t4","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"}}
{"timestamp":"t5","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin"}}
{"timestamp":"t6","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c1","output":"Done."}}
{"timestamp":"t7","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":"none"}}
{"timestamp":"t8","type":"response_item","payload":7}`,
  pi: String.raw`
{"type":"session","version":3,"id":"s","modelId":"m-0","cwd":"/"}
{"type":"message","id":"e1","parentId":null,"timestamp":"t1","message":{"role":"bashExecution","command":"ls","output":"","cancelled":true}}
{"type":"message","id":"e2","parentId":"e1","timestamp":"t2","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":0}}
{"type":"message","id":"e3","parentId":"e2","timestamp":"t3","message":{"role":"assistant","api":"anthropic-messages","content":[{"type":"thinking","thinking":"","thinkingSignature":"d","redacted":true},{"type":"thinking","thinking":"a","thinkingSignature":"s"},"bare",{"type":"hologram"}]}}
{"type":"message","id":"e4","parentId":"e3","timestamp":"t4","message":{"role":"assistant","api":"openai-responses","content":[{"type":"thinking","thinking":"b","thinkingSignature":"{\"type\":\"reasoning\",\"id\":\"rs_1\"}"}],"usage":{"input":1,"cacheRead":10,"cacheWrite":100,"output":5}}}
{"type":"message","id":"e5","parentId":"e4","timestamp":"t5","message":{"role":"assistant","content":[]}}
{"type":"message","id":"e6","parentId":"e5","timestamp":"t6","message":{"role":"toolResult","content":"lost"}}
{"type":"message","id":"e7","parentId":"e6","timestamp":"t7","message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}}
{"type":"label","id":"e8","parentId":"e7","timestamp":"t8"}
{"type":"message","id":"e9","parentId":"e8","message":{"role":"user","content":"Next."}}`,
  hermes: String.raw`
{"role":"session_meta","model":"m-1"}
{"role":"user","content":"[CONTEXT SUMMARY] So far.","timestamp":1.5}
{"role":"user","content":"Gone.","active":false}
{"role":"assistant","content":null,"reasoning":"A thought.","tool_calls":"[{\"id\": \"fc_1\", \"call_id\": \"call_1\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]","timestamp":"2026-01-01T00:00:00"}
{"role":"tool","tool_call_id":"call_1","content":"x","timestamp":1e+300}`,
  gemini: `
{"role":"user","parts":[{"text":"Ask."},"bare",{"fileData":{"fileUri":"https://a.example/a.pdf","mimeType":"application/pdf"}}]}
{"role":"model","parts":[{"text":"plain","thought":false},{"text":"","thoughtSignature":"g"},{"functionCall":{"name":"f","args":{"a":1}}},{"functionCall":{"id":"","name":"f"}}]}
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}},{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"g","response":{"error":"no","code":5}}}]}`,
  langchain: `
{"type":"system","content":[{"type":"text","text":"Be brief."},{"type":"image_url","image_url":"https://a.example"}]}
{"type":"generic","content":"Said."}
{"type":"ai","content":"","tool_calls":["broken",{"name":"f","id":"c1"},{"args":{}},{"name":"g","args":1}]}
{"type":"tool","content":["bare"],"status":"success"}
{"type":"human","content":[{"type":"image","url":"https://a.example","data":"AAAA"},{"type":"video","url":"https://a.example"}]}`,
}

/** The items of a format as a document. */
export function unusualItems(name: keyof typeof ITEMS): JsonValue {
  const lines = linesOf(ITEMS[name])
  const [fields = {}, ...items] = lines
  const key = name === 'openai-responses' ? 'input' : 'messages'
  return 'model' in fields && !('role' in fields) ? { ...fields, [key]: items } : lines
}

function linesOf(text: string): JsonObject[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
}
