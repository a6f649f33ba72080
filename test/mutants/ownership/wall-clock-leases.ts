import type { Mutant } from '../mutant.ts'

export const wallClockLeases: Mutant = {
  name: 'wall-clock-leases',
  seed: 31,
  story: 'Leases are counted with the wall clock, which jumps.',
  plant: (sound) => ({ ...sound, leaseClock: 'wall' }),
}
