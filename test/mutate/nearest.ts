import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSource } from '../tidy/source.ts'

/** Which test files reach a source, the nearest first: by imports, and by files that are run. */
export class TestGraph {
  /** Of each file, those that import or run it. */
  readonly #users = new Map<string, Set<string>>()

  constructor(root: string) {
    const files = globSync('{packages/*/src,packages/server/bin,test,bench}/**/*.{ts,js}', {
      cwd: root,
    })
    for (const file of files.map((each) => each.replaceAll('\\', '/'))) {
      const { imports, mentions } = readSource(file, readFileSync(join(root, file), 'utf8'))
      const own = imports.filter((each) => each.own && !each.typeOnly).map(({ target }) => target)
      for (const target of [...own, ...mentions]) this.#add(target, file)
    }
    // The command is found by its name at run time, from sources or from what was built.
    this.#add('packages/server/src/cli/main.ts', 'packages/server/bin/throughline.js')
  }

  #add(target: string, user: string): void {
    const users = this.#users.get(target)
    if (users === undefined) this.#users.set(target, new Set([user]))
    else users.add(user)
  }

  /** Tests in layers: those of the same folder and of direct users, then of users of users, … */
  testsOf(file: string): string[][] {
    const folder = file.slice(0, file.lastIndexOf('/') + 1)
    const layers: string[][] = []
    const seen = new Set([file])
    let edge = [file]
    while (edge.length > 0) {
      const next = edge.flatMap((each) => [...(this.#users.get(each) ?? [])])
      edge = [...new Set(next)].filter((each) => !seen.has(each))
      for (const each of edge) seen.add(each)
      const tests = edge.filter((each) => each.endsWith('.test.ts'))
      layers.push(tests.sort(byNearness(folder)))
    }
    return layers.filter((layer) => layer.length > 0)
  }
}

/** Tests of the same folder first; `test/` before other folders of the packages, which test other things. */
function byNearness(folder: string): (a: string, b: string) => number {
  const rank = (test: string) => (test.startsWith(folder) ? 0 : test.startsWith('test/') ? 1 : 2)
  return (a, b) => rank(a) - rank(b) || a.localeCompare(b)
}
