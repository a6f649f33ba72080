import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** What a child was started with: `node CHILD STORE EFFECTS HOST [LINES]`. */
export const [, , path = '', effects = '', host = '', lines] = process.argv
let left = Number(lines ?? Number.POSITIVE_INFINITY)

export function isNoted(line: string): boolean {
  return existsSync(effects) && readFileSync(effects, 'utf8').split('\n').includes(line)
}

/** Writes what happened before it goes on; after so many LINES the process kills itself with SIGKILL. */
export function note(line: string): void {
  appendFileSync(effects, `${line}\n`)
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
}

/** What the tool of each child does. */
export async function pay({ order }: { readonly order: string }): Promise<string> {
  note(`begin ${order}`)
  await new Promise((resolve) => setTimeout(resolve, 2))
  note(`end ${order}`)
  return `paid ${order}`
}
