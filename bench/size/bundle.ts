import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

export interface Bundle {
  readonly bytes: number
  readonly gzipped: number
  readonly code: string
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
  await build.close()
  const [{ code, imports, dynamicImports }] = output
  return {
    code,
    bytes: Buffer.byteLength(code),
    gzipped: gzipSync(code).length,
    imports: [...imports, ...dynamicImports],
  }
}

const core = '../../packages/core/src'

export const PROGRAMS: { readonly [name: string]: string } = {
  'compactMessages, openaiChat': `
    export { compactMessages } from '${core}/index.ts'
    export { openaiChat } from '${core}/agent/formats/openai.ts'`,
  'compactMessages, all formats': `
    export { compactMessages } from '${core}/index.ts'
    export { openaiChat, openaiResponses } from '${core}/agent/formats/openai.ts'
    export { anthropic } from '${core}/agent/formats/anthropic.ts'
    export { gemini } from '${core}/agent/formats/gemini.ts'
    export { aiSdk } from '${core}/agent/formats/ai-sdk.ts'`,
  'isThroughlineError alone': `export { isThroughlineError } from '${core}/index.ts'`,
}
