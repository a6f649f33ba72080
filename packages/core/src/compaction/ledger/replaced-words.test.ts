import { describe, expect, it } from 'vitest'
import { assistant, toolCall, user } from '../../../../../test/support/builders.ts'
import type { JsonObject } from '../../base/json.ts'
import { gatherReplacedWords } from './replaced-words.ts'

const gathered = (...edits: readonly JsonObject[]) =>
  gatherReplacedWords(
    edits.map((input, at) => toolCall(`c${at}`, input)),
    (index) => index + 10,
  )

const edit = (old_string: string, new_string: string) => ({ old_string, new_string })

describe('words that an edit replaced', () => {
  it.each<[string, JsonObject]>([
    ['old_string', edit('port = 8080', 'port = 9090')],
    ['oldText', { oldText: 'port = 8080', newText: 'port = 9090' }],
    ['old_str', { old_str: 'port = 8080', new_str: 'port = 9090' }],
    ['search', { search: 'port = 8080', replace: 'port = 9090' }],
  ])('are found by %s', (_, input) => {
    expect(gathered(input)).toEqual([{ old: '8080', now: '9090', number: 10 }])
  })

  it.each<[string, JsonObject]>([
    ['two words changed', edit('port 8080 host-1', 'port 9090 host-2')],
    ['nothing changed', edit('port 8080', 'port 8080')],
    ['a word was added', edit('port 8080', 'port 8080 open')],
    ['the word is too short', edit('port 808', 'port 909')],
    ['the word is too long', edit('port 8080', `port ${'9'.repeat(61)}`)],
    ['the word is an ordinary one', edit('the harbour', 'the quays')],
    ['only signs around it changed', edit('port 8080,', 'port 8080;')],
    ['the edit is too long', edit(`${'x '.repeat(1_000)}8080`, `${'x '.repeat(1_000)}9090`)],
    ['one side is no text', { old_string: 8080, new_string: '9090' }],
    ['no pair is there', { command: 'ls' }],
  ])('are not found if %s', (_, input) => {
    expect(gathered(input)).toEqual([])
  })

  it('are those of the newest edit of a place, in the order of the edits', () => {
    const found = gathered(
      edit('port = 8080', 'port = 9090'),
      edit('name = old-one', 'name = new-one'),
      edit('port = 9090', 'port = 7070'),
    )
    expect(found).toEqual([
      { old: 'old-one', now: 'new-one', number: 11 },
      { old: '9090', now: '7070', number: 12 },
    ])
  })

  it('are read only from calls of the agent', () => {
    const said = JSON.stringify(edit('port 8080', 'port 9090'))
    expect(gatherReplacedWords([user(said), assistant(said)], (index) => index)).toEqual([])
  })
})
