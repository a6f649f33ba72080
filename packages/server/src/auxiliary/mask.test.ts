import { describe, expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import { isFreeOfSecrets, maskMessages } from './mask.ts'

const SECRET = ['ghp_', 'a8F3k2Q9z7X1m4B6c5D0e9G8h7J6k5L4m3N2'].join('')
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const call = (input: object): Message => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', id: '1', name: 'read', input: input as never }],
})
const result = (text: string): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', callId: '1', output: [{ type: 'text', text }] }],
})

describe('maskMessages', () => {
  it('masks secrets in words, arguments and results', () => {
    const masked = maskMessages([
      user(`my token: ${SECRET}`),
      call({ list: [SECRET, 5, null, true], deep: { plain: 'x', [SECRET]: 1 } }),
      result(`found ${SECRET}`),
    ])
    expect(JSON.stringify(masked)).not.toContain(SECRET)
    expect(masked[1]).toMatchObject({
      parts: [
        {
          ...{ type: 'tool-call', id: '1', name: 'read' },
          input: {
            list: [expect.stringContaining('[secret:'), 5, null, true],
            deep: { plain: 'x' },
          },
        },
      ],
    })
    expect(masked[2]).toMatchObject({ role: 'tool', parts: [{ type: 'tool-result', callId: '1' }] })
  })

  it('masks a value whose name marks it as a secret', () => {
    const [masked] = maskMessages([call({ password: 'hunter2-x', path: 'a.txt' })])
    expect(masked).toMatchObject({
      parts: [{ input: { password: '[secret:field]', path: 'a.txt' } }],
    })
  })

  it('keeps pictures and files, and leaves out what a provider has sealed', () => {
    const source = { kind: 'url', url: 'https://a.example' } as const
    const said: Message = {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'opaque', provider: 'openai', value: {} },
        { type: 'image', source },
        { type: 'file', source },
        { type: 'text', text: 'a' },
      ],
    } as never
    expect(maskMessages([said])).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'image', source },
          { type: 'file', source },
          { type: 'text', text: 'a' },
        ],
      },
    ])
  })

  it('leaves other words as they are, without what another format needs', () => {
    const origin = { format: 'pi', at: 1 } as never
    const parts = [{ type: 'text', text: 'plain words', origin }] as const
    expect(maskMessages([{ role: 'user', parts }])).toEqual([user('plain words')])
  })
})

describe('isFreeOfSecrets', () => {
  it('looks at words, arguments and results', () => {
    expect(isFreeOfSecrets([user('hello'), call({ path: 'a' }), result('b')])).toBe(true)
    expect(isFreeOfSecrets([user('hello'), user(`token ${SECRET}`)])).toBe(false)
    expect(isFreeOfSecrets([call({ token: SECRET })])).toBe(false)
    expect(isFreeOfSecrets([result(SECRET)])).toBe(false)
  })

  it('looks at every part beside the words', () => {
    const assistant = (part: object): Message => ({ role: 'assistant', parts: [part as never] })
    const sealed = { provider: 'openai', value: { type: 'reasoning', id: SECRET } }
    const found = [
      { type: 'tool-call', id: SECRET, name: 'read', input: {} },
      { type: 'tool-call', id: '1', name: 'read', input: {}, inputText: `{"a":"${SECRET}"}` },
      { type: 'reasoning', text: 'hm', sealed },
    ]
    expect(found.map((part) => isFreeOfSecrets([assistant(part)]))).toEqual([false, false, false])
  })

  it('does not look into pictures', () => {
    const source = { kind: 'base64', mediaType: 'image/png', data: SECRET } as const
    expect(isFreeOfSecrets([{ role: 'user', parts: [{ type: 'image', source }] }])).toBe(true)
  })
})
