import { expect, it } from 'vitest'
import { assistant, system, toolCall, toolResult, user } from '../../../../test/support/builders.ts'
import type { Message } from '../message/message.ts'
import { compact } from './compact.ts'
import type { CompactOptions } from './compact-options.ts'

/** A talk about a harbour in which a program added a block, files were read and changed, and a check failed. */
const TALK: readonly Message[] = [
  system('You keep the harbour.'),
  user('Always answer in whole sentences. Please look at src/tide.ts and say what it does.'),
  toolCall('c1', { path: 'src/tide.ts' }, 'read'),
  toolResult('c1', 'export const tide = (hour: number) => Math.sin(hour / 12.4) // metres', 'read'),
  assistant('It computes the tide of an hour in metres, with a period of 12.4 hours.'),
  user(
    '<system-reminder>\nThe lock is closed from 22:00.\n</system-reminder>\nNow make the period 12.42 and run the check.',
  ),
  toolCall('c2', { path: 'src/tide.ts', old: '12.4', new: '12.42' }, 'edit'),
  toolResult('c2', 'Changed 1 place.', 'edit'),
  toolCall('c3', { command: 'npm run check -- --only tide' }, 'bash'),
  toolResult('c3', 'error: tide.test.ts:7: expected 0.7431 to be 0.7421\nexit code 1', 'bash'),
  assistant(
    'The period is 12.42 now. The check fails in tide.test.ts, line 7, because the test holds the old height.',
  ),
  user(
    'Never change a test without asking me. What does https://tides.example/api/v2?port=7341 say?',
  ),
  toolCall('c4', { url: 'https://tides.example/api/v2?port=7341' }, 'fetch'),
  toolResult('c4', '{"port":7341,"station":"HELG-4471-B","height":0.7421}', 'fetch'),
  assistant(
    'The service gives 0.7421 for the station HELG-4471-B, so the old height was right and our period is not.',
  ),
]

/** More of the same, so that there is something to cover. */
function days(count: number): readonly Message[] {
  return Array.from({ length: count }, (_, day) => [
    user(
      `Day ${day}: write the log of berth ${day + 3} to logs/day-${day}.md. ${'The wind turned slowly over the pier. '.repeat(4).trim()}`,
    ),
    toolCall(`d${day}`, { path: `logs/day-${day}.md`, content: `berth ${day + 3}\n` }, 'write'),
    toolResult(
      `d${day}`,
      `Wrote logs/day-${day}.md. ${'All lamps were lit at dusk and put out at dawn. '.repeat(5).trim()}`,
      'write',
    ),
    assistant(
      `The log of day ${day} is in logs/day-${day}.md, ${'and every ship of the day is in it. '.repeat(4).trim()}`,
    ),
  ]).flat()
}

const LAST = user('What remains to be done?')
const OPTIONS: CompactOptions = {
  family: 'generic',
  budget: { windowTokens: 8_000, targetTokens: 2_000, keepTokens: 300 },
}

const ALL = [...TALK, ...days(10), LAST]
const AGAIN = (await compact(ALL, OPTIONS)).messages.concat(
  assistant('The tide is left.'),
  days(6),
  LAST,
)
const GIVEN =
  '## Progress and decisions\n- The period is 12.42.\n\n## What remains\n- The test fails.'
const TASKS = [
  { text: 'Ask about the test.', status: 'pending' },
  { text: 'Write logs.', status: 'running' },
] as const

/** What a compaction makes of it: the outcome, the figures, and every section of the handoff. */
const RESULTS: readonly (readonly [string, readonly Message[], CompactOptions, string])[] = [
  [
    'a digest',
    ALL,
    OPTIONS,
    `
compacted, requested: 50 messages went into a handoff, 5 stay word for word.
{"trigger":"manual","tokensBefore":3024,"tokensAfter":1583,"messagesAfter":7,"covered":50,"cut":51,"by":"digest","compactions":1,"kindsBefore":{"system":10,"head":2752,"tail":262},"kindsAfter":{"system":10,"preserved":720,"files":28,"ledger":57,"summary":506,"tail":262},"preserved":{"kept":12,"truncated":0,"open":0,"dropped":0},"ledger":{"entries":8,"tokens":52},"tasks":0,"files":6,"cleared":0,"messagesBefore":56,"timingsMs":{}}
system 0
handoff {"version":1,"by":"digest","covers":50,"kept":5,"compactions":1}
preserved: #1 answered 109, #5 answered 71, #11 answered 119, #15 answered 228, #19 answered 228, #23 answered 228, #27 answered 228, #31 answered 228, #35 answered 228, #39 answered 228, #43 answered 229, #47 answered 229
tasks: []
rules: [{"text":"Always answer in whole sentences.","number":1},{"text":"Never change a test without asking me.","number":11}]
host: [{"name":"system-reminder","text":"<system-reminder>\\nThe lock is closed from 22:00.\\n</system-reminder>","number":5}]
changed logs/day-8.md #48 a301b5007c3f
changed logs/day-7.md #44 1f6f3b0ecc35
changed logs/day-6.md #40 df6cfc189506
changed logs/day-5.md #36 70f5fa31361c
changed logs/day-4.md #32 30801deb183f
changed logs/day-3.md #28 6fafec787089
action #7 edit src/tide.ts ×1 #7
action #17 write logs/day-0.md ×1 #17
action #21 write logs/day-1.md ×1 #21
action #25 write logs/day-2.md ×1 #25
path Math.sin ×0 #3
name HELG-4471-B ×0 #14
name tide.test.ts ×0 #10
name system-reminder ×0 #5
## Progress and decisions
- #29 write logs/day-3.md
- #30 The log of day 3 is in logs/day-3.md, and ev… 187
- #33 write logs/day-4.md
- #34 The log of day 4 is in logs/day-4.md, and ev… 187
- #37 write logs/day-5.md
- #38 The log of day 5 is in logs/day-5.md, and ev… 187
- #41 write logs/day-6.md
- #42 The log of day 6 is in logs/day-6.md, and ev… 187
- #45 write logs/day-7.md
- #46 The log of day 7 is in logs/day-7.md, and ev… 187
- #49 write logs/day-8.md
- #50 The log of day 8 is in logs/day-8.md, and ev… 187
## Critical data
- port=7341 say
## Tool results that matter
- #9 npm run check -- --only tide (exit 1) → exit code 1
- #9 error: tide.test.ts:7: expected 0.7431 to be 0.7421
user 51
assistant 52
tool 53
assistant 54
user 55`,
  ],
  [
    'a digest of a digest',
    AGAIN,
    OPTIONS,
    `
compacted, requested: 26 messages went into a handoff, 5 stay word for word.
This conversation has now been compacted 2 times; details of its beginning may be lost. For a new task, start a new conversation.
{"trigger":"manual","tokensBefore":3114,"tokensAfter":1914,"messagesAfter":7,"covered":26,"cut":28,"by":"digest","compactions":2,"kindsBefore":{"system":10,"preserved":720,"files":28,"ledger":57,"summary":506,"head":1531,"tail":262},"kindsAfter":{"system":10,"preserved":1053,"files":28,"ledger":64,"summary":497,"tail":262},"preserved":{"kept":18,"truncated":0,"open":0,"dropped":1},"ledger":{"entries":9,"tokens":60},"tasks":0,"files":6,"cleared":0,"messagesBefore":33,"timingsMs":{}}
system 0
handoff {"version":1,"by":"digest","covers":76,"kept":5,"compactions":2,"omitted":{"from":15,"to":15,"count":1}}
preserved: #1 answered 109, #5 answered 71, #11 answered 119, #19 answered 228, #23 answered 228, #27 answered 228, #31 answered 228, #35 answered 228, #39 answered 228, #43 answered 229, #47 answered 229, #51 answered 229, #55 answered 51, #57 answered 228, #61 answered 228, #65 answered 228, #69 answered 228, #73 answered 228
tasks: []
rules: [{"text":"Always answer in whole sentences.","number":1},{"text":"Never change a test without asking me.","number":11}]
host: [{"name":"system-reminder","text":"<system-reminder>\\nThe lock is closed from 22:00.\\n</system-reminder>","number":5}]
changed logs/day-4.md #74 30801deb183f
changed logs/day-3.md #70 6fafec787089
changed logs/day-2.md #66 5a6d2b6d850a
changed logs/day-1.md #62 ffbdc00d6101
changed logs/day-0.md #58 53ddd07cbc4e
changed logs/day-9.md #52 b8129f7f4fc2
action #7 edit src/tide.ts ×1 #7
action #21 write logs/day-1.md ×1 #21
action #25 write logs/day-2.md ×1 #25
action #53 write logs/day-9.md ×1 #53
action #59 write logs/day-0.md ×2 #59
path Math.sin ×0 #3
name HELG-4471-B ×0 #14
name tide.test.ts ×0 #10
name system-reminder ×0 #5
## Progress and decisions
- #45 write logs/day-7.md
- #46 The log of day 7 is in logs/day-7.md, and ev… 187
- #49 write logs/day-8.md
- #50 The log of day 8 is in logs/day-8.md, and ev… 187
- #63 write logs/day-1.md
- #64 The log of day 1 is in logs/day-1.md, and ev… 187
- #67 write logs/day-2.md
- #68 The log of day 2 is in logs/day-2.md, and ev… 187
- #71 write logs/day-3.md
- #72 The log of day 3 is in logs/day-3.md, and ev… 187
- #75 write logs/day-4.md
- #76 The log of day 4 is in logs/day-4.md, and ev… 187
## Critical data
- port=7341 say
## Tool results that matter
- #9 npm run check -- --only tide (exit 1) → exit code 1
- #9 error: tide.test.ts:7: expected 0.7431 to be 0.7421
user 28
assistant 29
tool 30
assistant 31
user 6`,
  ],
  [
    'a given summary beside tasks, pins and other tokens',
    ALL,
    {
      ...OPTIONS,
      ...{ summary: GIVEN, tasks: TASKS, overheadTokens: 100, pins: ['Be kind.'] },
    },
    `
compacted, requested: 50 messages went into a handoff, 5 stay word for word.
{"trigger":"manual","tokensBefore":3130,"tokensAfter":1439,"messagesAfter":8,"covered":50,"cut":51,"by":"given","compactions":1,"kindsBefore":{"system":10,"head":2752,"tail":262},"kindsAfter":{"system":16,"preserved":808,"tasks":12,"files":38,"ledger":171,"summary":32,"tail":262},"preserved":{"kept":12,"truncated":0,"open":0,"dropped":0},"ledger":{"entries":17,"tokens":140},"tasks":2,"files":7,"cleared":0,"messagesBefore":56,"timingsMs":{}}
system 0
system -1
handoff {"version":1,"by":"given","covers":50,"kept":5,"compactions":1}
preserved: #1 answered 109, #5 answered 71, #11 answered 119, #15 answered 228, #19 answered 228, #23 answered 228, #27 answered 228, #31 answered 228, #35 answered 228, #39 answered 228, #43 answered 229, #47 answered 229
tasks: [{"text":"Write logs.","status":"running"},{"text":"Ask about the test.","status":"pending"}]
rules: [{"text":"Always answer in whole sentences.","number":1},{"text":"Never change a test without asking me.","number":11}]
host: [{"name":"system-reminder","text":"<system-reminder>\\nThe lock is closed from 22:00.\\n</system-reminder>","number":5}]
changed logs/day-8.md #48 a301b5007c3f
changed logs/day-7.md #44 1f6f3b0ecc35
changed logs/day-6.md #40 df6cfc189506
changed logs/day-5.md #36 70f5fa31361c
changed logs/day-4.md #32 30801deb183f
changed logs/day-3.md #28 6fafec787089
changed logs/day-2.md #24 5a6d2b6d850a
action #7 edit src/tide.ts ×1 #7
action #17 write logs/day-0.md ×1 #17
action #21 write logs/day-1.md ×1 #21
action #25 write logs/day-2.md ×1 #25
action #29 write logs/day-3.md ×1 #29
action #33 write logs/day-4.md ×1 #33
action #37 write logs/day-5.md ×1 #37
action #41 write logs/day-6.md ×1 #41
action #45 write logs/day-7.md ×1 #45
action #49 write logs/day-8.md ×1 #49
error error: tide.test.ts:7: expected 0.7431 to be 0.7421 ×1 #9
command npm run check -- --only tide (exit 1) ×1 #9
path Math.sin ×0 #3
name HELG-4471-B ×0 #14
name tide.test.ts ×0 #10
name system-reminder ×0 #5
value port=7341 say ×1 #11
## Progress and decisions
- The period is 12.42.

## What remains
- The test fails.
user 51
assistant 52
tool 53
assistant 54
user 55`,
  ],
  [
    'a summary that leaves little for the rest',
    ALL,
    { ...OPTIONS, summary: `${GIVEN}\n${'- A long list of what was done.\n'.repeat(110)}` },
    `
compacted, requested: 50 messages went into a handoff, 5 stay word for word.
The given summary does not read like one (repetition).
{"trigger":"manual","tokensBefore":3024,"tokensAfter":1927,"messagesAfter":7,"covered":50,"cut":51,"by":"given","compactions":1,"kindsBefore":{"system":10,"head":2752,"tail":262},"kindsAfter":{"system":10,"preserved":397,"files":9,"ledger":153,"summary":1096,"tail":262},"preserved":{"kept":8,"truncated":0,"open":0,"dropped":4},"ledger":{"entries":21,"tokens":157},"tasks":0,"files":2,"cleared":0,"messagesBefore":56,"timingsMs":{}}
system 0
handoff {"version":1,"by":"given","covers":50,"kept":5,"compactions":1,"omitted":{"from":15,"to":27,"count":4}}
preserved: #1 answered 109, #5 answered 71, #11 answered 119, #31 answered 228, #35 answered 228, #39 answered 228, #43 answered 229, #47 answered 229
tasks: []
rules: [{"text":"Always answer in whole sentences.","number":1},{"text":"Never change a test without asking me.","number":11}]
host: [{"name":"system-reminder","text":"<system-reminder>\\nThe lock is closed from 22:00.\\n</system-reminder>","number":5}]
changed logs/day-8.md #48 a301b5007c3f
changed logs/day-7.md #44 1f6f3b0ecc35
action #7 edit src/tide.ts ×1 #7
action #17 write logs/day-0.md ×1 #17
action #21 write logs/day-1.md ×1 #21
action #25 write logs/day-2.md ×1 #25
action #29 write logs/day-3.md ×1 #29
action #33 write logs/day-4.md ×1 #33
action #37 write logs/day-5.md ×1 #37
action #41 write logs/day-6.md ×1 #41
action #45 write logs/day-7.md ×1 #45
action #49 write logs/day-8.md ×1 #49
error error: tide.test.ts:7: expected 0.7431 to be 0.7421 ×1 #9
command npm run check -- --only tide (exit 1) ×1 #9
path logs/day-3.md ×1 #30
path logs/day-2.md ×1 #26
path logs/day-1.md ×1 #22
path logs/day-0.md ×1 #18
path Math.sin ×0 #3
name HELG-4471-B ×0 #14
name tide.test.ts ×0 #10
name system-reminder ×0 #5
value port=7341 say ×1 #11
## Progress and decisions
- The period is 12.42.

## What remains
- The test fails.
- A long list of what was done. (110 times)
user 51
assistant 52
tool 53
assistant 54
user 55`,
  ],
  [
    'a large window',
    ALL,
    { family: 'generic', budget: { windowTokens: 40_000 } },
    `
compacted, requested: 49 messages went into a handoff, 6 stay word for word.
{"trigger":"manual","tokensBefore":3024,"tokensAfter":1392,"messagesAfter":8,"covered":49,"cut":50,"by":"digest","compactions":1,"kindsBefore":{"system":10,"head":2702,"tail":312},"kindsAfter":{"system":10,"preserved":740,"files":20,"ledger":101,"summary":209,"tail":312},"preserved":{"kept":12,"truncated":0,"open":0,"dropped":0},"ledger":{"entries":12,"tokens":90},"tasks":0,"files":4,"cleared":0,"messagesBefore":56,"timingsMs":{}}
system 0
handoff {"version":1,"by":"digest","covers":49,"kept":6,"compactions":1}
preserved: #1 answered 109, #5 answered 71, #11 answered 119, #15 answered 228, #19 answered 228, #23 answered 228, #27 answered 228, #31 answered 228, #35 answered 228, #39 answered 228, #43 answered 229, #47 answered 229
tasks: []
rules: [{"text":"Always answer in whole sentences.","number":1},{"text":"Never change a test without asking me.","number":11}]
host: undefined
changed logs/day-8.md #48 a301b5007c3f
changed logs/day-7.md #44 1f6f3b0ecc35
changed logs/day-6.md #40 df6cfc189506
changed logs/day-5.md #36 70f5fa31361c
action #7 edit src/tide.ts ×1 #7
action #17 write logs/day-0.md ×1 #17
action #21 write logs/day-1.md ×1 #21
action #25 write logs/day-2.md ×1 #25
action #29 write logs/day-3.md ×1 #29
action #33 write logs/day-4.md ×1 #33
action #37 write logs/day-5.md ×1 #37
command npm run check -- --only tide (exit 1) ×1 #9
path Math.sin ×0 #3
name HELG-4471-B ×0 #14
name tide.test.ts ×0 #10
name system-reminder ×0 #5
## Progress and decisions
- #41 write logs/day-6.md
- #42 The log of day 6 is in logs/day-6.md, and ev… 187
- #45 write logs/day-7.md
- #46 The log of day 7 is in logs/day-7.md, and ev… 187
- #49 write logs/day-8.md
## Critical data
- port=7341 say
## Tool results that matter
- #9 error: tide.test.ts:7: expected 0.7431 to be 0.7421
assistant 50
user 51
assistant 52
tool 53
assistant 54
user 55`,
  ],
  [
    'a small target',
    ALL,
    { ...OPTIONS, budget: { windowTokens: 8_000, targetTokens: 700, keepTokens: 100 } },
    `
compacted, requested: 53 messages went into a handoff, 2 stay word for word.
{"trigger":"manual","tokensBefore":3024,"tokensAfter":627,"messagesAfter":4,"covered":53,"cut":54,"by":"digest","compactions":1,"kindsBefore":{"system":10,"head":2954,"tail":60},"kindsAfter":{"system":10,"preserved":213,"files":12,"ledger":217,"summary":115,"tail":60},"preserved":{"kept":4,"truncated":0,"open":0,"dropped":9},"ledger":{"entries":22,"tokens":158},"tasks":0,"files":2,"cleared":0,"messagesBefore":56,"timingsMs":{}}
system 0
handoff {"version":1,"by":"digest","covers":53,"kept":2,"compactions":1,"omitted":{"from":15,"to":47,"count":9}}
preserved: #1 answered 109, #5 answered 71, #11 answered 119, #51 answered 229
tasks: []
rules: [{"text":"Always answer in whole sentences.","number":1},{"text":"Never change a test without asking me.","number":11}]
host: undefined
changed logs/day-9.md #52 b8129f7f4fc2
changed logs/day-8.md #48 a301b5007c3f
action #7 edit src/tide.ts ×1 #7
action #17 write logs/day-0.md ×1 #17
action #21 write logs/day-1.md ×1 #21
action #25 write logs/day-2.md ×1 #25
action #29 write logs/day-3.md ×1 #29
action #33 write logs/day-4.md ×1 #33
action #37 write logs/day-5.md ×1 #37
action #41 write logs/day-6.md ×1 #41
action #45 write logs/day-7.md ×1 #45
error error: tide.test.ts:7: expected 0.7431 to be 0.7421 ×1 #9
command npm run check -- --only tide (exit 1) ×1 #9
path logs/day-5.md ×1 #38
path logs/day-4.md ×1 #34
path logs/day-3.md ×1 #30
path logs/day-2.md ×1 #26
path logs/day-1.md ×1 #22
path logs/day-0.md ×1 #18
path Math.sin ×0 #3
name HELG-4471-B ×0 #14
name tide.test.ts ×0 #10
name system-reminder ×0 #5
value port=7341 say ×1 #11
## Progress and decisions
- #49 write logs/day-8.md
- #50 The log of day 8 is in logs/day-8.md, and ev… 187
- #53 write logs/day-9.md
assistant 54
user 55`,
  ],
  [
    'a target smaller than the system text',
    ALL,
    { ...OPTIONS, budget: { windowTokens: 8_000, targetTokens: 30 } },
    `
cannot-fit, fixed-part-too-large: System text, pins and protected messages alone take 10 tokens, there is room for 0 in a target of 30 (3024 tokens in all).
{"covered":0,"compactions":0,"kindsBefore":{},"kindsAfter":{},"preserved":{"kept":0,"truncated":0,"open":0,"dropped":0},"ledger":{"entries":0,"tokens":0},"tasks":0,"files":0,"cleared":0,"trigger":"manual","tokensBefore":3024,"tokensAfter":3024,"messagesBefore":56,"messagesAfter":56,"timingsMs":{}}
unchanged`,
  ],
  [
    'little talk',
    ALL.slice(0, 5),
    OPTIONS,
    `
kept, nothing-to-cut: The conversation is too short to gain anything.
{"covered":0,"compactions":0,"kindsBefore":{},"kindsAfter":{},"preserved":{"kept":0,"truncated":0,"open":0,"dropped":0},"ledger":{"entries":0,"tokens":0},"tasks":0,"files":0,"cleared":0,"trigger":"manual","tokensBefore":137,"tokensAfter":137,"messagesBefore":5,"messagesAfter":5,"timingsMs":{}}
unchanged`,
  ],
  [
    'a talk below the threshold',
    ALL,
    { family: 'generic', budget: { windowTokens: 40_000 }, when: 'needed' },
    `
kept, fits: The conversation is below the threshold.
{"covered":0,"compactions":0,"kindsBefore":{},"kindsAfter":{},"preserved":{"kept":0,"truncated":0,"open":0,"dropped":0},"ledger":{"entries":0,"tokens":0},"tasks":0,"files":0,"cleared":0,"trigger":"manual","tokensBefore":3024,"tokensAfter":3024,"messagesBefore":56,"messagesAfter":56,"timingsMs":{}}
unchanged`,
  ],
  [
    'a preset, before a request that may not fit',
    ALL,
    { family: 'generic', budget: { windowTokens: 6_000 }, preset: 'hermes', trigger: 'preflight' },
    `
compacted, over-threshold: 47 messages went into a handoff, 5 stay word for word.
{"trigger":"preflight","tokensBefore":3024,"tokensAfter":1014,"messagesAfter":10,"covered":47,"cut":51,"by":"digest","compactions":1,"kindsBefore":{"system":10,"protected":105,"head":2647,"tail":252,"incoming":10},"kindsAfter":{"system":10,"protected":105,"preserved":315,"files":12,"ledger":202,"summary":108,"tail":252,"incoming":10},"preserved":{"kept":5,"truncated":0,"open":0,"dropped":6},"ledger":{"entries":22,"tokens":157},"tasks":0,"files":2,"cleared":0,"messagesBefore":56,"timingsMs":{}}
system 0
user 1
assistant 2
tool 3
handoff {"version":1,"by":"digest","covers":50,"kept":5,"compactions":1,"omitted":{"from":15,"to":35,"count":6}}
preserved: #5 answered 71, #11 answered 119, #39 answered 228, #43 answered 229, #47 answered 229
tasks: []
rules: [{"text":"Never change a test without asking me.","number":11}]
host: undefined
changed logs/day-8.md #48 a301b5007c3f
changed logs/day-7.md #44 1f6f3b0ecc35
action #7 edit src/tide.ts ×1 #7
action #17 write logs/day-0.md ×1 #17
action #21 write logs/day-1.md ×1 #21
action #25 write logs/day-2.md ×1 #25
action #29 write logs/day-3.md ×1 #29
action #33 write logs/day-4.md ×1 #33
action #37 write logs/day-5.md ×1 #37
action #41 write logs/day-6.md ×1 #41
action #45 write logs/day-7.md ×1 #45
error error: tide.test.ts:7: expected 0.7431 to be 0.7421 ×1 #9
command npm run check -- --only tide (exit 1) ×1 #9
path logs/day-5.md ×1 #38
path logs/day-4.md ×1 #34
path logs/day-3.md ×1 #30
path logs/day-2.md ×1 #26
path logs/day-1.md ×1 #22
path src/tide.ts ×1 #6
path logs/day-0.md ×1 #18
name HELG-4471-B ×0 #14
name tide.test.ts ×0 #10
name system-reminder ×0 #5
name tide.test.ts:7 ×0 #9
## Progress and decisions
- #49 write logs/day-8.md
- #50 The log of day 8 is in logs/day-8.md, and ev… 187
## Critical data
- port=7341 say
user 51
assistant 52
tool 53
assistant 54
user 55`,
  ],
]

it.each(RESULTS)('%s', async (_, messages, options, expected) => {
  const result = await compact(messages, options)
  const { outcome, reason, explanation, warnings, stats } = result
  const lines = [
    `${outcome}, ${reason}: ${explanation}`,
    ...warnings,
    JSON.stringify(stats),
    ...(result.messages === messages ? ['unchanged'] : result.messages.flatMap(linesOf(messages))),
  ]
  expect(lines.join('\n')).toBe(expected.slice(1))
})

/** Messages that stayed, by their place; texts that are known are clipped. */
function linesOf(before: readonly Message[]) {
  return (message: Message): readonly string[] => {
    if (message.role !== 'handoff') return [`${message.role} ${before.indexOf(message)}`]
    const { preserved, tasks, files, ledger, summary, rules, host, ...rest } = message.handoff
    const quoted = preserved.map(
      ({ number, state, truncated, message }) =>
        `${truncated ? 'cut ' : ''}#${number} ${state} ${JSON.stringify(message.parts).length}`,
    )
    const facts = ledger.map((one) => `${one.kind} ${one.text} ×${one.count} #${one.number}`)
    return [
      `handoff ${JSON.stringify(rest)}`,
      `preserved: ${quoted.join(', ')}`,
      ...[`tasks: ${JSON.stringify(tasks)}`, `rules: ${JSON.stringify(rules)}`],
      `host: ${JSON.stringify(host)}`,
      ...files.map((file) => `${file.access} ${file.path} #${file.number} ${file.hash}`),
      ...repeats([...facts, ...summary.split('\n')]).map((line) =>
        line.length > 70 ? `${line.slice(0, 50)}… ${line.length}` : line,
      ),
    ]
  }
}

/** Equal lines as one. */
function repeats(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, at) => {
    if (line === lines[at - 1]) return []
    const others = lines.slice(at).findIndex((other) => other !== line)
    const count = others === -1 ? lines.length - at : others
    return [count === 1 ? line : `${line} (${count} times)`]
  })
}
