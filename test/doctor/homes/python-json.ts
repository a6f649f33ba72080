/**
 * Writes JSON as Python's `json.dumps` does, by rules of its own: the rows of test homes must not be
 * written by the code that reads them. `pythonJson.test.ts` holds it against Python where there is one.
 */
export type Py = null | boolean | number | string | bigint | PyFloat | readonly Py[] | PyDict
export interface PyDict {
  readonly [key: string]: Py
}

/** A number that Python holds as a float, so that 1 is written 1.0. */
export class PyFloat {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

export function dumps(value: Py, { ensureAscii = true } = {}): string {
  if (value === null) return 'null'
  if (value === true) return 'true'
  if (value === false) return 'false'
  if (value instanceof PyFloat) return floatRepr(value.value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number')
    return Number.isInteger(value) ? String(BigInt(value)) : floatRepr(value)
  if (typeof value === 'string') return quote(value, ensureAscii)
  if (Array.isArray(value)) {
    return `[${value.map((item: Py) => dumps(item, { ensureAscii })).join(', ')}]`
  }
  const members = Object.keys(value).map((key) => {
    return `${quote(key, ensureAscii)}: ${dumps((value as PyDict)[key] ?? null, { ensureAscii })}`
  })
  return `{${members.join(', ')}}`
}

const SHORT: { readonly [char: string]: string } = {
  ...{ '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' },
  ...{ '\f': '\\f', '\b': '\\b' },
}

function quote(text: string, ensureAscii: boolean): string {
  let quoted = '"'
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const char = text.charAt(at)
    const isPlain = unit >= 0x20 && (ensureAscii ? unit < 0x7f : true)
    quoted += SHORT[char] ?? (isPlain ? char : `\\u${unit.toString(16).padStart(4, '0')}`)
  }
  return `${quoted}"`
}

/** Python's `repr` of a float: an exponent below 1e-4 and from 1e16 on, with two digits at least. */
function floatRepr(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  if (Object.is(value, -0)) return '-0.0'
  const size = Math.abs(value)
  if (value === 0 || (size >= 1e-4 && size < 1e16)) {
    const plain = String(value)
    return plain.includes('.') ? plain : `${plain}.0`
  }
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  const sign = power < 0 ? '-' : '+'
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`
}
