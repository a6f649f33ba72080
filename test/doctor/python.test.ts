import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { repairHermes } from '../../packages/server/src/migration/hermes/repair/repair.ts'
import { EmptyHome } from './homes/empty-home.ts'
import { bring } from './judges/bring.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-python-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const START = 1_790_000_000
const NOW = (START + 86_400) * 1_000
const HANDOFF = '[CONTEXT COMPACTION — REFERENCE ONLY] so far'

/**
 * As Python's own `json.dumps` printed it. Hermes begins the file with a note; `estimated_cost_usd` is a
 * float, which may be NaN.
 */
const ROUTES = `{
  "_README": "LEGACY MIRROR of the gateway routing index (the primary copy lives in the gateway_routing table in ~/.hermes/state.db).",
  "agent:main:telegram:dm:1": {
    "session_key": "agent:main:telegram:dm:1",
    "session_id": "one",
    "display_name": "Zo\\u00eb",
    "platform": "telegram",
    "chat_type": "dm",
    "estimated_cost_usd": 0.0,
    "last_resume_marked_at": null
  },
  "agent:main:telegram:dm:2": {
    "session_key": "agent:main:telegram:dm:2",
    "session_id": "two",
    "display_name": "Zo\\u00eb",
    "platform": "telegram",
    "chat_type": "dm",
    "estimated_cost_usd": NaN,
    "last_resume_marked_at": null
  }
}`
const CALLS =
  '[{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": {"limit": Infinity, "path": "\\u00e4"}}}]'

function talk(schema: number): EmptyHome {
  const home = new EmptyHome(folder, schema)
  for (const id of ['one', 'two']) {
    home.session(id, { started_at: START })
    home.row(id, 'user', 'hello', START + 1)
  }
  return home
}

function writeRoutes(home: EmptyHome): void {
  const sessions = join(dirname(home.path), 'sessions')
  mkdirSync(sessions)
  writeFileSync(join(sessions, 'sessions.json'), ROUTES)
}

async function faultsIn(path: string) {
  const { profiles } = await diagnoseHermes(path, { now: NOW })
  return profiles[0]?.findings.filter(isFault) ?? []
}

async function routesOf(path: string) {
  const { profiles } = await bring(path, openMemoryStore())
  return profiles[0]?.routes.map(({ key, sessionId, outcome }) => [key, sessionId, outcome]).sort()
}

const BOTH = [
  ['agent:main:telegram:dm:1', 'one', 'pointed'],
  ['agent:main:telegram:dm:2', 'two', 'pointed'],
]

describe('the routes of a home', () => {
  it('may begin with a note of Hermes and hold NaN', async () => {
    for (const schema of [11, 16]) {
      const home = talk(schema)
      home.close()
      writeRoutes(home)
      expect(await faultsIn(home.path)).toEqual([])
      expect(await routesOf(home.path)).toEqual(BOTH)
    }
  })

  it('are those of the table, and those of the file that the table lacks', async () => {
    const home = talk(26)
    home.exec(`insert into gateway_routing values ('', 'agent:main:telegram:dm:1',
      '{"session_key": "agent:main:telegram:dm:1", "session_id": "one", "estimated_cost_usd": NaN}', 0)`)
    home.close()
    writeRoutes(home)
    expect(await faultsIn(home.path)).toEqual([])
    expect(await routesOf(home.path)).toEqual(BOTH)
  })

  it('lead to the next session after a repair, from the file and from the table', async () => {
    for (const schema of [16, 26]) {
      const home = talk(schema)
      home.exec(`update sessions set ended_at = ${START + 60}, end_reason = 'compression'`)
      for (const id of ['one', 'two']) {
        home.session(`${id}-next`, { parent_session_id: id, started_at: START + 60.1 })
        home.row(`${id}-next`, 'user', HANDOFF, START + 60.2)
      }
      if (schema === 26) {
        home.exec(`insert into gateway_routing values ('', 'agent:main:telegram:dm:2',
          '{"session_id": "two", "estimated_cost_usd": NaN}', 0)`)
      }
      home.close()
      writeRoutes(home)
      const kinds = (await faultsIn(home.path)).map(({ kind }) => kind)
      expect(kinds).toEqual(['route-on-closed-parent', 'route-on-closed-parent'])
      const to = join(dirname(home.path), 'repaired.db')
      const { changes, left } = await repairHermes({ path: home.path, to, now: NOW })
      expect(changes.map(({ kind }) => kind)).toEqual(['route-moved', 'route-moved'])
      expect(left).toEqual([])
      expect(await routesOf(to)).toEqual(BOTH)
    }
  })

  it('are torn if the table holds invalid UTF-8, which Python does not read', async () => {
    const home = talk(26)
    home.exec(`insert into gateway_routing values ('', 'agent:main:telegram:dm:1',
      cast('{"session_id": "one", "display_name": "' || x'c3' || '"}' as text), 0)`)
    home.close()
    expect((await faultsIn(home.path)).map(({ kind }) => kind)).toEqual(['torn-route'])
    expect(await routesOf(home.path)).toEqual([['agent:main:telegram:dm:1', '', 'torn']])
  })
})

describe('calls', () => {
  it('that hold Infinity are paired with their results', async () => {
    const home = talk(26)
    home.row('one', 'assistant', null, START + 2, { tool_calls: CALLS })
    home.row('one', 'tool', 'found', START + 3, { tool_call_id: 'call_1' })
    home.row('two', 'assistant', null, START + 4, { tool_calls: CALLS })
    home.row('two', 'user', 'and?', START + 5)
    home.close()
    const faults = await faultsIn(home.path)
    expect(faults.map(({ kind, sessionIds }) => [kind, ...sessionIds])).toEqual([
      ['broken-tool-pair', 'two'],
    ])
  })
})

describe('invalid UTF-8', () => {
  it.each(['display_name', 'cwd', 'session_key', 'origin_json', 'git_branch'])(
    'in %s of a session is found: Hermes reads all of its columns',
    async (column) => {
      const home = talk(26)
      home.exec(`update sessions set ${column} = cast(x'41ff' as text) where id = 'one'`)
      home.close()
      const faults = await faultsIn(home.path)
      expect(faults.map(({ kind, sessionIds }) => [kind, ...sessionIds])).toEqual([
        ['unreadable-text', 'one'],
      ])
    },
  )

  it.each(['effect_disposition', 'display_kind'])('in %s of a message is found', async (column) => {
    const home = talk(26)
    home.exec(`update messages set ${column} = cast(x'41ff' as text) where session_id = 'two'`)
    home.close()
    const faults = await faultsIn(home.path)
    expect(faults.map(({ kind, sessionIds }) => [kind, ...sessionIds])).toEqual([
      ['unreadable-text', 'two'],
    ])
  })
})
