import { stringify } from 'yaml'
import type { Loaded } from './load.ts'
import { type ConfigOrigin, type Path, pathText } from './read/problem.ts'
import { displayValue, withoutSecrets } from './read/secrets.ts'

/** One value in effect and its source, for display. */
export interface ConfigSetting {
  readonly key: string
  readonly value: unknown
  readonly origin: ConfigOrigin
}

/** Every value in effect, in the order of the schema. */
export function listSettings({ config, originOf }: Loaded): readonly ConfigSetting[] {
  const walk = (value: unknown, path: Path): readonly ConfigSetting[] => {
    if (value === undefined) return []
    if (isFilled(value)) {
      return Object.entries(value).flatMap(([key, each]) => walk(each, [...path, key]))
    }
    const displayed = Array.isArray(value) ? displayTree(value, path) : displayValue(value, path)
    return [{ key: withoutSecrets(pathText(path)), value: displayed, origin: originOf(path) }]
  }
  return walk(config, [])
}

/** The same as a tree. */
export function displayConfig({ config }: Pick<Loaded, 'config'>): unknown {
  return displayTree(config, [])
}

/** The same as YAML; valid except for masked values. */
export function configText(loaded: Pick<Loaded, 'config'>): string {
  return stringify(displayConfig(loaded), { lineWidth: 0 })
}

function displayTree(value: unknown, path: Path, before?: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item, at) => displayTree(item, [...path, at], value[at - 1]))
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        return [withoutSecrets(key), displayTree(each, [...path, key])]
      }),
    )
  }
  return displayValue(value, path, before)
}

function isFilled(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0
  )
}
