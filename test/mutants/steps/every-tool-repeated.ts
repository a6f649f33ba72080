import type { Mutant } from '../mutant.ts'

export const everyToolRepeated: Mutant = {
  name: 'every-tool-repeated',
  seed: 14,
  story: 'After a take-over every open call is made again.',
  plant: (sound) => ({
    ...sound,
    tools: (tools) => ({ ...sound.tools(tools), isRepeatable: () => true }),
  }),
}
