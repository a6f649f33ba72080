import { describe, expect, it } from 'vitest'
import { readQuotations } from './quotation.ts'
import { isQuestion, recall, subjectOf } from './recall.ts'
import { type Record, recordsOf, sentencesOf } from './records.ts'

const said = (text: string, who: Record['who'] = 'user', where = who as string): Record => ({
  where,
  who,
  text,
})

describe('isQuestion', () => {
  it.each(['Ready?', '"Ready?"', 'what is it', 'Tell me more', 'IS it', 'recall it'])(
    'knows %s',
    (sentence) => {
      expect(isQuestion(sentence)).toBe(true)
    },
  )

  it.each(['It is.', 'Whatever', 'Really? Yes.', 'island'])(
    'does not take %s for a question',
    (sentence) => {
      expect(isQuestion(sentence)).toBe(false)
    },
  )
})

describe('recall', () => {
  const find = (question: string, ...records: readonly Record[]) => recall(question, records)?.quote

  it('quotes the newest sentence with the words of the question', () => {
    const records = [
      said('The code word is GRANITE.'),
      said('The code word is BASALT. Good night.'),
    ]
    expect(find('What was the code word?', ...records)).toBe('The code word is BASALT.')
    expect(recall('What was the code word?', records)?.where).toBe('user')
    expect(find('What is the colour?', ...records)).toBeUndefined()
  })

  it('prefers a sentence with more of the words, however old', () => {
    const records = [said('The red code word list is A.'), said('The code word list is B.')]
    expect(find('Which red code word list?', ...records)).toBe('The red code word list is A.')
  })

  it('needs three quarters of the words', () => {
    const sentence = said('alpha beta gamma')
    expect(find('alpha beta gamma delta?', sentence)).toBe('alpha beta gamma')
    expect(find('alpha beta delta?', sentence)).toBeUndefined()
    expect(find('what did you say?', sentence)).toBeUndefined()
  })

  it('does not quote questions and its own refusals, and prefers others to itself', () => {
    expect(
      find('What is the code?', said('What is the code?'), said('I have no record of the code.')),
    ).toBeUndefined()
    const records = [said('The code is 1.'), said('The code is 2.', 'assistant')]
    expect(find('What is the code?', ...records)).toBe('The code is 1.')
    expect(find('What is the code?', said('The code is 2.', 'assistant'))).toBe('The code is 2.')
  })

  it('finds words in the plural, and words written as one', () => {
    expect(find('Which colours?', said('The colour is red.'))).toBe('The colour is red.')
    expect(find('What is the codeword?', said('The code word is X.'))).toBe('The code word is X.')
    expect(find('all?', said('Call me.'))).toBeUndefined()
  })

  it('lists the files that the conversation mentions', () => {
    const records = [
      said('I changed src/a.ts and src/b.ts today.'),
      said('The parser is in src/c.ts.'),
    ]
    expect(find('Which file did you change today?', ...records)).toBe('src/a.ts, src/b.ts')
    expect(find('Which path has the parser?', ...records)).toBe('src/c.ts')
    expect(find('Which file has the lexer?', ...records)).toBeUndefined()
    const many = said(Array.from({ length: 12 }, (_, at) => `src/f${at}.ts`).join(' '))
    expect(find('Which files?', many)?.split(', ')).toHaveLength(10)
  })

  it('names the subject of a question', () => {
    expect(subjectOf('What was the secret code word?')).toBe('secret code word')
  })
})

describe('sentencesOf', () => {
  it('cuts at lines and after closing signs', () => {
    expect(sentencesOf('One. Two! Three?\n\n four\n5.6')).toEqual([
      'One.',
      'Two!',
      'Three?',
      'four',
      '5.6',
    ])
  })

  it('reads a very long one in pieces that overlap', () => {
    expect(sentencesOf('a'.repeat(1_000))).toHaveLength(1)
    const text = Array.from({ length: 1_900 }, (_, at) => String.fromCharCode(97 + (at % 26))).join(
      '',
    )
    const pieces = sentencesOf(text)
    expect(pieces.map(({ length }) => length)).toEqual([1_000, 1_000, 300])
    expect(pieces[1]).toBe(text.slice(800, 1_800))
    expect(sentencesOf('a'.repeat(1_001)).map(({ length }) => length)).toEqual([1_000, 201])
  })
})

describe('recordsOf', () => {
  it('names the place and the author of each record', () => {
    const parts = [{ type: 'text', text: 'x' }]
    const messages = ['system', 'user', 'assistant'].map((role) => ({ role, parts })) as never
    expect(recordsOf(messages)).toEqual([
      { where: 'the system prompt', who: 'system', text: 'x' },
      { where: 'one of your messages', who: 'user', text: 'x' },
      { where: 'one of my answers', who: 'assistant', text: 'x' },
    ])
  })

  it('opens compactions in plain text, and no other sealed part', () => {
    const parts = [
      { type: 'opaque', provider: 'anthropic', value: { type: 'compaction', content: 'short' } },
      { type: 'opaque', provider: 'openai', value: { encrypted_content: 'not ours' } },
      { type: 'opaque', provider: 'openai', value: 'x' },
    ]
    const [opened, ...others] = recordsOf([{ role: 'user', parts } as never])
    expect(opened).toEqual({ where: 'the compaction', who: 'handoff', text: 'short' })
    expect(others.map(({ who }) => who)).toEqual(['user'])
  })

  it('reads each section of a handoff that has one', () => {
    const handoff = {
      ...{ summary: 'all', ledger: [{ kind: 'path', text: 'a.ts' }], tasks: [] },
      files: [{ access: 'read', path: 'b.ts' }],
      preserved: [{ message: { role: 'user', parts: [{ type: 'text', text: 'mine' }] } }],
    }
    const records = recordsOf([{ role: 'handoff', handoff } as never])
    expect(records.map(({ where, text }) => `${where}: ${text}`)).toEqual([
      "the handoff's summary: all",
      "the handoff's ledger: path: a.ts",
      "the handoff's files: read the file b.ts",
      'one of your messages, kept in the handoff: mine',
    ])
  })
})

describe('readQuotations', () => {
  const fence = (name: string) => `===== ${name} 0123456789ab =====`

  it('distinguishes instructions, conversations and handoffs', () => {
    const prompt = [
      ...[
        'Do this.',
        fence('conversation'),
        'before',
        '#1 user:',
        'hello',
        '',
        '#2 assistant:',
        'hi',
      ],
      ...['#3 tool results:', 'r', '#4 user (written by a program):', 'note', '#5 system:', 's'],
      ...[
        fence('conversation'),
        fence('earlier handoff'),
        'old',
        'one',
        fence('earlier handoff'),
        'End.',
      ],
    ].join('\n')
    expect(readQuotations(prompt)).toEqual({
      instructions: 'Do this.\nEnd.',
      handoffs: ['old\none'],
      records: [
        { where: 'message 1', who: 'user', text: 'hello' },
        { where: 'message 2', who: 'assistant', text: 'hi' },
        { where: 'message 3', who: 'tool', text: 'r' },
        { where: 'message 4', who: 'tool', text: 'note' },
        { where: 'message 5', who: 'system', text: 's' },
      ],
    })
  })

  it('takes a quotation without speakers whole, and a line that closes nothing as it is', () => {
    expect(readQuotations([fence('text'), 'a', 'b', fence('text')].join('\n')).records).toEqual([
      { where: 'the text', who: 'user', text: 'a\nb' },
    ])
    expect(readQuotations(`${fence('text')}\na`)).toMatchObject({
      instructions: `${fence('text')}\na`,
      records: [],
    })
  })
})
