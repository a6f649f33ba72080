import { describe, expect, it } from 'vitest'
import { table } from './table.ts'

interface Row {
  readonly id: string
  readonly count: number
  readonly words: readonly string[]
}

describe('table', () => {
  it('lists one column per field', () => {
    const { fields } = table<Row, Row & { readonly busy: boolean }>('row', {
      id: ['id', 'text'],
      count: ['how_many', 'integer'],
      words: ['words', 'json'],
      busy: ['busy', 'flag', 'write-only'],
    })
    expect(fields.map(({ column, kind, isWriteOnly }) => [column, kind, isWriteOnly])).toEqual([
      ['id', 'text', false],
      ['how_many', 'integer', false],
      ['words', 'json', false],
      ['busy', 'flag', true],
    ])
  })

  it('does not compile with a field that is missing, of another kind, or never read', () => {
    const [id, count, words] = [
      ['id', 'text'],
      ['count', 'integer'],
      ['words', 'json'],
    ] as const
    const broken = () => [
      // @ts-expect-error: `words` is forgotten.
      table<Row>('row', { id, count }),
      // @ts-expect-error: `count` is a number.
      table<Row>('row', { id, count: ['count', 'text'], words }),
      // @ts-expect-error: `tag` is no field of the row.
      table<Row>('row', { id, count, words, tag: ['tag', 'text'] }),
      // @ts-expect-error: a row that is read has no `tag`, and the line does not say so.
      table<Row, Row & { readonly tag: string }>('row', { id, count, words, tag: ['tag', 'text'] }),
    ]
    expect(broken).toBeTypeOf('function')
  })
})
