import { stringify } from 'yaml'
import type { Loaded } from './load.ts'
import { type Origin, type Path, pathText } from './read/problem.ts'
import { shownValue } from './read/secrets.ts'

/** One value in force, and who said it; fit to be shown. */
export interface Setting {
  readonly key: string
  readonly value: unknown
  readonly origin: Origin
}

/** Every value in force, in the order of the schema. */
export function listSettings({ config, originOf }: Loaded): readonly Setting[] {
  const walk = (value: unknown, path: Path): readonly Setting[] => {
    if (value === undefined) return []
    if (isFilled(value)) {
      return Object.entries(value).flatMap(([key, each]) => walk(each, [...path, key]))
    }
    const shown = Array.isArray(value) ? shownTree(value, path) : shownValue(value, path)
    return [{ key: pathText(path), value: shown, origin: originOf(path) }]
  }
  return walk(config, [])
}

/** The same as a tree. */
export function shownConfig({ config }: Pick<Loaded, 'config'>): unknown {
  return shownTree(config, [])
}

/** The same as a file; a valid one again, but for what is masked. */
export function configText(loaded: Pick<Loaded, 'config'>): string {
  return stringify(shownConfig(loaded), { lineWidth: 0 })
}

function shownTree(value: unknown, path: Path): unknown {
  if (Array.isArray(value)) return value.map((item, at) => shownTree(item, [...path, at]))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, shownTree(each, [...path, key])]),
    )
  }
  return shownValue(value, path)
}

function isFilled(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0
  )
}
