import { it } from 'vitest'
import { proveSeeds } from './prove.ts'

const SEEDS = 10_000

it(`the simulation keeps every law after every step of ${SEEDS} seeds`, async () => {
  await proveSeeds({ least: SEEDS, most: SEEDS })
}, 1_000_000)
