import type { Mutant } from '../mutant.ts'

export const noMargin: Mutant = {
  name: 'no-margin',
  story: 'The owner relies on its lease to the last moment and beyond.',
  seed: 40,
  plant: (sound) => ({ ...sound, lease: { ...sound.lease, marginMs: -6_000 } }),
}
