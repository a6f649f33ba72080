/** Exit codes. Tests compare README and docs/guides/commands.md with them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  nothingToCut: 3,
  cannotFit: 4,
} as const
