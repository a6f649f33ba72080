import { hash } from 'node:crypto'
import type { JsonValue } from '../../base/json.ts'
import { InvalidBodyError } from '../errors.ts'

/**
 * One text per value: sorted keys, no whitespace, lone surrogates replaced. Engines store and hash
 * this text. SQLite would replace a lone surrogate silently, and the hash would no longer match.
 */
export const DEPTH_MAX = 256

export function canonicalJson(value: JsonValue): string {
  return write(value, 0)
}

export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text)
}

function write(value: JsonValue | undefined, depth: number): string {
  if (depth > DEPTH_MAX) {
    throw new InvalidBodyError({ problem: `is nested deeper than ${DEPTH_MAX} levels` })
  }
  switch (typeof value) {
    case 'string':
      return writeString(value)
    case 'boolean':
      return String(value)
    case 'number':
      if (!Number.isFinite(value)) throw new InvalidBodyError({ problem: `holds ${value}` })
      return String(value)
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return writeArray(value, depth)
      return writeObject(value as { readonly [key: string]: JsonValue }, depth)
    default:
      throw new InvalidBodyError({ problem: `holds ${typeof value}, which JSON has no word for` })
  }
}

function writeArray(values: readonly JsonValue[], depth: number): string {
  let text = '['
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += ','
    text += write(values[index], depth + 1)
  }
  return `${text}]`
}

function writeObject(object: { readonly [key: string]: JsonValue }, depth: number): string {
  // Dates and maps have no own members and would silently become {}.
  if (Object.getPrototypeOf(object) !== Object.prototype) {
    const what = Object.prototype.toString.call(object).slice('[object '.length, -1)
    if (what !== 'Object') throw new InvalidBodyError({ problem: `holds a ${what}` })
  }
  let text = '{'
  for (const key of Object.keys(object).sort()) {
    const value = object[key]
    if (value === undefined) continue
    if (text.length > 1) text += ','
    text += `${writeString(key)}:${write(value, depth + 1)}`
  }
  return `${text}}`
}

/** Most strings are short and need no escapes: testing is cheaper than JSON.stringify. */
function writeString(text: string): string {
  return text.length < 100 && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text.toWellFormed())
}

const PLAIN = /^[ !#-[\]-~]*$/
