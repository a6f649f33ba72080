import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../../test/support/timing.ts'
import { type FoldRow, foldConversation } from './fold.ts'

function row(id: number, said: string, at: number, more: Partial<FoldRow> = {}): FoldRow {
  return { id, role: 'user', at, state: 'live', isHandoff: false, said, ...more }
}

const handoff = (id: number, at: number) => row(id, `handoff ${id}`, at, { isHandoff: true })

interface Given {
  readonly id: string
  readonly parentId: string | null
  readonly closedAt: number | null
  readonly isBranch?: boolean
  readonly rows: readonly FoldRow[]
}

function told(sessions: readonly Given[]) {
  const folded = foldConversation(sessions.map((one) => ({ ...one, rowCount: one.rows.length })))
  const entries = [...folded.entries()]
  const copies = [...folded.copies()]
  const rewound = [...folded.rewound()]
  expect(copies).toHaveLength(folded.copyCount)
  expect(entries.length + copies.length + rewound.length).toBe(folded.rowsIn)
  const compactions = entries.filter((one) => one.kind === 'compaction')
  return {
    ids: entries.map(({ rowId }) => rowId),
    copies: copies.map(({ rowId, ofRowId }) => [rowId, ofRowId]),
    rewound,
    restored: entries.flatMap((one) =>
      one.kind === 'message' && one.isRestored ? [one.rowId] : [],
    ),
    kept: compactions.map(({ keptRowIds }) => keptRowIds),
    keptFrom: compactions.map(({ keptFrom }) => keptFrom),
    beside: entries.flatMap((one) => (one.kind === 'beside' ? [one.rowId] : [])),
  }
}

describe('foldConversation', () => {
  it('lists a copied row once, in the place of its original, and lists the rows that the compaction kept', () => {
    const parent = { id: 'a', parentId: null, closedAt: 30, rows: [row(1, 'x', 1), row(2, 'y', 2)] }
    const child = {
      ...{ id: 'b', parentId: 'a' },
      closedAt: null,
      rows: [handoff(3, 30), row(4, 'y', 2), row(5, 'z', 40)],
    }
    expect(told([parent, child])).toMatchObject({
      ids: [1, 2, 3, 5],
      copies: [[4, 2]],
      kept: [[2]],
    })
  })

  it('recognizes copies with new times by their order after the handoff', () => {
    const parent = {
      id: 'a',
      parentId: null,
      closedAt: 30,
      rows: [row(1, 'x', 1), row(2, 'y', 2), row(3, 'x', 3)],
    }
    const rows = [handoff(4, 30), row(5, 'y', 30.1), row(6, 'x', 30.2), row(7, 'y', 90)]
    const child = { id: 'b', parentId: 'a', closedAt: null, rows }
    expect(told([parent, child])).toMatchObject({
      ids: [1, 2, 3, 4, 7],
      copies: [
        [5, 2],
        [6, 3],
      ],
    })
  })

  it('follows a copy of a copy to the original', () => {
    const first = { id: 'a', parentId: null, closedAt: 30, rows: [row(1, 'x', 1)] }
    const second = {
      id: 'b',
      parentId: 'a',
      closedAt: 60,
      rows: [handoff(2, 30), row(3, 'x', 30.1)],
    }
    const third = {
      id: 'c',
      parentId: 'b',
      closedAt: null,
      rows: [handoff(4, 60), row(5, 'x', 60.1)],
    }
    expect(told([first, second, third]).copies).toEqual([
      [3, 1],
      [5, 1],
    ])
  })

  it('does not treat a later repetition as a copy', () => {
    const parent = { id: 'a', parentId: null, closedAt: 30, rows: [row(1, 'ok', 1)] }
    const child = {
      id: 'b',
      parentId: 'a',
      closedAt: null,
      rows: [handoff(2, 30), row(3, 'ok', 60)],
    }
    expect(told([parent, child])).toMatchObject({ ids: [1, 2, 3], copies: [] })
  })

  it('puts rows delivered after the closing back in their place by time, never between a call and its result', () => {
    const parent = {
      id: 'a',
      parentId: null,
      closedAt: 30,
      rows: [row(1, 'x', 1), row(9, 'late', 50.5)],
    }
    const child = {
      ...{ id: 'b', parentId: 'a' },
      closedAt: null,
      rows: [
        handoff(2, 30),
        row(3, 'call', 50, { role: 'assistant' }),
        row(4, 'result', 51, { role: 'tool' }),
        row(5, 'after', 60),
      ],
    }
    expect(told([parent, child])).toMatchObject({ ids: [1, 2, 3, 4, 9, 5], restored: [9] })
  })

  it('uses an archived original instead of its live copy, and separates undone rows', () => {
    const rows = [
      row(1, 'x', 1, { state: 'archived' }),
      row(2, 'oops', 2, { state: 'rewound' }),
      row(3, 'y', 3, { state: 'archived' }),
      handoff(4, 30),
      row(5, 'y', 3),
      row(6, 'z', 40),
    ]
    expect(told([{ id: 'a', parentId: null, closedAt: null, rows }])).toMatchObject({
      ...{ ids: [1, 3, 4, 6], copies: [[5, 3]], rewound: [2], kept: [[3]] },
    })
  })

  it('lists the rows before the handoff that a rewrite left in the context', () => {
    const rows = [row(1, 'kept', 1), row(2, 'kept too', 1), handoff(3, 1), row(4, 'on', 2)]
    const session = { id: 'a', parentId: null, closedAt: null, rows }
    expect(told([session]).kept).toEqual([[1, 2]])
  })

  it('compares a fork with its parent, even if another fork lies between them', () => {
    const parent = { id: 'a', parentId: null, closedAt: 30, rows: [row(1, 'x', 1)] }
    const fork = { id: 'b', parentId: 'a', closedAt: null, rows: [handoff(2, 30)] }
    const rows = [handoff(3, 31), row(4, 'x', 31.1)]
    const tip = { id: 'c', parentId: 'a', closedAt: null, rows }
    expect(told([parent, fork, tip]).copies).toEqual([[4, 1]])
  })

  it('inserts rows of a branch by time, calls with their results', () => {
    const parent = { id: 'a', parentId: null, closedAt: 30, rows: [row(1, 'x', 1), row(2, 'y', 2)] }
    const branch = {
      ...{ id: 'b', parentId: 'a', closedAt: null, isBranch: true },
      rows: [
        handoff(3, 30),
        row(4, 'y', 2),
        row(5, 'call', 40, { role: 'assistant' }),
        row(8, 'result', 44, { role: 'tool' }),
      ],
    }
    const rows = [handoff(6, 31), row(7, 'y', 2), row(9, 'on', 42), row(10, 'and on', 50)]
    const tip = { id: 'c', parentId: 'a', closedAt: null, rows }
    expect(told([parent, branch, tip])).toEqual({
      ids: [1, 2, 3, 6, 5, 8, 9, 10],
      copies: [
        [4, 2],
        [7, 2],
      ],
      ...{ rewound: [], restored: [], kept: [[2]], keptFrom: [2], beside: [3] },
    })
  })

  it('distinguishes the kept end from a kept beginning', () => {
    const archived = { state: 'archived' } as const
    const rows = [
      ...[row(1, 'first', 1, archived), row(2, 'x', 2, archived), row(3, 'y', 3, archived)],
      ...[handoff(4, 30), row(5, 'first', 1), row(6, 'y', 3)],
    ]
    const session = { id: 'a', parentId: null, closedAt: null, rows }
    expect(told([session])).toMatchObject({ kept: [[1, 3]], keptFrom: [3] })
  })

  it('counts the rows that an older handoff kept as part of the kept end if that handoff was copied too', () => {
    const first = { id: 'a', parentId: null, closedAt: 30, rows: [row(1, 'x', 1), row(2, 'y', 2)] }
    const second = {
      ...{ id: 'b', parentId: 'a', closedAt: 60 },
      rows: [handoff(3, 30), row(4, 'y', 2), row(5, 'z', 40)],
    }
    const carried = row(7, 'handoff 3', 30, { isHandoff: true })
    const rows = [handoff(6, 60), carried, row(8, 'y', 2), row(9, 'z', 40)]
    const third = { id: 'c', parentId: 'b', closedAt: null, rows }
    expect(told([first, second, third]).keptFrom).toEqual([2, 2])
  })

  it('recognizes the first messages that a continuation repeats before its handoff', () => {
    const rows = [row(1, 'x', 1), row(2, 'y', 2), row(3, 'z', 3), row(4, 'w', 4)]
    const parent = { id: 'a', parentId: null, closedAt: 30, rows }
    const written = [row(5, 'x', 30), row(6, 'y', 30.1), handoff(7, 30.2), row(8, 'w', 30.3)]
    const child = { id: 'b', parentId: 'a', closedAt: null, rows: [...written, row(9, 'on', 60)] }
    expect(told([parent, child])).toMatchObject({
      ids: [1, 2, 3, 4, 7, 9],
      copies: [
        [5, 1],
        [6, 2],
        [8, 4],
      ],
      ...{ kept: [[1, 2, 4]], keptFrom: [4] },
    })
    const others = [row(5, 'x', 30), row(6, 'else', 30.1), handoff(7, 30.2), row(8, 'w', 30.3)]
    expect(told([parent, { ...child, rows: others }]).copies).toEqual([])
  })

  it('recognizes copies in the same session that have the time of the compaction', () => {
    const archived = { state: 'archived' } as const
    const before = ['x', 'y', 'z', 'w'].map((said, at) => row(at + 1, said, at + 1, archived))
    const at = (step: number) => 30 + step * 1e-6
    const written = [row(5, 'x', at(0)), handoff(6, at(1)), row(7, 'z', at(2)), row(8, 'w', at(3))]
    const session = { id: 'a', parentId: null, closedAt: null }
    expect(told([{ ...session, rows: [...before, ...written, row(9, 'w', 60)] }])).toMatchObject({
      ids: [1, 2, 3, 4, 6, 9],
      copies: [
        [5, 1],
        [7, 3],
        [8, 4],
      ],
      ...{ kept: [[1, 3, 4]], keptFrom: [3] },
    })
    // A second later it is the same text said again, not a copy.
    const later = [handoff(6, 30), row(7, 'z', 31), row(8, 'w', 32)]
    expect(told([{ ...session, rows: [...before, ...later] }]).copies).toEqual([])
  })

  it('does not treat the original of a copy as undone', () => {
    const rewound = { state: 'rewound' } as const
    const rows = [
      ...[row(1, 'x', 1, { state: 'archived' }), row(2, 'y', 2, rewound), row(3, 'z', 3, rewound)],
      ...[row(4, 'oops', 4, rewound), handoff(5, 30), row(6, 'y', 2), row(7, 'z', 3)],
    ]
    expect(told([{ id: 'a', parentId: null, closedAt: null, rows }])).toMatchObject({
      ids: [1, 2, 3, 5],
      copies: [
        [6, 2],
        [7, 3],
      ],
      ...{ rewound: [4], kept: [[2, 3]], keptFrom: [2] },
    })
  })

  it('folds a block of handoffs in linear time', () => {
    const prepare = (length: number) => {
      const rows = Array.from({ length }, (_, index) => handoff(index, index * 1e-6))
      return () => told([{ id: 'a', parentId: null, closedAt: null, rows }])
    }
    expect(costOfTenfold(prepare, { size: 1_000, floorMs: 2 })).toBeLessThan(20)
  })

  it('folds a long overlap in one walk', () => {
    const prepare = (length: number) => {
      const rows = Array.from({ length }, (_, index) => row(index, 'a', index))
      const again = rows.map((one) => row(one.id + 100_000, 'a', 30_000))
      const parent = { id: 'a', parentId: null, closedAt: 25_000, rows }
      const carried = [handoff(50_000, 30_000), ...again]
      const child = { id: 'b', parentId: 'a', closedAt: null, rows: carried }
      return () => expect(told([parent, child]).copies).toHaveLength(length)
    }
    expect(costOfTenfold(prepare, { size: 2_000, floorMs: 5 })).toBeLessThan(15)
  })
})
