/** What the program tells scripts. README and docs/guides/commands.md are held against it by tests. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  nothingToCut: 3,
  cannotFit: 4,
} as const
