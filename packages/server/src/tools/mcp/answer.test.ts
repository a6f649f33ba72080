import { describe, expect, it } from 'vitest'
import type { JsonValue } from '#core/base/json'
import { callAnswer, resourceAnswer } from './answer.ts'
import { isAllowedTool, SERVER_NAME, toolName } from './names.ts'

const PNG = Buffer.from('89504e470d0a', 'hex').toString('base64')
const output = (...content: readonly JsonValue[]) => callAnswer({ content }).output
const image = (mediaType: string, hex: string) => {
  const data = Buffer.from(hex, 'hex').toString('base64')
  return output({ type: 'image', mimeType: mediaType, data })
}

describe('callAnswer', () => {
  it('joins texts, and keeps pictures beside them', () => {
    expect(output({ type: 'text', text: 'one' }, { type: 'text', text: 'two' })).toBe('one\ntwo')
    expect(
      output({ type: 'text', text: 'one' }, { type: 'image', mimeType: 'image/png', data: PNG }),
    ).toEqual([
      { type: 'text', text: 'one' },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: PNG } },
    ])
    expect(output()).toBe('(no output)')
    expect(callAnswer({}).output).toBe('(no output)')
  })

  it('says whether the call failed', () => {
    expect(callAnswer({ content: [], isError: true }).outcome).toBe('error')
    expect(callAnswer({ content: [], isError: 'yes' }).outcome).toBe('ok')
    expect(callAnswer({ content: [] }).outcome).toBe('ok')
  })

  it('returns structured content only if there is no other', () => {
    const structuredContent = { a: 1 }
    expect(callAnswer({ content: [], structuredContent }).output).toBe('{"a":1}')
    expect(callAnswer({ content: [{ type: 'text', text: 'b' }], structuredContent }).output).toBe(
      'b',
    )
    expect(callAnswer({ structuredContent: 'x' }).output).toBe('(no output)')
  })

  it('names content that a model cannot read', () => {
    expect(output('x')).toBe('[not shown: a part of no known kind]')
    expect(output({ type: 'audio' })).toBe('[not shown: a part of the kind audio]')
    expect(output({ type: 'resource_link', uri: 'file:///a' })).toBe(
      '[not shown: resource file:///a]',
    )
    expect(output({ type: 'resource' })).toBe('[not shown: a resource of no known kind]')
    expect(output({ type: 'resource', resource: { blob: 'AAAAAAAA', mimeType: 'x/y' } })).toBe(
      '[not shown: 6 bytes of x/y]',
    )
    expect(output({ type: 'resource', resource: { blob: 'AAAA' } })).toBe(
      '[not shown: 3 bytes of data]',
    )
  })

  it('clips what it names at the length of an address, a kind and a type', () => {
    const x = 'x'.repeat(2_001)
    expect(output({ type: 'resource_link', uri: x })).toBe(
      `[not shown: resource ${'x'.repeat(1_999)}…]`,
    )
    expect(output({ type: 'resource_link', uri: x.slice(1) })).toBe(
      `[not shown: resource ${'x'.repeat(2_000)}]`,
    )
    expect(output({ type: x })).toBe(`[not shown: a part of the kind ${'x'.repeat(39)}…]`)
    const blob = { blob: 'AAAA', mimeType: x }
    expect(output({ type: 'resource', resource: blob })).toBe(
      `[not shown: 3 bytes of ${'x'.repeat(59)}…]`,
    )
  })

  it('takes 200 parts', () => {
    const lines = (count: number) => {
      const whole = output(...Array.from({ length: count }, () => ({ type: 'text', text: 'x' })))
      return String(whole).split('\n')
    }
    expect(lines(200)).toHaveLength(200)
    expect(lines(202).slice(199)).toEqual(['x', '[not shown: 2 more parts]'])
  })

  it.each([
    ['image/png', '89504e47', true],
    ['image/png', '89504e46', false],
    ['image/jpeg', 'ffd8ffe0', true],
    ['image/jpeg', 'ffd8fe', false],
    ['image/gif', '47494638', true],
    ['image/webp', '52494646', true],
    ['image/bmp', '424d0000', false],
    ['image/png', 'ffd8ffe0', false],
  ])('shows %s that begins with %s: %s', (mediaType, hex, isShown) => {
    const shown = image(mediaType, hex)
    expect(typeof shown !== 'string').toBe(isShown)
    if (!isShown) expect(shown).toContain(`bytes of ${mediaType}`)
  })

  it('shows pictures of 700,000 characters at most', () => {
    const data = (length: number) => PNG.slice(0, 8).padEnd(length, 'A')
    const shown = (length: number) =>
      typeof output({ type: 'image', mimeType: 'image/png', data: data(length) })
    expect([shown(700_000), shown(700_001)]).toEqual(['object', 'string'])
  })
})

describe('resourceAnswer', () => {
  it('gives texts and pictures of a resource', () => {
    const contents = [
      { text: 'one' },
      { mimeType: 'image/png', blob: PNG },
      { mimeType: 'a/b', blob: 'AAAA' },
    ]
    expect(resourceAnswer({ contents })).toEqual({
      outcome: 'ok',
      output: [
        { type: 'text', text: 'one' },
        { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: PNG } },
        { type: 'text', text: '[not shown: 3 bytes of a/b]' },
      ],
    })
    expect(resourceAnswer({ contents: 'x' }).output).toBe('(no output)')
    const many = Array.from({ length: 201 }, () => ({ text: 'x' }))
    expect(String(resourceAnswer({ contents: many }).output).split('\n')).toHaveLength(200)
  })
})

describe('toolName', () => {
  it('joins server and tool as long as providers take the whole', () => {
    expect(toolName('files', 'read_file-2')).toBe('files__read_file-2')
    const longest = 'x'.repeat(64 - 'files__'.length)
    expect(toolName('files', longest)).toBe(`files__${longest}`)
  })

  it.each([['read file'], ['x'.repeat(58)], [''], ['é'], [`${'y'.repeat(70)}é`]])(
    'shortens %j with a hash of the whole',
    (tool) => {
      const name = toolName('files', tool)
      expect(name).toMatch(/^files__[\w-]*_[0-9a-f]{8}$/)
      expect(name.length).toBeLessThanOrEqual(64)
      expect(name).not.toBe(toolName('files', `${tool}!`))
    },
  )

  it('uses all the room that there is', () => {
    expect(toolName('files', 'x'.repeat(58))).toHaveLength(64)
    expect(toolName('files', 'a b')).toMatch(/^files__a_b_[0-9a-f]{8}$/)
  })

  it.each([['a'], ['my-server'], ['a'.repeat(24)]])(
    'accepts %s as the name of a server',
    (name) => {
      expect(SERVER_NAME.test(name)).toBe(true)
    },
  )

  it.each([[''], ['-a'], ['a-'], ['a_b'], ['a'.repeat(25)]])(
    'refuses %j as the name of a server',
    (name) => {
      expect(SERVER_NAME.test(name)).toBe(false)
    },
  )
})

describe('isAllowedTool', () => {
  it.each<[Parameters<typeof isAllowedTool>[1], boolean]>([
    [{}, true],
    [{ allow: [] }, false],
    [{ allow: ['read'] }, true],
    [{ allow: ['rea'] }, false],
    [{ allow: ['write', 're*'] }, true],
    [{ allow: ['*'] }, true],
    [{ allow: ['x*'] }, false],
    [{ deny: ['read'] }, false],
    [{ deny: ['write'] }, true],
    [{ allow: ['read'], deny: ['r*'] }, false],
  ])('under %j: %s', (rules, expected) => {
    expect(isAllowedTool('read', rules)).toBe(expected)
  })
})
