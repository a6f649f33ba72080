import type { Mutant } from '../mutant.ts'

export const dismissesTheLiving: Mutant = {
  name: 'dismisses-the-living',
  story: 'A runner is called dead whose process lives.',
  plant: (sound) => ({
    ...sound,
    isGone: () => true,
  }),
}
