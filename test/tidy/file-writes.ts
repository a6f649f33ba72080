import type { Source } from './source.ts'

/** The functions of node:fs that write to a path, or exchange what is there. */
const WRITES =
  /^(?:\*|default|promises|(?:writeFile|appendFile|createWriteStream|copyFile|cp|truncate|rename|link|symlink|mkdir|chmod|utimes)(?:Sync)?)$/
const OPENS = /^open(?:Sync)?$/
const CALL = /(?<![.\w#])open(?:Sync)?\(([^()]*(?:\([^()]*\)[^()]*)*)\)/g
const READS = /^[^,]*(?:,\s*(?:'r'|constants\.O_RDONLY\b[^,]*))?$/

/**
 * A path that a user, a configuration or the environment names is written by
 * `core/base/files/write.ts` alone, which keeps links, pipes and files of other users out.
 * `allowed` names the functions that a file may use nevertheless, with the reason beside it there.
 */
export function findFileWrites(
  sources: readonly Source[],
  textOf: (path: string) => string,
  allowed: Readonly<Record<string, readonly string[]>>,
): string[] {
  return sources.flatMap(({ path, imports }) => {
    if (!/^packages\/(?:core|server)\/src\//.test(path) || path.endsWith('.test.ts')) return []
    if (path.startsWith('packages/core/src/base/files/')) return []
    const names = imports.flatMap(({ target, names: each }) =>
      /^(?:node:)?fs(?:\/promises)?$/.test(target) ? each : [],
    )
    const opens = names.some((name) => OPENS.test(name)) ? callsToWrite(textOf(path)) : []
    const found = [...names.filter((name) => WRITES.test(name)), ...opens]
    const may = allowed[path] ?? []
    return [
      ...found
        .filter((name) => !may.includes(name))
        .map((name) => `${path} uses ${name}: write through core/base/files/write.ts`),
      ...may
        .filter((name) => !found.includes(name))
        .map((name) => `${path} does not use ${name} and need not be listed with it`),
    ]
  })
}

function callsToWrite(text: string): readonly string[] {
  const isWritten = [...text.matchAll(CALL)].some(([, args = '']) => !READS.test(args.trim()))
  return isWritten ? ['open'] : []
}
