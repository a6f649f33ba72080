import { describe, expect, it } from 'vitest'
import { ask, problem, UNKNOWN_SESSION } from '../../../../../../test/gateways/endpoint-answers.ts'

describe('notes and reminders', () => {
  it.each<[object, unknown]>([
    [{ kind: 'done' }, { status: 204 }],
    [{ kind: 'unknown' }, problem('unknown-note')],
    [{ kind: 'gone' }, problem('gone')],
    [
      { kind: 'no-room', tokens: 9, limit: 5 },
      problem(
        'turned-down',
        { why: 'no-room', tokensAfter: 9, limit: 5 },
        'The notes would take 9 of 5 tokens.',
      ),
    ],
  ])('a change is answered: %j', async (change, answer) => {
    const route = '/v1/sessions/{id}/notes/{note}'
    const params = { id: 's1', note: 'n1' }
    const memory = { changeNote: change, removeNote: change }
    expect(await ask(`put ${route}`, { params, body: { text: 'x' } }, { memory })).toEqual({
      ...{ asked: [['memory.changeNote', { id: 'n1', text: 'x' }]], answer },
    })
    expect(await ask(`delete ${route}`, { params }, { memory })).toEqual({
      ...{ asked: [['memory.removeNote', 'n1']], answer },
    })
  })

  it.each<[string, unknown]>([
    ['done', { status: 204 }],
    ['unknown', problem('unknown-reminder')],
  ])('the cancellation of a reminder is answered: %s', async (kind, answer) => {
    const route = 'delete /v1/sessions/{id}/reminders/{reminder}'
    const params = { id: 's1', reminder: 'r1' }
    expect(await ask(route, { params }, { memory: { cancelReminder: { kind } } })).toEqual({
      ...{ asked: [['memory.cancelReminder', 'r1']], answer },
    })
  })

  it('a limited token reads all notes, but not in which other session one was made', async () => {
    const made = (sessionId: string) => ({ id: 'n', origin: { sessionId, entry: 2 } })
    const bare = { id: 'n', origin: null }
    const notes = [made('s1'), made('s2'), bare]
    const read = async (request: object, memory: unknown = { notes, pins: [] }) =>
      (await ask('get /v1/sessions/{id}/memory', request, { memory: { read: memory } })).answer
    expect(await read({})).toEqual({ status: 200, body: { notes, pins: [] } })
    expect(await read({ principal: { sessions: new Set(['s1']) } })).toEqual({
      status: 200,
      body: { notes: [made('s1'), bare, bare], pins: [] },
    })
    expect(await read({}, () => undefined)).toEqual(UNKNOWN_SESSION)
  })
})
