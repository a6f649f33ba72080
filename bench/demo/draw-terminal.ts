/** A terminal's output as an SVG picture: its lines, wrapped as a terminal wraps them, in its colours. */
const COLUMNS = 104
const [CELL, LINE, EDGE] = [8.4, 19, 18]
const COLOURS: Readonly<Record<string, string>> = {
  ...{ 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 35: '#d2a8ff', 36: '#79c0ff' },
}

interface Style {
  readonly colour: string | undefined
  readonly isBold: boolean
}

interface Piece extends Style {
  readonly text: string
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const COLOUR = /\u001b\[([\d;]*)m/

const PLAIN: Style = { colour: undefined, isBold: false }

export function drawTerminal(output: string): string {
  const rows = output.split('\n').flatMap((line) => wrap(piecesOf(line)))
  const width = Math.ceil(COLUMNS * CELL + 2 * EDGE)
  const height = rows.length * LINE + 2 * EDGE
  const texts = rows.map((row, index) => drawRow(row, EDGE + (index + 0.75) * LINE))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The output of throughline demo">`,
    `<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>`,
    '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#c9d1d9" xml:space="preserve" style="white-space:pre">',
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function drawRow(row: readonly Piece[], y: number): string {
  const spans = row.map(({ text, colour, isBold }) => {
    const fill = colour === undefined ? '' : ` fill="${colour}"`
    const weight = isBold ? ' font-weight="bold"' : ''
    return `<tspan${fill}${weight}>${escapeXml(text)}</tspan>`
  })
  return `<text x="${EDGE}" y="${y}">${spans.join('')}</text>`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Splits a line at its colour sequences, which are left out. */
function piecesOf(line: string): readonly Piece[] {
  const pieces: Piece[] = []
  let style = PLAIN
  for (const [index, part] of line.split(COLOUR).entries()) {
    // Every second part is the code between two texts.
    if (index % 2 === 1) style = styleAfter(style, part)
    else if (part !== '') pieces.push({ ...style, text: part })
  }
  return pieces
}

function styleAfter(style: Style, code: string): Style {
  if (code === '1') return { ...style, isBold: true }
  if (code === '22') return { ...style, isBold: false }
  if (code === '39') return { ...style, colour: undefined }
  if (code === '0') return PLAIN
  return { ...style, colour: COLOURS[code] ?? style.colour }
}

function wrap(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const rows: Piece[][] = [[]]
  let used = 0
  for (const { text, ...style } of pieces) {
    for (let rest = text; rest !== ''; ) {
      if (used === COLUMNS) {
        rows.push([])
        used = 0
      }
      const taken = rest.slice(0, COLUMNS - used)
      rows.at(-1)?.push({ ...style, text: taken })
      used += taken.length
      rest = rest.slice(taken.length)
    }
  }
  return rows
}
