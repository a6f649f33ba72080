import type { Colour, Paint } from './colours.ts'

/** A text table: columns as wide as their content, two spaces between them. */
export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** When a table is too wide, columns yield in this order; default: never. */
  readonly yields?: number
  /** It yields by shrinking to this width; default: it is left out. */
  readonly least?: number
  /** Shortened without a sign; default: with an ellipsis. */
  readonly cut?: 'bare'
}

export type Cell = string | { readonly text: string; readonly colour: Colour }

/** `width`: of the terminal; default: as wide as it needs to be. */
export function drawTable(
  allColumns: readonly Column[],
  allRows: readonly (readonly Cell[])[],
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
): string {
  const natural = allColumns.map(({ title }, at) =>
    Math.max(...[title, ...allRows.map((row) => textOf(row[at]))].map(widthOf)),
  )
  const fitted = fitWidths(allColumns, natural, width)
  const shown = <Each>(cells: readonly Each[]) => cells.filter((_, at) => (fitted[at] ?? 0) > 0)
  const columns = shown(allColumns)
  const widths = shown(fitted)
  const rows = allRows.map((row) => shown(row))
  const clip = (text: string, at: number) => {
    const characters = [...text]
    const most = widths[at] ?? 0
    if (characters.length <= most) return text
    if (columns[at]?.cut === 'bare') return characters.slice(0, most).join('')
    return `${characters.slice(0, most - 1).join('')}…`
  }
  const line = (cells: readonly string[], painted: (text: string, at: number) => string) =>
    columns
      .map(({ align }, at) => {
        const text = clip(cells[at] ?? '', at)
        const gap = ' '.repeat((widths[at] ?? 0) - widthOf(text))
        // Padding stays outside the colour codes, which have no width.
        return align === 'right' ? gap + painted(text, at) : painted(text, at) + gap
      })
      .join(' '.repeat(GAP))
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

const GAP = 2

/** 0: the column is left out. The last column takes the room that is left. */
function fitWidths(
  columns: readonly Column[],
  natural: readonly number[],
  available: number,
): readonly number[] {
  const widths = [...natural]
  const total = () => {
    const shown = widths.filter((width) => width > 0)
    return shown.reduce((sum, width) => sum + width, 0) + GAP * (shown.length - 1)
  }
  const order = columns
    .flatMap(({ yields, least = 0 }, at) => (yields === undefined ? [] : [{ yields, least, at }]))
    .sort((a, b) => a.yields - b.yields)
  for (const { at, least } of order) {
    if (total() <= available) break
    widths[at] = Math.min(widths[at] ?? 0, least)
  }
  const last = widths.length - 1
  const room = (widths[last] ?? 0) + available - total()
  widths[last] = Math.max(1, Math.min(natural[last] ?? 0, room))
  return widths
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '')
}

/** Characters as people count them; wide scripts may still shift a column. */
function widthOf(text: string): number {
  return [...text].length
}
