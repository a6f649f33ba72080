import { expect, it } from 'vitest'
import { Play, type Scene, scene } from '../../../../../../test/support/play.ts'
import type { JsonObject } from '../../../base/json.ts'

interface Given {
  /** So many pieces of so many tokens, a user's and a reply in turn. */
  readonly pieces?: number
  readonly tokens?: number
  readonly turnAt?: number
  readonly row?: { readonly [field: string]: unknown }
}

/** What a session does with each control item: all effects, without the lease and with the tail's number. */
const OBEYED: readonly (readonly [string, JsonObject | null, Given, string])[] = [
  [
    'stop',
    null,
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1]}}}]`,
  ],
  [
    'stop',
    null,
    { row: { turnState: 'running' }, turnAt: 4 },
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1]}}}]`,
  ],
  [
    'stop',
    null,
    { row: { turnState: 'running' }, turnAt: 5 },
    `[{"kind":"commit","commit":{"verb":"commitReply","request":{"tail":0,"operation":"h-1","turn":5,"step":{"upto":0,"renderer":"context-2","calls":[],"body":{"role":"assistant","parts":[]},"tokens":0},"ends":{"how":"stopped","replies":[]}}}}]`,
  ],
  [
    'continue',
    null,
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1]}}}]`,
  ],
  [
    'retry',
    null,
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1]}}}]`,
  ],
  [
    'dance',
    null,
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"not-understood"}}}}]`,
  ],
  [
    'revert',
    null,
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"nothing-to-revert"}}}}]`,
  ],
  [
    'revert',
    { compaction: 1 },
    { row: { effective: 2, covers: 1 } },
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"out-of-date"}}}}]`,
  ],
  [
    'revert',
    { compaction: 2 },
    { row: { effective: 2, covers: 1 } },
    `[{"kind":"measureRevert","target":2},{"kind":"setTimer","at":1030000}]`,
  ],
  [
    'pin',
    { name: 'p', text: 'Be kind.' },
    {},
    `[{"kind":"commit","commit":{"verb":"pin","request":{"tail":0,"operation":"h-1","name":"p","change":"set","body":"Be kind.","tokens":10,"settles":[1]}}}]`,
  ],
  [
    'pin',
    { name: 'p' },
    {},
    `[{"kind":"commit","commit":{"verb":"pin","request":{"tail":0,"operation":"h-1","name":"p","change":"removed","body":null,"tokens":0,"settles":[1]}}}]`,
  ],
  [
    'pin',
    { name: 'p', text: null },
    {},
    `[{"kind":"commit","commit":{"verb":"pin","request":{"tail":0,"operation":"h-1","name":"p","change":"removed","body":null,"tokens":0,"settles":[1]}}}]`,
  ],
  [
    'pin',
    { name: 'p', text: 7 },
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"not-understood"}}}}]`,
  ],
  [
    'pin',
    { name: 'a b', text: 'x' },
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"not-understood"}}}}]`,
  ],
  [
    'pin',
    { text: 'x' },
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"not-understood"}}}}]`,
  ],
  [
    'pin',
    { name: 'p', text: 'x', when: 'between-turns' },
    {},
    `[{"kind":"commit","commit":{"verb":"pin","request":{"tail":0,"operation":"h-1","name":"p","change":"set","body":"x","tokens":10,"settles":[1]}}}]`,
  ],
  [
    'pin',
    { name: 'p', text: 'x', when: 'between-turns' },
    { row: { turnState: 'running' } },
    `[{"kind":"runStep","turn":5}]`,
  ],
  [
    'erase',
    {},
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"unknown-entry"}}}}]`,
  ],
  [
    'erase',
    { entries: 'all' },
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"unknown-entry"}}}}]`,
  ],
  [
    'erase',
    { entries: [0, 1.5, 3, '2'] },
    { pieces: 2 },
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"unknown-entry"}}}}]`,
  ],
  [
    'erase',
    { entries: [2, 1, 2] },
    { pieces: 2 },
    `[{"kind":"commit","commit":{"verb":"eraseEntries","request":{"tail":2,"entries":[2,1],"reason":"requested","settles":[1],"operation":"h-1"}}}]`,
  ],
  [
    'erase',
    { entries: [1], reason: 'asked' },
    { pieces: 2 },
    `[{"kind":"commit","commit":{"verb":"eraseEntries","request":{"tail":2,"entries":[1],"reason":"asked","settles":[1],"operation":"h-1"}}}]`,
  ],
  [
    'erase',
    { entries: [1] },
    { pieces: 2, row: { forkedAt: 1, origin: 'o' } },
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"elsewhere"}}}}]`,
  ],
  [
    'erase',
    { entries: [1] },
    { pieces: 2, row: { turnState: 'running', openCalls: ['c'] } },
    `[{"kind":"startTools","entry":2,"calls":[]}]`,
  ],
  [
    'erase',
    { entries: [1] },
    { pieces: 3, row: { effective: 2, covers: 1 } },
    `[{"kind":"replaceHandoff","mail":1,"entries":[1]}]`,
  ],
  [
    'erase',
    { entries: [2] },
    { pieces: 3, row: { effective: 2, covers: 1 } },
    `[{"kind":"replaceHandoff","mail":1,"entries":[2]}]`,
  ],
  [
    'erase',
    { entries: [3] },
    { pieces: 3, row: { effective: 2, covers: 1 } },
    `[{"kind":"commit","commit":{"verb":"eraseEntries","request":{"tail":3,"entries":[3],"reason":"requested","settles":[1],"operation":"h-1"}}}]`,
  ],
  [
    'tasks',
    { items: [] },
    {},
    `[{"kind":"commit","commit":{"verb":"setTasks","request":{"tail":0,"operation":"h-1","body":{"items":[]},"tokens":10,"settles":[1]}}}]`,
  ],
  [
    'policy',
    { policy: 'queue' },
    {},
    `[{"kind":"commit","commit":{"verb":"changeSettings","request":{"tail":0,"operation":"h-1","policy":"queue","body":{"policy":"queue"},"tokens":0,"settles":[1]}}}]`,
  ],
  [
    'policy',
    { policy: 'collect' },
    {},
    `[{"kind":"commit","commit":{"verb":"changeSettings","request":{"tail":0,"operation":"h-1","policy":"collect","body":{"policy":"collect"},"tokens":0,"settles":[1]}}}]`,
  ],
  [
    'policy',
    { policy: 'interrupt' },
    {},
    `[{"kind":"commit","commit":{"verb":"changeSettings","request":{"tail":0,"operation":"h-1","policy":"interrupt","body":{"policy":"interrupt"},"tokens":0,"settles":[1]}}}]`,
  ],
  [
    'policy',
    { policy: 'steer' },
    {},
    `[{"kind":"commit","commit":{"verb":"changeSettings","request":{"tail":0,"operation":"h-1","policy":"steer","body":{"policy":"steer"},"tokens":0,"settles":[1]}}}]`,
  ],
  [
    'policy',
    { policy: 'dance' },
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"not-understood"}}}}]`,
  ],
  [
    'policy',
    {},
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"not-understood"}}}}]`,
  ],
  [
    'compact',
    {},
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"nothing-to-compact"}}}}]`,
  ],
  [
    'compact',
    {},
    { pieces: 4 },
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"nothing-to-compact"}}}}]`,
  ],
  [
    'compact',
    { instructions: 'Keep names.' },
    { pieces: 8, tokens: 300, row: { seen: 8 } },
    `[{"kind":"commit","commit":{"verb":"claimCompaction","request":{"operation":"h-1","by":"model","trigger":"manual","covers":7,"reason":"requested","requestedBy":1}}}]`,
  ],
  [
    'compact',
    {},
    { pieces: 8, tokens: 300, row: { seen: 8 } },
    `[{"kind":"commit","commit":{"verb":"claimCompaction","request":{"operation":"h-1","by":"model","trigger":"manual","covers":7,"reason":"requested","requestedBy":1}}}]`,
  ],
  [
    'install',
    {},
    {},
    `[{"kind":"commit","commit":{"verb":"settleControl","request":{"mail":[1],"refused":{"why":"not-understood"}}}}]`,
  ],
]

it.each(OBEYED)('%s %j is carried out or refused so, given %j', (control, body, given, effects) => {
  const { pieces = 0, tokens = 10, turnAt, row } = given
  const view = scene({
    row: row as Scene['row'] & {},
    pieces: Array.from({ length: pieces }, (_, at) => [at % 2 ? 'assistant' : 'user', tokens]),
    mail: [turnAt === undefined ? ['control', control] : ['control', control, turnAt]],
  })
  const controls = view.controls.map((mail) => ({ ...mail, body: JSON.stringify(body ?? {}) }))
  const play = new Play().tell({ kind: 'opened' }).look({ ...view, controls })
  const said = JSON.stringify(play.effects, (key, value: unknown) =>
    key === 'context' || key === 'lease' ? undefined : value,
  )
  const short = said.replaceAll(/"tail":\{"number":(\d+),"hash":"hash \1"\}/g, '"tail":$1')
  expect(JSON.parse(short)).toEqual(JSON.parse(effects))
})
