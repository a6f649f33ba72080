import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { readSource } from '../tidy/source.ts'

/** Which test files reach a source, the nearest first: by imports, and by files that are run. */
export class TestGraph {
  /** Of each file, those that import or run it. */
  readonly #users = new Map<string, Set<string>>()

  constructor(root: string) {
    const sources = '{packages/*/src,packages/server/bin,test,bench,examples}/**/*.{ts,js}'
    const files = globSync(sources, { cwd: root })
    const published = publishedFiles(root)
    for (const file of files.map((each) => each.replaceAll('\\', '/'))) {
      const { imports, mentions } = readSource(file, readFileSync(join(root, file), 'utf8'))
      const loaded = imports.filter(({ typeOnly }) => !typeOnly).map(({ target }) => target)
      for (const target of [...loaded, ...mentions]) {
        this.#add(published.get(target) ?? target, file)
      }
    }
    // The command is found by its name at run time, from sources or from what was built.
    this.#add('packages/server/src/cli/main.ts', 'packages/server/bin/throughline.js')
  }

  #add(target: string, user: string): void {
    const users = this.#users.get(target)
    if (users === undefined) this.#users.set(target, new Set([user]))
    else users.add(user)
  }

  /**
   * Tests sit beside what they test, so those of the same folder come first, then those of the folder
   * above; within a folder those that import the file, then those that import what imports it, …
   */
  testsOf(file: string): string[] {
    const tests: string[] = []
    const seen = new Set([file])
    let edge = [file]
    while (edge.length > 0) {
      const next = edge.flatMap((each) => [...(this.#users.get(each) ?? [])])
      edge = [...new Set(next)].filter((each) => !seen.has(each))
      for (const each of edge) seen.add(each)
      tests.push(...edge.filter((each) => each.endsWith('.test.ts')).sort())
    }
    return tests.sort((a, b) => foldersShared(b, file) - foldersShared(a, file))
  }
}

/** The files behind names such as `@throughline/core/agent`, which examples and other programs import. */
function publishedFiles(root: string): ReadonlyMap<string, string> {
  const folder = 'packages/core'
  const { name, exports } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  ) as { readonly name: string; readonly exports: { readonly [entry: string]: string } }
  return new Map(
    Object.entries(exports).map(([entry, file]) => [
      posix.join(name, entry),
      posix.join(folder, file),
    ]),
  )
}

/** `test/` stands before folders that share only the package, which test other things. */
function foldersShared(test: string, file: string): number {
  if (test.startsWith('test/')) return PACKAGE_FOLDERS + 0.5
  const folders = file.split('/').slice(0, -1)
  const other = test.split('/')
  const at = folders.findIndex((folder, index) => folder !== other[index])
  return at === -1 ? folders.length : at
}

/** `packages/core/src` */
const PACKAGE_FOLDERS = 3
