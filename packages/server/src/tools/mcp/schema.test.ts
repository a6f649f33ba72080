import { describe, expect, it } from 'vitest'
import { safeSchema } from './schema.ts'

/** What remains of the schema of one property. */
function kept(schema: unknown, more: object = {}): unknown {
  const { properties } = safeSchema({ type: 'object', properties: { p: schema }, ...more })
  return (properties as { readonly p: unknown }).p
}

describe('the schema of a foreign tool', () => {
  it.each([
    ['one of several types', { type: ['string', 'null'] }],
    ['limits', { type: 'string', minLength: 1, maxLength: 9 }],
    ['values', { enum: ['a', 2, true, null], default: 'a' }],
    ['a choice', { anyOf: [{ type: 'string' }, { type: 'number', maximum: 3 }] }],
    ['a list', { type: 'array', items: { type: 'integer' }, maxItems: 4 }],
    ['others of a type', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a format', { type: 'string', format: 'date-time', title: 'When', description: 'The day' }],
  ])('keeps %s', (_, schema) => {
    expect(kept(schema)).toEqual(schema)
  })

  it('writes “one of” as “any of”, which every provider supports', () => {
    const choices = [{ type: 'string' }, { type: 'null' }]
    expect(kept({ oneOf: choices })).toEqual({ anyOf: choices })
  })

  it.each([
    ['a pattern', { type: 'string', pattern: '(a+)+$' }, { type: 'string' }],
    ['a limit that JSON cannot write', { maximum: Number.POSITIVE_INFINITY }, {}],
    ['a limit that is no number', { maximum: '3' }, {}],
    ['an unknown type', { type: 'tuple' }, {}],
    ['values that are objects', { enum: [{ a: 1 }] }, {}],
    ['a choice of nothing', { anyOf: [] }, {}],
    ['a reference to elsewhere', { $ref: 'http://x/y.json', title: 'It' }, { title: 'It' }],
  ])('leaves out %s', (_, schema, left) => {
    expect(kept(schema)).toEqual(left)
  })

  it('inlines its definitions, overridden by the keywords beside a reference', () => {
    const more = { $defs: { day: { type: 'string', title: 'A day' } } }
    expect(kept({ $ref: '#/$defs/day', title: 'The day' }, more)).toEqual({
      ...{ type: 'string', title: 'The day' },
    })
    expect(kept({ $ref: '#/$defs/toString' }, more)).toEqual({})
  })

  it.each(['properties', 'items', 'additionalProperties', 'anyOf'])(
    'keeps eight levels of %s and leaves deeper ones open',
    (key) => {
      const inside = (schema: object): object => {
        if (key === 'properties') return { properties: { p: schema } }
        return { [key]: key === 'anyOf' ? [schema] : schema }
      }
      const nested = (levels: number): object =>
        levels === 0 ? { type: 'string' } : inside(nested(levels - 1))
      const open = (levels: number): object => (levels === 0 ? {} : inside(open(levels - 1)))
      expect(kept(nested(7))).toEqual(nested(7))
      expect(kept(nested(8))).toEqual(open(8))
    },
  )

  it('gives a list the item type that providers require', () => {
    expect(kept({ type: 'array' })).toEqual({ type: 'array', items: {} })
  })

  it('requires only what it describes, each name once', () => {
    const schema = { properties: { a: {}, 'b c': {} }, required: ['a', 'a', 'b c', 'd'] }
    expect(safeSchema(schema)).toEqual({ type: 'object', properties: { a: {} }, required: ['a'] })
  })

  it('is that of an object in any case', () => {
    expect(safeSchema({ anyOf: [{ type: 'string' }] })).toEqual({ type: 'object', properties: {} })
    expect(safeSchema('nonsense')).toEqual({ type: 'object', properties: {} })
  })
})
