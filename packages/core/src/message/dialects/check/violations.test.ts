import { expect, it } from 'vitest'
import type { JsonValue } from '../../../base/json.ts'
import type { Dialect } from '../../dialect.ts'
import { checkWire } from './check.ts'

/** Requests, and every rule that each breaks: where, and in which words. */
const WIRES: readonly (readonly [dialect: Dialect, wire: string, violations: string])[] = [
  [
    'openai-chat',
    String.raw`
{"messages":[
7,
{"role":"judge","content":"a"},
{"role":"user","content":null},
{"role":"user","content":[]},
{"role":"user","content":[{"type":"hologram"},{"type":"text","text":7}]},
{"role":"user","content":" \n"},
{"role":"assistant","tool_calls":[]},
{"role":"assistant","tool_calls":[{"id":"a b","type":"function","function":{"name":"a.b","arguments":{}}},{"id":"c1","type":"custom","custom":{"name":"f","input":"x"}},{"id":"c2"}]},
{"role":"tool","tool_call_id":"c1","content":"a"},
{"role":"tool","tool_call_id":"c1","content":"a"},
{"role":"tool","tool_call_id":"c9","content":"a"},
{"role":"assistant","content":"\ud800","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"developer","content":[{"type":"image_url"}]}
]}`,
    `
shape | messages[0] | expected an object, found a number
shape | messages[1] | unknown role judge
shape | messages[2].content | expected text or parts, found nothing
empty-content | messages[2] | the user message says nothing
empty-content | messages[3].content | the list of parts is empty
empty-content | messages[3] | the user message says nothing
content-part | messages[4].content[0] | a user message cannot hold hologram
shape | messages[4].content[1].text | expected text, found a number
empty-content | messages[5] | the user message says nothing
shape | messages[6].tool_calls | the list of calls is empty
empty-content | messages[6] | the assistant message says nothing
call-id | messages[7].tool_calls[0].id | not an id the provider takes: "a b"
tool-name | messages[7].tool_calls[0] | not a name the provider takes: "a.b"
call-input | messages[7].tool_calls[0] | expected the arguments as text, found an object
tool-name | messages[7].tool_calls[2] | not a name the provider takes: undefined
call-input | messages[7].tool_calls[2] | expected the arguments as text, found nothing
duplicate-result | messages[9] | c1 is answered twice
orphan-result | messages[10] | the reply before has no call c9
unanswered-call | messages[7] | no tool message answers a b
unanswered-call | messages[7] | no tool message answers c2
duplicate-call-id | messages[11] | c1 is used twice
unanswered-call | messages[11] | no tool message answers c1
content-part | messages[12].content[0] | a developer message cannot hold image_url
request-last | messages[11] | the last message is from assistant
lone-surrogate | messages[11].content | half a surrogate pair`,
  ],
  [
    'openai-chat',
    `
{"messages":[{"role":"system","content":"a"}]}`,
    `
no-messages | messages | nothing was said`,
  ],
  [
    'openai-chat',
    `
{}`,
    `
shape | messages | expected a list, found nothing
no-messages | messages | nothing was said`,
  ],
  [
    'openai-responses',
    `
{"input":[
7,
{"role":"judge","content":"a"},
{"type":"message","role":"user","content":[]},
{"type":"message","role":"user","content":" "},
{"type":"message","role":"user","content":[{"type":"output_text","text":"a"},{"type":"input_text","text":7}]},
{"role":"user","content":7},
{"type":"reasoning","id":"rs_1","summary":[]},
{"type":"reasoning","summary":7},
{"type":"message","role":"user","content":"a"},
{"type":"function_call","call_id":"a b","name":"a.b","arguments":{}},
{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
{"type":"custom_tool_call","call_id":"c2","name":"g","input":7},
{"type":"function_call_output","call_id":"c1","output":"a"},
{"type":"function_call_output","call_id":"c1","output":"a"},
{"type":"function_call_output","call_id":"c9","output":7},
{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"a"}]},
{"type":"message","id":"m1","role":"assistant","content":[{"type":"input_text","text":"a"}]}
]}`,
    `
shape | input[0] | expected an object, found a number
shape | input[1] | unknown role judge
empty-content | input[2] | the user message says nothing
empty-content | input[3] | the user message says nothing
content-part | input[4].content[0] | a user message cannot hold output_text
shape | input[4].content[1].text | expected text, found a number
shape | input[5].content | expected a list, found a number
empty-content | input[5] | the user message says nothing
reasoning-alone | input[7] | nothing of the reply follows it
call-id | input[9].call_id | not an id the provider takes: "a b"
tool-name | input[9].name | not a name the provider takes: "a.b"
call-input | input[9].arguments | expected text, found an object
duplicate-call-id | input[11] | c1 is used twice
call-input | input[12].input | expected text, found a number
duplicate-result | input[14] | c1 is answered twice
orphan-result | input[15] | no call c9 before it
duplicate-item-id | input[17] | m1 is used twice
content-part | input[17].content[0] | a assistant message cannot hold input_text
unanswered-call | input[9] | no output for a b
unanswered-call | input[12] | no output for c2
request-last | input[17] | the last item is message`,
  ],
  [
    'openai-responses',
    `
{"input":[]}`,
    `
no-messages | input | nothing was said`,
  ],
  [
    'openai-responses',
    `
{"input":"a"}`,
    ``,
  ],
  [
    'openai-responses',
    `
{"input":" "}`,
    `
empty-content | input[0] | the user message says nothing`,
  ],
  [
    'openai-responses',
    `
{}`,
    `
shape | input | expected a list, found nothing
no-messages | input | nothing was said`,
  ],
  [
    'anthropic',
    `
{"system":[{"type":"text","text":" "},{"type":"text"},7],"messages":[
{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"c0","content":"a"}]},
{"role":"assistant","content":""},
{"role":"judge","content":[{},{"type":"text"},{"type":"text","text":" "}]},
{"role":"system","content":"a"},
{"role":"system","content":[]},
{"role":"system","content":[],"output_config":{}},
{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"redacted_thinking"},{"type":"tool_use","id":"a b","name":"a.b","input":[]},{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c2","name":"f","input":{}},{"type":"thinking","thinking":"a","signature":"s"}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":""},{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[]},{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text","text":"a"},{"type":"image"}]},{"type":"tool_result","tool_use_id":"c9","is_error":true,"content":[{"type":"text","text":""}]},{"type":"thinking","thinking":"a"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"c3","name":"f","input":{}},{"type":"text","text":"a "}]}
]}`,
    `
shape | system[2] | expected an object, found a number
blank-text | system[0] | nothing but white space
shape | system[1] | expected text, found nothing
first-role | messages[0] | not from the user
content-part | messages[0].content[0] | a assistant message cannot hold tool_result
orphan-result | messages[0].content[0] | messages[0] does not follow a call c0
role-alternation | messages[1] | a second assistant message
empty-content | messages[1].content | the message says nothing
blank-text | messages[1].content | nothing but white space
shape | messages[2] | unknown role judge
shape | messages[2].content[0] | expected the type of a block, found nothing
shape | messages[2].content[1] | expected text, found nothing
blank-text | messages[2].content[2] | nothing but white space
system-position | messages[3] | a system message among the others
system-position | messages[4] | a system message among the others
role-alternation | messages[4] | a second system message
empty-content | messages[4].content | the message says nothing
system-position | messages[5] | a system message among the others
role-alternation | messages[5] | a second system message
call-id | messages[6].content[2].id | not an id the provider takes: "a b"
tool-name | messages[6].content[2].name | not a name the provider takes: "a.b"
call-input | messages[6].content[2].input | expected an object, found a list
duplicate-call-id | messages[6].content[4] | c1 is used twice
thinking-unsigned | messages[6].content[0] | no signature
thinking-unsigned | messages[6].content[1] | no data
thinking-last | messages[6].content[6] | the reply ends with thinking
content-part | messages[7].content[5] | a user message cannot hold thinking
error-result | messages[7].content[0] | a failed call has text only, and some
duplicate-result | messages[7].content[1] | c1 is answered twice
error-result | messages[7].content[1] | a failed call has text only, and some
results-first | messages[7].content[3] | the result for c2 stands behind other blocks
error-result | messages[7].content[3] | a failed call has text only, and some
results-first | messages[7].content[4] | the result for c9 stands behind other blocks
orphan-result | messages[7].content[4] | messages[7] does not follow a call c9
error-result | messages[7].content[4] | a failed call has text only, and some
unanswered-call | messages[6] | the next message has no result for a b
unanswered-call | messages[8] | no message with a result for c3
request-last | messages[8] | the last message is from the assistant
trailing-whitespace | messages[8] | ends in white space`,
  ],
  [
    'anthropic',
    `
{"system":7,"messages":[]}`,
    `
shape | system | expected a list, found a number
no-messages | messages | nothing was said`,
  ],
  [
    'anthropic',
    `
{"system":" ","messages":[{"role":"user","content":"a"}]}`,
    `
blank-text | system | nothing but white space`,
  ],
  [
    'anthropic',
    `
{"system":"","messages":[
{"role":"user","content":7},
{"role":"assistant","content":"b "}
]}`,
    `
shape | messages[0].content | expected a list, found a number
empty-content | messages[0].content | the message says nothing
request-last | messages[1] | the last message is from the assistant
trailing-whitespace | messages[1] | ends in white space`,
  ],
  [
    'gemini',
    `
{"systemInstruction":7,"contents":[
7,
{"role":"model","parts":[]},
{"role":"judge","parts":[{"text":"a"}]},
{"role":"user","parts":[{"text":" "},{"text":7},{}]},
{"role":"user","parts":"a"},
{"role":"model","parts":[{"functionCall":{"name":"1 f","args":[]}},{"functionCall":7},{"functionCall":{"name":"f","args":{}}},{"functionResponse":{"name":"f","response":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"g","response":7}},{"text":"a"},{"functionCall":{"name":"f","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]},
{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}
]}`,
    `
shape | systemInstruction.parts | expected a list, found nothing
empty-content | systemInstruction | the turn has no parts
shape | contents[0] | expected an object, found a number
first-role | contents[1] | not from the user
empty-content | contents[1] | the turn has no parts
shape | contents[2] | unknown role judge
blank-text | contents[3].parts[0] | nothing but white space
shape | contents[3].parts[1] | expected text, found a number
shape | contents[3].parts[2] | the part is empty
role-alternation | contents[3] | a second user turn
shape | contents[4].parts | expected a list, found a string
empty-content | contents[4] | the turn has no parts
role-alternation | contents[4] | a second user turn
tool-name | contents[5].parts[0].functionCall.name | not a name the provider takes: "1 f"
call-input | contents[5].parts[0].functionCall.args | expected an object, found a list
shape | contents[5].parts[1].functionCall | expected an object, found a number
content-part | contents[5].parts[3] | only the user’s side answers calls
orphan-result | contents[5] | no call of f at its position
call-input | contents[6].parts[1].functionResponse.response | expected an object, found a number
content-part | contents[6].parts[3] | only the model calls
results-alone | contents[6] | function responses stand beside other parts
orphan-result | contents[6] | no call of f at its position
orphan-result | contents[6] | no call of g at its position
role-alternation | contents[7] | a second response turn
orphan-result | contents[7] | no call of f at its position
unanswered-call | contents[8] | no response to f
request-last | contents[8] | the last turn is the model’s`,
  ],
  [
    'gemini',
    `
{"contents":[]}`,
    `
no-messages | contents | nothing was said`,
  ],
  [
    'gemini',
    `
{"systemInstruction":{"parts":[{"text":" "},{"inlineData":{}}]},"contents":[{"role":"user","parts":[{"text":"a"}]}]}`,
    `
blank-text | systemInstruction.parts[0] | nothing but white space`,
  ],
  [
    'gemini',
    `
{}`,
    `
shape | contents | expected a list, found nothing
no-messages | contents | nothing was said`,
  ],
  [
    'strict',
    `
{"messages":[
{"role":"assistant","content":"a"},
{"role":"assistant","content":[]},
{"role":"system","content":"a"},
{"role":"tool","content":"a"},
{"role":"user","content":" ","tool_calls":[]},
{"role":"assistant","content":"b"}
]}`,
    `
first-role | messages[0] | not from the user
shape | messages[1].content | expected text, found a list
role-alternation | messages[1] | a second assistant message
system-position | messages[2] | a system message behind the first message
shape | messages[3] | unknown role tool
shape | messages[4] | templates know no tool calls
blank-text | messages[4] | nothing but white space
request-last | messages | the last message is from assistant`,
  ],
  [
    'strict',
    `
{"messages":[{"role":"system","content":"a"}]}`,
    `
no-messages | messages | nothing was said`,
  ],
  [
    'strict',
    `
{"messages":7}`,
    `
shape | messages | expected a list, found a number
no-messages | messages | nothing was said`,
  ],
  [
    'strict',
    `
7`,
    `
shape |  | expected an object, found a number`,
  ],
  [
    'strict',
    `
null`,
    `
shape |  | expected an object, found nothing`,
  ],
  [
    'anthropic',
    `
[]`,
    `
shape |  | expected an object, found a list`,
  ],
]

it.each(WIRES)('%s: finds exactly these faults in %s', (dialect, wire, violations) => {
  const found = checkWire(dialect, JSON.parse(wire) as JsonValue)
  expect(found.map(({ rule, at, detail }) => `${rule} | ${at} | ${detail}`)).toEqual(
    violations.split('\n').filter(Boolean),
  )
})
