import type { Tree } from './rules.ts'

/** Vitest's own way to wait gives up after a second unless told otherwise. */
const HASTY = /\bvi\.(?:waitFor|waitUntil)\(/
/** An upper bound on a time that was measured. Ratios of processor time within one run hold anywhere. */
const BOUND =
  /expect\((?!costOfTenfold|fastestMs)(?:[^\n]*\W)?(?:performance\.now\(|Date\.now\(|\w*Ms\b|\w*At\b)[^\n]*\.toBeLess/

/**
 * Tests that fail because the machine is busy: they give up early, or expect something to be fast. The
 * listed files may bound a time, each for the reason beside it.
 */
export function findTimeBounds(tree: Tree, allowed: Readonly<Record<string, string>>): string[] {
  const tests = [...tree].filter(
    // The rule's own examples are in the test of the rules.
    ([path]) => /^test\/|\.test\.ts$/.test(path) && path !== 'test/tidy.test.ts',
  )
  const bounding = tests.filter(([, text]) => BOUND.test(text)).map(([path]) => path)
  return [
    ...tests
      .filter(([, text]) => HASTY.test(text))
      .map(([path]) => `${path} waits by vi.waitFor or vi.waitUntil: use expect.poll`),
    ...bounding
      .filter((path) => !(path in allowed))
      .map((path) => `${path} bounds a time, and fails on a slow machine`),
    ...Object.keys(allowed)
      .filter((path) => !bounding.includes(path))
      .map((path) => `${path} bounds no time and need not be listed`),
  ]
}
