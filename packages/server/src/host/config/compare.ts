import { needsStandIn } from './agents-of.ts'
import { type Path, pathText } from './read/problem.ts'
import type { Config } from './schema/schema.ts'
import { needsRestartAt } from './schema/walk.ts'

/** What a changed file changes: the keys that take effect now, and those that wait for a restart. */
export interface ConfigChange {
  readonly applies: readonly string[]
  readonly needsRestart: readonly string[]
}

/** `started` is the configuration that the process started with. */
export function compareConfigs(
  before: Config,
  after: Config,
  started: Config = before,
): ConfigChange {
  const changed = differences(before, after, [])
  const isStandInNew = needsStandIn(after) && !needsStandIn(started)
  const isDeferred = (path: Path) =>
    needsRestartAt(path) || (isStandInNew && namesStandIn(valueAt(after, path)))
  const names = (paths: readonly Path[]) => [...new Set(paths.map(pathText))].sort()
  return {
    applies: names(changed.filter((path) => !isDeferred(path))),
    needsRestart: names(changed.filter(isDeferred)),
  }
}

/** The stand-in's server starts with the process, and only if something uses it. */
function namesStandIn(value: unknown): boolean {
  return JSON.stringify(value)?.includes('"stand-in"') === true
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (isMap(at) ? at[key] : undefined), value)
}

function differences(before: unknown, after: unknown, path: Path): readonly Path[] {
  if (!isMap(before) || !isMap(after)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path]
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]))
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
