const CHANGE = /\b(create|drop|alter) (?:virtual )?table (\w+)(?: rename to (\w+))?/g

/** The names of the tables that exist after these migrations. */
export function tablesAfter(migrations: readonly string[]): readonly string[] {
  const tables = new Set<string>()
  for (const [, verb, name = '', renamed] of migrations.join('\n').matchAll(CHANGE)) {
    if (verb === 'create') tables.add(name)
    if (verb === 'drop' || renamed !== undefined) tables.delete(name)
    if (renamed !== undefined) tables.add(renamed)
  }
  return [...tables]
}

/** The damage of a store that lacks one of these tables; null: it has all of them. */
export function missingTables(
  migrations: readonly string[],
  present: ReadonlySet<unknown>,
): string | null {
  const missing = tablesAfter(migrations).filter((table) => !present.has(table))
  if (missing.length === 0) return null
  return missing.length === 1
    ? `its table ${missing[0]} is missing`
    : `its tables ${missing.join(', ')} are missing`
}

export function isMissingTables(problem: string): boolean {
  return /^its tables? .* missing$/.test(problem)
}

/** The damage of a store whose tables are not those of the schema that it names. */
export function misfit(schema: number, problem: string): string {
  return `its schema number is ${schema}, but its tables do not match that schema (${problem}). Nothing was changed. Restore a backup, or set the number back if somebody changed it.`
}
