import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { system } from '../../../../test/support/builders.ts'
import { readConversation } from '../message/read.ts'
import { compact } from './compact.ts'

const SAMPLE = '../../../../test/fixtures/sessions/claude-code.jsonl'

/**
 * The outcome; the messages, of the handoff first its own fields, then what it preserves, its files and
 * its ledger; the plan; the figures. A token is four characters here, so that they can be counted.
 */
const RESULT = String.raw`
{"outcome":"compacted","reason":"requested","explanation":"18 messages went into a handoff, 1 stay word for word.","verdict":{"ok":true,"violations":[]},"warnings":[]}
{"role":"system","parts":[{"type":"text","text":"Be brief."}]}
{"role":"system","parts":[{"type":"text","text":"Ada is the keeper."}]}
{"version":1,"by":"given","covers":18,"kept":1,"compactions":1,"tasks":[{"text":"Invite the guests","status":"pending"}],"summary":"## Goal\n- The open day is on 12 June.\n## Next\n- Invite the guests."}
{"message":{"role":"user","parts":[{"type":"text","text":"Please read notes.md. On which day is the open day?"}],"at":"2026-11-16T13:51:53.060Z"},"number":1,"state":"answered"}
{"message":{"role":"user","parts":[{"type":"text","text":"Compare boats.txt with guests.txt, please. “Größe” matters: höchstens drei Boote ⛵."}],"at":"2026-11-16T13:51:55.676Z"},"number":5,"state":"answered"}
{"message":{"role":"user","parts":[{"type":"text","text":"Then write plan.md with the date and count its words."}],"at":"2026-11-16T13:51:58.751Z"},"number":10,"state":"answered"}
{"message":{"role":"user","parts":[{"type":"text","text":"Look at sign.png: which colour has the sign?"}],"at":"2026-11-16T13:52:00.695Z"},"number":16,"state":"answered"}
{"path":"sign.png","access":"read","number":17}
{"path":"plan.md","access":"changed","number":11,"hash":"2c88597d75c0"}
{"path":"boats.txt","access":"read","number":6,"hash":"b1ff9dc2dba0"}
{"path":"notes.md","access":"read","number":2,"hash":"32ad370a050c"}
{"kind":"action","text":"#12 Write plan.md","number":12,"count":1}
{"kind":"error","text":"File does not exist. Note: your current working directory is /home/keeper/lighthouse.","number":7,"count":1}
{"kind":"error","text":"6 plan.md","number":14,"count":1}
{"kind":"command","text":"wc -w plan.md; exit 3 (exit 3)","number":14,"count":1}
{"role":"assistant","parts":[{"type":"text","text":"The sign is red."}],"at":"2026-11-16T13:52:01.939Z","model":"stand-in","usage":{"inputTokens":11625,"outputTokens":4}}
{"kind":"compact","reason":"requested","trigger":"manual","tokensBefore":1983,"layout":{"fixedTo":1,"headFrom":1,"firstNumber":1},"cut":19,"incoming":20,"targetTokens":900,"allotment":{"keep":8,"user":201,"ledger":345,"summary":207,"files":57,"tasks":57}}
{"trigger":"manual","tokensBefore":1983,"tokensAfter":367,"messagesAfter":4,"covered":18,"cut":19,"by":"given","compactions":1,"kindsBefore":{"system":7,"head":1952,"tail":8},"kindsAfter":{"system":16,"preserved":149,"tasks":13,"files":23,"ledger":109,"summary":42,"tail":8},"preserved":{"kept":4,"truncated":0,"open":0,"dropped":0},"ledger":{"entries":4,"tokens":43},"tasks":1,"files":4,"cleared":0,"messagesBefore":20,"timingsMs":{"plan":1,"summary":1,"assemble":2,"ledger":1,"check":1}}`

it('compacts a session of Claude Code to exactly this handoff, with these figures', async () => {
  const text = readFileSync(new URL(SAMPLE, import.meta.url), 'utf8')
  const [before = ''] = text.split(/\n(?=.*"compact_boundary")/)
  const session = readConversation(before, 'claude-code').messages
  let now = 0
  const { messages, plan, stats, ...rest } = await compact([system('Be brief.'), ...session], {
    ...{ trigger: 'manual', when: 'always', focus: 'guests', overheadTokens: 7 },
    budget: { windowTokens: 4_000, targetTokens: 900 },
    countTokens: (words) => Math.ceil(words.length / 4),
    tasks: [{ text: 'Invite the guests', status: 'pending' }],
    pins: ['Ada is the keeper.'],
    summary: '## Goal\n- The open day is on 12 June.\n## Next\n- Invite the guests.',
    now: () => now++,
  })
  const shown = messages.flatMap((message): unknown[] => {
    if (message.role !== 'handoff') return [message]
    const { preserved, files, ledger, ...own } = message.handoff
    return [own, ...preserved, ...files, ...ledger]
  })
  const lines = [rest, ...shown, plan, stats].map((line) =>
    JSON.stringify(line, (key, value: unknown) => (key === 'origin' ? undefined : value)),
  )
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    RESULT.trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  )
})
