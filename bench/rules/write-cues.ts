import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeLexicons } from './lexicons.ts'

/** The first half of `npm run eval:rules:fit`: `rules/cues/cues.ts`, by which the features are found. */
const target = join(import.meta.dirname, '../../packages/core/src/compaction/rules/cues/cues.ts')
const { words, phrases } = writeLexicons()
writeFileSync(
  target,
  `/** Made by \`npm run eval:rules:fit\` from \`bench/rules/lexicons\`: the kinds of cues and their words. */
export const CUE_WORDS: string =
  '${words}'

export const CUE_PHRASES: string =
  '${phrases}'
`,
)
console.log(`cues: ${target}`)
