import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { unaccounted } from '../../packages/server/src/migration/import-report.ts'
import { HANDOFFS } from './homes/conversations.ts'
import { columnsOf, nameOf } from './homes/hermes-columns.ts'
import { HermesModel, type NewRow, writeStore } from './homes/hermes-model.ts'
import { bring } from './judges/bring.ts'

/** What some versions of Hermes write, and the generator of homes does not. */
const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-versions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [HANDOFF = ''] = HANDOFFS
const START = 1_770_000_000
let homes = 0

function newHome(): string {
  homes += 1
  return join(folder, `home-${homes}`)
}

function write(model: HermesModel, version: number, path = newHome()): string {
  mkdirSync(path, { recursive: true })
  const { sessions, messages } = columnsOf(version)
  const shape = { version, hasRouting: version >= 26 }
  const sessionColumns = new Set(sessions.map(nameOf))
  const messageColumns = new Set(messages.map(nameOf))
  writeStore(model, { ...shape, sessionColumns, messageColumns }, join(path, 'state.db'))
  return path
}

async function faultsIn(path: string): Promise<readonly string[][]> {
  const { profiles } = await diagnoseHermes(path)
  expect(profiles.map(({ store }) => store.kind)).toEqual(profiles.map(() => 'read'))
  return profiles.map(({ findings }) => findings.filter(isFault).map(({ kind }) => kind))
}

async function countsOf(path: string) {
  const store = openMemoryStore()
  try {
    const { profiles } = await bring(path, store)
    return profiles.map(({ rows, conversations }) => {
      expect(unaccounted(rows)).toBe(0)
      const rewound = conversations.reduce((sum, one) => sum + one.rewound, 0)
      return { brought: rows.brought, copies: rows.copies, rewound }
    })
  } finally {
    await store.close()
  }
}

function talk(model: HermesModel, id: string, turns: number, from = START): void {
  for (let turn = 0; turn < turns; turn++) {
    model.append(id, { role: 'user', content: `question ${turn}`, at: from + turn * 60 })
    model.append(id, { role: 'assistant', content: `answer ${turn}`, at: from + turn * 60 + 9 })
  }
}

/** All at once: a beginning, the handoff, and an end, a microsecond apart. */
function writeBlock(model: HermesModel, id: string, rows: readonly NewRow[], at: number): void {
  for (const [index, row] of rows.entries()) model.append(id, { ...row, at: at + index * 1e-6 })
}

describe('a store of another version', () => {
  it('that archives in place and gives copies the time of the compaction is healthy and brought once', async () => {
    const model = new HermesModel()
    model.open('gone', START)
    model.open('root', START)
    talk(model, 'gone', 2)
    talk(model, 'root', 6)
    const live = model.live('root')
    for (const row of live) Object.assign(row, { active: 0, compacted: 1 })
    const handoff = { role: 'user', content: HANDOFF, at: 0 }
    writeBlock(model, 'root', [...live.slice(0, 2), handoff, ...live.slice(-4)], START + 900)
    talk(model, 'root', 1, START + 1_000)
    // Somebody deletes a session: its ids are missing, and nothing of the other one is.
    model.sessions.delete('gone')
    model.rows = model.rows.filter(({ sessionId }) => sessionId !== 'gone')
    const path = write(model, 26)
    expect(await faultsIn(path)).toEqual([[]])
    expect(await countsOf(path)).toEqual([{ brought: 15, copies: 6, rewound: 0 }])
  })

  it('that writes a turn at once has no rewrite if a message quotes a handoff', async () => {
    const model = new HermesModel()
    model.open('gone', START)
    model.open('root', START)
    talk(model, 'gone', 2)
    for (const turn of [1, 2]) {
      const said = ['so?', turn === 2 ? HANDOFF : 'well', 'and?', 'that', 'and?', 'this']
      const rows = said.map((content, at) => ({ role: at % 2 ? 'assistant' : 'user', content, at }))
      writeBlock(model, 'root', rows, START + turn * 100)
    }
    model.sessions.delete('gone')
    model.rows = model.rows.filter(({ sessionId }) => sessionId !== 'gone')
    expect(await faultsIn(write(model, 30))).toEqual([[]])
  })

  it('that marks superseded rows as taken back has nothing taken back', async () => {
    const model = new HermesModel()
    model.open('root', START)
    talk(model, 'root', 5)
    const live = model.live('root')
    for (const [index, row] of live.entries()) {
      Object.assign(row, { active: 0, compacted: index < 6 ? 1 : 0 })
    }
    model.append('root', { role: 'user', content: HANDOFF, at: START + 900, isSummary: true })
    for (const row of live.slice(6)) model.copy('root', row)
    const path = write(model, 30)
    expect(await faultsIn(path)).toEqual([[]])
    expect(await countsOf(path)).toEqual([{ brought: 11, copies: 4, rewound: 0 }])
  })

  it('that repeats the first messages before a handoff has them once', async () => {
    const model = new HermesModel()
    model.open('root', START)
    talk(model, 'root', 5)
    const live = model.live('root')
    model.close('root', START + 900, 'compression')
    model.open('child', START + 900.1, { parentId: 'root' })
    const handoff = { role: 'user', content: HANDOFF }
    const again = [...live.slice(0, 2), handoff, ...live.slice(-2)]
    for (const [index, { role, content }] of again.entries()) {
      model.append('child', { role, content, at: START + 901 + index * 0.001 })
    }
    const path = write(model, 11)
    expect(await faultsIn(path)).toEqual([[]])
    expect(await countsOf(path)).toEqual([{ brought: 11, copies: 4, rewound: 0 }])
  })

  it('whose agent reads its own history has no summary torn by that', async () => {
    const model = new HermesModel()
    model.open('root', START)
    const calls = JSON.stringify([{ id: 'call_1', function: { name: 'read', arguments: '{}' } }])
    model.append('root', { role: 'assistant', content: null, at: START, toolCalls: calls })
    const content = `${HANDOFF} Summary generation was unavailable. 40 turns were removed.`
    model.append('root', { role: 'tool', content, at: START + 1, toolCallId: 'call_1' })
    expect(await faultsIn(write(model, 26))).toEqual([[]])
  })

  it('that names a call twice has it answered by either name', async () => {
    const calls = (name: string) => JSON.stringify([{ id: `fc_${name}`, call_id: `call_${name}` }])
    const made = (name: string, at: number) => ({
      ...{ role: 'assistant', content: null, at },
      toolCalls: calls(name),
    })
    const model = new HermesModel()
    model.open('root', START)
    model.append('root', made('1', START))
    model.append('root', { role: 'tool', content: 'a', at: START + 1, toolCallId: 'call_1' })
    model.append('root', made('2', START + 2))
    model.append('root', { role: 'tool', content: 'b', at: START + 3, toolCallId: 'fc_2' })
    model.append('root', { role: 'assistant', content: 'done', at: START + 4 })
    expect(await faultsIn(write(model, 26))).toEqual([[]])
    model.append('root', made('3', START + 5))
    model.append('root', { role: 'user', content: 'and then?', at: START + 6 })
    expect(await faultsIn(write(model, 26))).toEqual([['broken-tool-pair']])
  })

  it('whose routing file begins with a byte order mark still has its routes read', async () => {
    const model = new HermesModel()
    model.open('root', START)
    talk(model, 'root', 2)
    model.close('root', START + 900, 'compression')
    model.open('child', START + 900.1, { parentId: 'root' })
    model.append('child', { role: 'user', content: HANDOFF, at: START + 901 })
    const path = write(model, 11)
    mkdirSync(join(path, 'sessions'))
    const routes = JSON.stringify({ 'agent:main:telegram:dm:1': { session_id: 'root' } })
    writeFileSync(join(path, 'sessions', 'sessions.json'), `\uFEFF${routes}`)
    expect(await faultsIn(path)).toEqual([['route-on-closed-parent']])
  })

  it('that keeps the routes of other profiles has them judged, and brought, with those', async () => {
    const [gateway, nova] = [new HermesModel(), new HermesModel()]
    gateway.open('here', START)
    talk(gateway, 'here', 1)
    gateway.routes.set('agent:main:telegram:dm:1', 'here')
    gateway.routes.set('agent:nova:telegram:dm:1', 'there')
    nova.open('there', START)
    talk(nova, 'there', 1)
    const path = write(gateway, 30)
    const place = write(nova, 30, join(path, 'profiles', 'nova'))
    expect(await faultsIn(path)).toEqual([[], []])
    const store = openMemoryStore()
    const { profiles } = await bring(path, store)
    expect(profiles.map(({ routes }) => routes.map(({ outcome }) => outcome))).toEqual([
      ['pointed'],
      ['pointed'],
    ])
    await store.close()
    nova.close('there', START + 900, 'compression')
    nova.open('child', START + 900.1, { parentId: 'there' })
    nova.append('child', { role: 'user', content: HANDOFF, at: START + 901 })
    write(nova, 30, place)
    expect(await faultsIn(path)).toEqual([[], ['route-on-closed-parent']])
    gateway.routes.set('agent:nobody:telegram:dm:1', 'nowhere')
    write(gateway, 30, path)
    expect(await faultsIn(path)).toEqual([['route-nowhere'], ['route-on-closed-parent']])
  })

  it('whose subagents bear no mark has no fork by them', async () => {
    const model = new HermesModel()
    model.open('root', START)
    talk(model, 'root', 3)
    model.open('asked', START + 160, { parentId: 'root' })
    model.append('asked', { role: 'user', content: 'look into it', at: START + 161 })
    model.close('root', START + 190, 'compression')
    model.open('child', START + 190.1, { parentId: 'root' })
    model.append('child', { role: 'user', content: HANDOFF, at: START + 191 })
    model.open('named', START + 195, { parentId: 'root', source: 'subagent' })
    model.append('named', { role: 'user', content: 'and into this', at: START + 196 })
    const path = write(model, 11)
    expect(await faultsIn(path)).toEqual([[]])
    expect(await countsOf(path)).toEqual([{ brought: 9, copies: 0, rewound: 0 }])
  })

  it('whose smaller tables lack columns is read without them', async () => {
    const model = new HermesModel()
    model.open('root', START)
    talk(model, 'root', 1)
    const path = write(model, 16)
    const database = new DatabaseSync(join(path, 'state.db'))
    database.exec(`create table compression_locks (name text, expires_at real);
      create table gateway_routing (entry_json text); create table system_prompts (hash text);
      alter table sessions add column system_prompt_hash text;
      create table gateway_hygiene_state (failure_streak integer)`)
    database.close()
    expect(await faultsIn(path)).toEqual([[]])
    expect(await countsOf(path)).toEqual([{ brought: 2, copies: 0, rewound: 0 }])
  })
})
