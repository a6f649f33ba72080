import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readConversation } from '../read.ts'

/**
 * Read off the sessions that the programs wrote: what marks a compaction there, the messages before
 * the first one, and those at the end, one per line.
 */
const READ = {
  'claude-code': [
    '"compact_boundary"',
    String.raw`
{"role":"user","parts":[{"type":"text","text":"Please read notes.md. On which day is the open day?"}],"at":"2026-11-16T13:51:53.060Z"}
{"role":"assistant","parts":[{"type":"reasoning","text":"The date must be in the notes.","sealed":{"provider":"anthropic","value":{"type":"thinking","thinking":"The date must be in the notes.","signature":"standin.c5c2af2f85d749f9.VGhlIGRhdGUgbXVzdCBiZSBpbiB0aGUgbm90ZXMu"}}},{"type":"text","text":"I will look into the notes."},{"type":"tool-call","id":"toolu_62e65ce6a7d664d2f4b1da55","name":"Read","input":{"file_path":"notes.md"}}],"at":"2026-11-16T13:51:53.768Z","model":"stand-in","usage":{"inputTokens":10200,"outputTokens":22}}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_62e65ce6a7d664d2f4b1da55","output":[{"type":"text","text":"1\t# Open day\n2\t\n3\tThe open day of the lighthouse is on 12 June.\n4\tThe keeper is Ada.\n5\t"}]}],"at":"2026-11-16T13:51:54.157Z"}
{"role":"assistant","parts":[{"type":"text","text":"The open day is on 12 June, and Ada is the keeper."}],"at":"2026-11-16T13:51:54.555Z","model":"stand-in","usage":{"inputTokens":10282,"outputTokens":13}}
{"role":"user","parts":[{"type":"text","text":"Compare boats.txt with guests.txt, please. “Größe” matters: höchstens drei Boote ⛵."}],"at":"2026-11-16T13:51:55.676Z"}
{"role":"assistant","parts":[{"type":"tool-call","id":"toolu_2ede38457eebc331dadc1631","name":"Read","input":{"file_path":"boats.txt"}},{"type":"tool-call","id":"toolu_579dfe85674ac4a474e952ef","name":"Read","input":{"file_path":"guests.txt"}}],"at":"2026-11-16T13:51:56.040Z","model":"stand-in","usage":{"inputTokens":10320,"outputTokens":16}}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_579dfe85674ac4a474e952ef","output":[{"type":"text","text":"File does not exist. Note: your current working directory is /home/keeper/lighthouse."}],"isError":true}],"at":"2026-11-16T13:51:56.429Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_2ede38457eebc331dadc1631","output":[{"type":"text","text":"1\tHeron\n2\tGannet\n3\tPetrel\n4\t"}]}],"at":"2026-11-16T13:51:56.436Z"}
{"role":"assistant","parts":[{"type":"text","text":"There are three boats: Heron, Gannet and Petrel. guests.txt does not exist."}],"at":"2026-11-16T13:51:56.476Z","model":"stand-in","usage":{"inputTokens":10410,"outputTokens":19}}
{"role":"user","parts":[{"type":"text","text":"Then write plan.md with the date and count its words."}],"at":"2026-11-16T13:51:58.751Z"}
{"role":"assistant","parts":[{"type":"text","text":"First the plan."},{"type":"tool-call","id":"toolu_7f1a8cdf2c2aa19582153eb4","name":"Write","input":{"file_path":"plan.md","content":"# Plan\n\n12 June: three boats.\n"}}],"at":"2026-11-16T13:51:58.861Z","model":"stand-in","usage":{"inputTokens":10447,"outputTokens":23}}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_7f1a8cdf2c2aa19582153eb4","output":[{"type":"text","text":"File created successfully at: plan.md (file state is current in your context — no need to Read it back)"}]}],"at":"2026-11-16T13:51:58.906Z"}
{"role":"assistant","parts":[{"type":"reasoning","text":"Now the count.","sealed":{"provider":"anthropic","value":{"type":"thinking","thinking":"Now the count.","signature":"standin.73f41eaef4feee81.Tm93IHRoZSBjb3VudC4"}}},{"type":"tool-call","id":"toolu_2ff1ea7d97cc0e1601cf7a64","name":"Bash","input":{"command":"wc -w plan.md; exit 3","description":"Count the words"}}],"at":"2026-11-16T13:51:58.969Z","model":"stand-in","usage":{"inputTokens":10512,"outputTokens":22}}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_2ff1ea7d97cc0e1601cf7a64","output":[{"type":"text","text":"Exit code 3\n6 plan.md"}],"isError":true}],"at":"2026-11-16T13:51:59.030Z"}
{"role":"assistant","parts":[{"type":"text","text":"plan.md has six words; the command ended with code 3."}],"at":"2026-11-16T13:51:59.057Z","model":"stand-in","usage":{"inputTokens":10568,"outputTokens":14}}
{"role":"user","parts":[{"type":"text","text":"Look at sign.png: which colour has the sign?"}],"at":"2026-11-16T13:52:00.695Z"}
{"role":"assistant","parts":[{"type":"tool-call","id":"toolu_0da63a83b32513d4ed466d68","name":"Read","input":{"file_path":"sign.png"}}],"at":"2026-11-16T13:52:01.111Z","model":"stand-in","usage":{"inputTokens":10598,"outputTokens":7}}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_0da63a83b32513d4ed466d68","output":[{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4IKBAEmIY1TCqYfhqAAA4oPABhec5ggAAAABJRU5ErkJggg=="}}]}],"at":"2026-11-16T13:52:01.604Z"}
{"role":"assistant","parts":[{"type":"text","text":"The sign is red."}],"at":"2026-11-16T13:52:01.939Z","model":"stand-in","usage":{"inputTokens":11625,"outputTokens":4}}`,
    String.raw`
{"role":"user","parts":[{"type":"text","text":"This session is being continued from a previous conversation\n(the client's own words)\nThe open day of the lighthouse is on 12 June; Ada is the keeper. plan.md names three boats: Heron, Gannet and Petrel. The sign is red. Still to do: invite the guests."}],"at":"2026-11-16T13:52:03.874Z","synthetic":true}
{"role":"assistant","parts":[{"type":"text","text":"The sign is red."}],"at":"2026-11-16T13:52:01.939Z","model":"stand-in","usage":{"inputTokens":11625,"outputTokens":4}}
{"role":"user","parts":[{"type":"text","text":"<local-command-caveat>\n(the client's own words)</local-command-caveat>"}],"at":"2026-11-16T13:52:03.756Z","synthetic":true}
{"role":"user","parts":[{"type":"text","text":"<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args></command-args>"}],"at":"2026-11-16T13:52:03.756Z","synthetic":true}
{"role":"user","parts":[{"type":"text","text":"<local-command-stdout>\n(the client's own words)</local-command-stdout>"}],"at":"2026-11-16T13:52:04.009Z","synthetic":true}
{"role":"user","parts":[{"type":"text","text":"When is the open day, and what is still to do?"}],"at":"2026-11-16T13:52:05.784Z"}
{"role":"assistant","parts":[{"type":"text","text":"It is on 12 June. The guests are still to be invited."}],"at":"2026-11-16T13:52:06.403Z","model":"stand-in","usage":{"inputTokens":10862,"outputTokens":14}}`,
  ],
  codex: [
    '"compacted"',
    String.raw`
{"role":"system","parts":[{"type":"text","text":"(the client's own words)"}]}
{"role":"system","parts":[{"type":"text","text":"<skills_instructions>\n(the client's own words)</skills_instructions>"},{"type":"text","text":"<permissions instructions>\n(the client's own words)"}],"at":"2026-11-16T13:52:08.340Z"}
{"role":"user","parts":[{"type":"text","text":"<environment_context>\n(the client's own words)</environment_context>"}],"at":"2026-11-16T13:52:08.341Z","synthetic":true}
{"role":"user","parts":[{"type":"text","text":"Please read notes.md. On which day is the open day?"}],"at":"2026-11-16T13:52:08.350Z"}
{"role":"assistant","parts":[{"type":"reasoning","text":"The date must be in the notes.","sealed":{"provider":"openai","value":{"type":"reasoning","id":"rs_bbd2dfa801c5ae23f29a439e","summary":[{"type":"summary_text","text":"The date must be in the notes."}],"content":null,"encrypted_content":"standin.c5c2af2f85d749f9.VGhlIGRhdGUgbXVzdCBiZSBpbiB0aGUgbm90ZXMu","internal_chat_message_metadata_passthrough":{"turn_id":"01a1e4a1-2459-7331-8384-61f15ef9a3bd"}}}},{"type":"text","text":"I will look into the notes."},{"type":"tool-call","id":"call_fdaf438bd0da34741e44a587","name":"exec_command","input":{"cmd":"cat notes.md"}}],"at":"2026-11-16T13:52:08.374Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_fdaf438bd0da34741e44a587","output":[{"type":"text","text":"Chunk ID: 694635\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 20\nOutput:\n# Open day\n\nThe open day of the lighthouse is on 12 June.\nThe keeper is Ada.\n"}]}],"at":"2026-11-16T13:52:08.446Z"}
{"role":"assistant","parts":[{"type":"text","text":"The open day is on 12 June, and Ada is the keeper."}],"at":"2026-11-16T13:52:08.467Z"}
{"role":"user","parts":[{"type":"text","text":"Compare boats.txt with guests.txt, please. “Größe” matters: höchstens drei Boote ⛵."}],"at":"2026-11-16T13:52:09.032Z"}
{"role":"assistant","parts":[{"type":"tool-call","id":"call_9be2a3039583b6a0b392167d","name":"exec_command","input":{"cmd":"cat boats.txt"}},{"type":"tool-call","id":"call_9b5145d80fa4d1e755cf2c97","name":"exec_command","input":{"cmd":"cat guests.txt"}}],"at":"2026-11-16T13:52:09.091Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_9be2a3039583b6a0b392167d","output":[{"type":"text","text":"Chunk ID: 5175c4\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 5\nOutput:\nHeron\nGannet\nPetrel\n"}]}],"at":"2026-11-16T13:52:09.423Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_9b5145d80fa4d1e755cf2c97","output":[{"type":"text","text":"Chunk ID: 5b6f2a\nWall time: 0.0000 seconds\nProcess exited with code 1\nOriginal token count: 11\nOutput:\ncat: guests.txt: No such file or directory\n"}]}],"at":"2026-11-16T13:52:09.424Z"}
{"role":"assistant","parts":[{"type":"text","text":"There are three boats: Heron, Gannet and Petrel. guests.txt does not exist."}],"at":"2026-11-16T13:52:09.484Z"}
{"role":"user","parts":[{"type":"text","text":"Then write plan.md with the date and count its words."}],"at":"2026-11-16T13:52:10.171Z"}
{"role":"assistant","parts":[{"type":"text","text":"First the plan."},{"type":"tool-call","id":"call_c7983365dad1cee924330650","name":"exec_command","input":{"cmd":"printf '%s' '# Plan\n\n12 June: three boats.\n' > plan.md"}}],"at":"2026-11-16T13:52:10.203Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_c7983365dad1cee924330650","output":[{"type":"text","text":"Chunk ID: e65bd5\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 0\nOutput:\n"}]}],"at":"2026-11-16T13:52:10.292Z"}
{"role":"assistant","parts":[{"type":"reasoning","text":"Now the count.","sealed":{"provider":"openai","value":{"type":"reasoning","id":"rs_3e37846d5eea52d3ce737cfe","summary":[{"type":"summary_text","text":"Now the count."}],"content":null,"encrypted_content":"standin.73f41eaef4feee81.Tm93IHRoZSBjb3VudC4","internal_chat_message_metadata_passthrough":{"turn_id":"01a1e4a1-2b7d-7b20-9d1b-6143364a39e4"}}}},{"type":"tool-call","id":"call_1e5fe33e3f8729178adaa67f","name":"exec_command","input":{"cmd":"wc -w plan.md; exit 3"}}],"at":"2026-11-16T13:52:10.326Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_1e5fe33e3f8729178adaa67f","output":[{"type":"text","text":"Chunk ID: b03592\nWall time: 0.0000 seconds\nProcess exited with code 3\nOriginal token count: 3\nOutput:\n6 plan.md\n"}]}],"at":"2026-11-16T13:52:10.401Z"}
{"role":"assistant","parts":[{"type":"text","text":"plan.md has six words; the command ended with code 3."}],"at":"2026-11-16T13:52:10.433Z"}
{"role":"user","parts":[{"type":"text","text":"Look at sign.png: which colour has the sign?"}],"at":"2026-11-16T13:52:10.815Z"}
{"role":"assistant","parts":[{"type":"tool-call","id":"call_c8517a43a2a603a91c709c86","name":"view_image","input":{"path":"sign.png"}}],"at":"2026-11-16T13:52:10.843Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_c8517a43a2a603a91c709c86","output":[{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4IKBAEmIY1TCqYfhqAAA4oPABhec5ggAAAABJRU5ErkJggg=="}}]}],"at":"2026-11-16T13:52:10.849Z"}
{"role":"assistant","parts":[{"type":"text","text":"The sign is red."},{"type":"text","text":"The open day of the lighthouse is on 12 June; Ada is the keeper. plan.md names three boats: Heron, Gannet and Petrel. The sign is red. Still to do: invite the guests."}],"at":"2026-11-16T13:52:10.965Z"}`,
    String.raw`
{"role":"system","parts":[{"type":"text","text":"(the client's own words)"}]}
{"role":"user","parts":[{"type":"text","text":"Please read notes.md. On which day is the open day?"}]}
{"role":"user","parts":[{"type":"text","text":"Compare boats.txt with guests.txt, please. “Größe” matters: höchstens drei Boote ⛵."}]}
{"role":"user","parts":[{"type":"text","text":"Then write plan.md with the date and count its words."}]}
{"role":"system","parts":[{"type":"text","text":"<skills_instructions>\n(the client's own words)</skills_instructions>"},{"type":"text","text":"<permissions instructions>\n(the client's own words)"}]}
{"role":"user","parts":[{"type":"text","text":"<environment_context>\n(the client's own words)</environment_context>"}],"synthetic":true}
{"role":"user","parts":[{"type":"text","text":"Look at sign.png: which colour has the sign?"}]}
{"role":"user","parts":[{"type":"text","text":"Another language model started to solve this problem\n(the client's own words)\nThe open day of the lighthouse is on 12 June; Ada is the keeper. plan.md names three boats: Heron, Gannet and Petrel. The sign is red. Still to do: invite the guests."}],"synthetic":true}
{"role":"user","parts":[{"type":"text","text":"When is the open day, and what is still to do?"}],"at":"2026-11-16T13:52:11.833Z"}
{"role":"assistant","parts":[{"type":"text","text":"It is on 12 June. The guests are still to be invited."}],"at":"2026-11-16T13:52:11.880Z"}`,
  ],
  pi: [
    '"compaction"',
    String.raw`
{"role":"system","parts":[{"type":"text","text":"(the client's own words)"},{"type":"text","text":"<tools>\n(the client's own words)</tools>"},{"type":"text","text":"<rules>\n(the client's own words)</rules>"},{"type":"text","text":"<docs>\n(the client's own words)</docs>"},{"type":"text","text":"<cwd>\n/home/keeper/lighthouse\n</cwd>"}],"at":"2026-11-16T13:58:57.104Z"}
{"role":"user","parts":[{"type":"text","text":"Please read notes.md. On which day is the open day?"}],"at":"2026-11-16T13:58:57.104Z"}
{"role":"assistant","parts":[{"type":"reasoning","text":"The date must be in the notes.","sealed":{"provider":"anthropic","value":{"type":"thinking","thinking":"The date must be in the notes.","signature":"standin.c5c2af2f85d749f9.VGhlIGRhdGUgbXVzdCBiZSBpbiB0aGUgbm90ZXMu"}}},{"type":"text","text":"I will look into the notes."},{"type":"tool-call","id":"toolu_14962d7726d9ee485c06d061","name":"read","input":{"path":"notes.md"}}],"model":"stand-in","usage":{"inputTokens":1169,"outputTokens":21},"at":"2026-11-16T13:58:57.612Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_14962d7726d9ee485c06d061","name":"read","output":[{"type":"text","text":"# Open day\n\nThe open day of the lighthouse is on 12 June.\nThe keeper is Ada.\n"}]}],"at":"2026-11-16T13:58:57.637Z"}
{"role":"assistant","parts":[{"type":"text","text":"The open day is on 12 June, and Ada is the keeper."}],"model":"stand-in","usage":{"inputTokens":1248,"outputTokens":13},"at":"2026-11-16T13:58:57.699Z"}
{"role":"user","parts":[{"type":"text","text":"Compare boats.txt with guests.txt, please. “Größe” matters: höchstens drei Boote ⛵."}],"at":"2026-11-16T13:59:03.123Z"}
{"role":"assistant","parts":[{"type":"tool-call","id":"call_32e2af14cb016215cee573b8","name":"read","input":{"path":"boats.txt"}},{"type":"tool-call","id":"call_ce04521c91eb2916de9ae04d","name":"read","input":{"path":"guests.txt"}}],"model":"stand-in","usage":{"inputTokens":1269,"outputTokens":13},"at":"2026-11-16T13:59:03.671Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_32e2af14cb016215cee573b8","name":"read","output":[{"type":"text","text":"Heron\nGannet\nPetrel\n"}]}],"at":"2026-11-16T13:59:03.818Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_ce04521c91eb2916de9ae04d","name":"read","output":[{"type":"text","text":"ENOENT: no such file or directory, access '/home/keeper/lighthouse/guests.txt'"}],"isError":true}],"at":"2026-11-16T13:59:03.818Z"}
{"role":"assistant","parts":[{"type":"text","text":"There are three boats: Heron, Gannet and Petrel. guests.txt does not exist."}],"model":"stand-in","usage":{"inputTokens":1350,"outputTokens":19},"at":"2026-11-16T13:59:03.861Z"}
{"role":"user","parts":[{"type":"text","text":"Then write plan.md with the date and count its words."}],"at":"2026-11-16T13:59:08.164Z"}
{"role":"assistant","parts":[{"type":"text","text":"First the plan."},{"type":"tool-call","id":"call_d06dfdbe2bbd06239043ca64|fc_bc55a84047d1657417ebded2","name":"write","input":{"path":"plan.md","content":"# Plan\n\n12 June: three boats.\n"}}],"model":"stand-in","usage":{"inputTokens":1442,"outputTokens":22},"at":"2026-11-16T13:59:08.564Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_d06dfdbe2bbd06239043ca64|fc_bc55a84047d1657417ebded2","name":"write","output":[{"type":"text","text":"Successfully wrote to plan.md"}]}],"at":"2026-11-16T13:59:08.593Z"}
{"role":"assistant","parts":[{"type":"reasoning","text":"Now the count.","sealed":{"provider":"openai","value":{"id":"rs_82b9433141aa478821aa20de","type":"reasoning","summary":[{"type":"summary_text","text":"Now the count."}],"encrypted_content":"standin.73f41eaef4feee81.Tm93IHRoZSBjb3VudC4"}}},{"type":"tool-call","id":"call_cd600aba66b25f36663e99f4|fc_6eb837755768ce9bb9b887ec","name":"bash","input":{"command":"wc -w plan.md; exit 3"}}],"model":"stand-in","usage":{"inputTokens":1516,"outputTokens":14},"at":"2026-11-16T13:59:08.603Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"call_cd600aba66b25f36663e99f4|fc_6eb837755768ce9bb9b887ec","name":"bash","output":[{"type":"text","text":"6 plan.md\n\n\nCommand exited with code 3"}],"isError":true}],"at":"2026-11-16T13:59:08.629Z"}
{"role":"assistant","parts":[{"type":"text","text":"plan.md has six words; the command ended with code 3."}],"model":"stand-in","usage":{"inputTokens":1591,"outputTokens":14},"at":"2026-11-16T13:59:08.732Z"}
{"role":"user","parts":[{"type":"text","text":"Look at sign.png: which colour has the sign?"}],"at":"2026-11-16T13:59:12.997Z"}
{"role":"assistant","parts":[{"type":"tool-call","id":"toolu_71c0ae1630e6556f69208857","name":"read","input":{"path":"sign.png"}}],"model":"stand-in","usage":{"inputTokens":1550,"outputTokens":6},"at":"2026-11-16T13:59:13.690Z"}
{"role":"tool","parts":[{"type":"tool-result","callId":"toolu_71c0ae1630e6556f69208857","name":"read","output":[{"type":"text","text":"Read image file [image/png]"},{"type":"image","source":{"kind":"base64","mediaType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4IKBAEmIY1TCqYfhqAAA4oPABhec5ggAAAABJRU5ErkJggg=="}}]}],"at":"2026-11-16T13:59:14.863Z"}
{"role":"assistant","parts":[{"type":"text","text":"The sign is red."}],"model":"stand-in","usage":{"inputTokens":2585,"outputTokens":4},"at":"2026-11-16T13:59:14.976Z"}`,
    String.raw`
{"role":"system","parts":[{"type":"text","text":"(the client's own words)"},{"type":"text","text":"<tools>\n(the client's own words)</tools>"},{"type":"text","text":"<rules>\n(the client's own words)</rules>"},{"type":"text","text":"<docs>\n(the client's own words)</docs>"},{"type":"text","text":"<cwd>\n/home/keeper/lighthouse\n</cwd>"}],"at":"2026-11-16T13:58:57.104Z"}
{"role":"user","parts":[{"type":"text","text":"(the client's own words)\nThe open day of the lighthouse is on 12 June; Ada is the keeper. plan.md names three boats: Heron, Gannet and Petrel. The sign is red. Still to do: invite the guests."}],"synthetic":true,"at":"2026-11-16T13:59:21.181Z"}
{"role":"assistant","parts":[{"type":"text","text":"The sign is red."}],"model":"stand-in","usage":{"inputTokens":2585,"outputTokens":4},"at":"2026-11-16T13:59:14.976Z"}
{"role":"user","parts":[{"type":"text","text":"When is the open day, and what is still to do?"}],"at":"2026-11-16T13:59:25.197Z"}
{"role":"assistant","parts":[{"type":"text","text":"It is on 12 June. The guests are still to be invited."}],"model":"stand-in","usage":{"inputTokens":1324,"outputTokens":14},"at":"2026-11-16T13:59:25.583Z"}`,
  ],
} as const

it.each(['claude-code', 'codex', 'pi'] as const)(
  'a session that %s wrote is read as these messages, before a compaction and after it',
  (name) => {
    const url = new URL(`../../../../../test/fixtures/sessions/${name}.jsonl`, import.meta.url)
    const text = readFileSync(url, 'utf8')
    const [mark, before, after] = READ[name]
    const lines = text.split('\n')
    const at = lines.findIndex((line) => line.includes(mark))
    expect(messagesIn(lines.slice(0, at).join('\n'))).toEqual(linesOf(before))
    expect(messagesIn(text)).toEqual(linesOf(after))
  },
)

function messagesIn(text: string): unknown {
  const read = readConversation(text, 'auto')
  expect([read.model, read.notes]).toEqual(['stand-in', []])
  const json = JSON.stringify(read.messages, (key, inner: unknown) =>
    key === 'origin' ? undefined : inner,
  )
  return JSON.parse(json)
}

function linesOf(text: string): unknown[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}
