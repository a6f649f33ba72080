import { setFlagsFromString } from 'node:v8'

/**
 * By default V8 uses up to 128 MB for new objects. The few megabytes that it starts with give the same
 * speed, and each collection of them is shorter: with 500 sessions that talk at once, the longest took
 * 14 to 20 ms instead of 15 to 32 (11 runs of each, `npm run bench:sessions`).
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
