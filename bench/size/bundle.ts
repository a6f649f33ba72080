import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type RolldownOutput, rolldown } from 'rolldown'

export interface Bundle {
  readonly bytes: number
  readonly gzipped: number
  /** Without what is loaded later, as a bundler that splits code leaves it. */
  readonly initialGzipped: number
  readonly code: string
  /** The files that a bundler that splits code leaves, by name; the first is the program. */
  readonly files: ReadonlyMap<string, string>
  /** What the bundle still imports: with one `node:` among them it runs in no browser. */
  readonly imports: readonly string[]
}

const ENTRY = join(import.meta.dirname, 'entry.ts')

/** Bundles and minifies a program that holds these lines, for a platform without Node. */
export async function bundle(program: string): Promise<Bundle> {
  const build = await rolldown({
    input: ENTRY,
    platform: 'neutral',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? program : null),
      },
    ],
    external: [/^node:/],
    logLevel: 'silent',
  })
  const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false })
  const split = await build.generate({ format: 'esm', minify: true })
  await build.close()
  const [{ code, fileName, imports, dynamicImports }] = output
  return {
    code,
    bytes: Buffer.byteLength(code),
    gzipped: gzipSync(code).length,
    initialGzipped: initial(split.output),
    files: new Map(
      split.output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code]] : [])),
    ),
    // What is loaded later is in the same file here.
    imports: [...imports, ...dynamicImports].filter((name) => name !== fileName),
  }
}

/** The entry and what it imports at once. */
function initial([entry, ...others]: RolldownOutput['output']): number {
  const files = new Map(others.map((file) => [file.fileName, file]))
  let sum = 0
  const add = (file: (typeof others)[number] | undefined) => {
    if (file?.type !== 'chunk' || !files.delete(file.fileName)) return
    sum += gzipSync(file.code).length
    for (const name of file.imports) add(files.get(name))
  }
  files.set(entry.fileName, entry)
  add(entry)
  return sum
}

const core = '../../packages/core/src'

export const PROGRAMS: { readonly [name: string]: string } = {
  'compactMessages, openaiChat': `
    export { compactMessages } from '${core}/index.ts'
    export { openaiChat } from '${core}/agent/typed-formats/openai.ts'`,
  'compactMessages, all formats': `
    export { compactMessages } from '${core}/index.ts'
    export { openaiChat, openaiResponses } from '${core}/agent/typed-formats/openai.ts'
    export { anthropic } from '${core}/agent/typed-formats/anthropic.ts'
    export { gemini } from '${core}/agent/typed-formats/gemini.ts'
    export { aiSdk } from '${core}/agent/typed-formats/ai-sdk.ts'`,
  'isThroughlineError alone': `export { isThroughlineError } from '${core}/index.ts'`,
}

/** The program with the imports from a folder of compiled files instead of the sources. */
export function ofPublished(program: string, dist: string): string {
  return program.replaceAll(core, dist).replaceAll(".ts'", ".js'")
}
