import type { Colour, Paint } from './colours.ts'

/** A text table: columns as wide as their content, two spaces between them. */
export interface Column {
  readonly title: string
  readonly align?: 'right'
}

export type Cell = string | { readonly text: string; readonly colour: Colour }

export function drawTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
): string {
  const widths = columns.map(({ title }, at) =>
    Math.max(...[title, ...rows.map((row) => textOf(row[at]))].map(widthOf)),
  )
  const line = (cells: readonly string[], painted: (text: string, at: number) => string) =>
    columns
      .map(({ align }, at) => {
        const text = cells[at] ?? ''
        const gap = ' '.repeat((widths[at] ?? 0) - widthOf(text))
        // Padding stays outside the colour codes, which have no width.
        return align === 'right' ? gap + painted(text, at) : painted(text, at) + gap
      })
      .join('  ')
      .trimEnd()
  const titles = line(
    columns.map((column) => column.title),
    (text) => paint('dim', text),
  )
  const body = rows.map((row) =>
    line(row.map(textOf), (text, at) => {
      const cell = row[at]
      return typeof cell === 'object' ? paint(cell.colour, text) : text
    }),
  )
  return `${[titles, ...body].join('\n')}\n`
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '')
}

/** Characters as people count them; wide scripts may still shift a column. */
function widthOf(text: string): number {
  return [...text].length
}
