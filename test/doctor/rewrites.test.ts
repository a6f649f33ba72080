import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { HANDOFFS } from './homes/conversations.ts'
import { columnsOf, nameOf } from './homes/hermes-columns.ts'
import { HermesModel, writeStore } from './homes/hermes-model.ts'

/** Six rows that a compaction deleted, after an undo had used up ten row numbers of the session. */
const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-rewrites-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const START = 1_770_000_000
const REWRITTEN_AT = START + 900
let homes = 0

function undoneAndRewritten({ hasUndo }: { hasUndo: boolean }): string {
  const model = new HermesModel()
  model.open('root', START)
  const said = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: `row ${at}`,
    }))
  const before = hasUndo ? 10 : 6
  for (const [at, row] of said(before).entries())
    model.append('root', { ...row, at: START + at * 30 })
  if (hasUndo) model.replace('root', said(6), START + 600)
  const [content = ''] = HANDOFFS
  const kept = [...said(4), { role: 'user', content }]
  expect(model.replace('root', kept, REWRITTEN_AT)).toBe(6)
  return written(model)
}

function written(model: HermesModel): string {
  homes += 1
  const path = join(folder, `home-${homes}`)
  mkdirSync(join(path, 'logs'), { recursive: true })
  const { sessions, messages } = columnsOf(11)
  const sessionColumns = new Set(sessions.map(nameOf))
  const messageColumns = new Set(messages.map(nameOf))
  const shape = { version: 11, hasRouting: false, sessionColumns, messageColumns }
  writeStore(model, shape, join(path, 'state.db'))
  return path
}

function writeLog(path: string, counts: string, { hours = 0, id = 'root' } = {}): void {
  const lines = [`started: session=${id} messages=${counts.split('->')[0]}`]
  lines.push(`done: session=${id} messages=${counts}`)
  const printed = lines.map((line, index) => {
    const at = new Date((REWRITTEN_AT - 2 + index + hours * 3_600) * 1_000)
    const stamp = at.toISOString().replace('T', ' ').replace('.', ',').slice(0, 23)
    return `${stamp} INFO agent.conversation_compression: context compression ${line} tokens=~9,501\n`
  })
  writeFileSync(join(path, 'logs', 'agent.log'), printed.join(''))
}

async function rewriteIn(path: string) {
  const { profiles } = await diagnoseHermes(path)
  const found = profiles.flatMap(({ findings }) => findings)
  const [told, ...more] = found.filter(({ kind }) => kind === 'destructive-rewrite')
  expect(more).toEqual([])
  return { title: told?.title, facts: told?.facts }
}

describe('the rows that a rewrite deleted', () => {
  it('are reported as an upper bound, because an undo uses row numbers too', async () => {
    const { title, facts } = await rewriteIn(undoneAndRewritten({ hasUndo: true }))
    expect(title).toBe('Up to 16 rows of a session were deleted, and 5 written in their place')
    expect(facts).toMatchObject({ rowsGone: 16, isUpperBound: true, rowsGoneAtLeast: null })
  })

  it('are reported as a lower and an upper bound if the log counts the compacted rows', async () => {
    const path = undoneAndRewritten({ hasUndo: true })
    writeLog(path, '6->5', { hours: -5.5 })
    const { title, facts } = await rewriteIn(path)
    expect(title).toBe('6 to 16 rows of a session were deleted, and 5 written in their place')
    expect(facts).toMatchObject({ rowsGone: 16, isUpperBound: true, rowsGoneAtLeast: 6 })
  })

  it('are reported as a number if both agree', async () => {
    const path = undoneAndRewritten({ hasUndo: false })
    writeLog(path, '6->5')
    const { title, facts } = await rewriteIn(path)
    expect(title).toBe('6 rows of a session were deleted, and 5 written in their place')
    expect(facts).toMatchObject({ rowsGone: 6, isUpperBound: false, rowsGoneAtLeast: 6 })
  })

  it('are not counted from lines about something else', async () => {
    const others = [
      ['6->5', { hours: 20 }],
      ['6->5', { hours: 0.1 }],
      ['6->5', { id: 'other' }],
      ['6->4', {}],
      ['40->5', {}],
    ] as const
    for (const [counts, options] of others) {
      const path = undoneAndRewritten({ hasUndo: true })
      writeLog(path, counts, options)
      const { title } = await rewriteIn(path)
      expect(title).toMatch(/^Up to 16 rows/)
    }
  })
})

describe('an undo that writes a session again', () => {
  const CALL =
    '[{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]'
  const worked = (at: number) => [
    { role: 'user', content: 'read it', at },
    { role: 'assistant', content: null, toolCalls: CALL, at: at + 1 },
    { role: 'tool', content: 'it says so', toolCallId: 'call_1', at: at + 2 },
    { role: 'assistant', content: 'done', at: at + 3 },
  ]
  const [HANDOFF = ''] = HANDOFFS

  it('is no rewrite of a continuation, although it begins with a handoff', async () => {
    const model = new HermesModel()
    model.open('root', START)
    for (const row of worked(START)) model.append('root', row)
    model.close('root', START + 60, 'compression')
    model.open('next', START + 60.1, { parentId: 'root' })
    model.append('next', { role: 'user', content: HANDOFF, at: START + 60.2 })
    for (const row of worked(START + 100)) model.append('next', row)
    model.append('next', { role: 'user', content: 'no, not so', at: START + 400 })
    model.replace('next', model.live('next').slice(0, -1), START + 500)
    expect(await rewriteIn(written(model))).toEqual({ title: undefined, facts: undefined })
  })

  it('is reported with the rewrite before it, and so are the calls that were written again', async () => {
    const model = new HermesModel()
    model.open('root', START)
    for (let turn = 0; turn < 6; turn++) {
      for (const row of worked(START + turn * 10)) model.append('root', row)
    }
    expect(model.replace('root', [{ role: 'user', content: HANDOFF }], START + 400)).toBe(24)
    for (const row of worked(START + 500)) model.append('root', row)
    model.append('root', { role: 'user', content: 'no, not so', at: START + 600 })
    model.replace('root', model.live('root').slice(0, -1), START + 700)
    const path = written(model)
    expect((await rewriteIn(path)).title).toMatch(/^Up to 30 rows of a session were deleted/)
    const { profiles } = await diagnoseHermes(path)
    const texts = profiles.flatMap(({ findings }) => findings.map((one) => one.explanation))
    expect(texts.join()).toContain('with the tool calls made since')
    expect(texts.join()).not.toContain('are not among what was written back')
  })
})
