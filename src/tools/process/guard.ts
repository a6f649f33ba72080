import { createInterface } from 'node:readline'
import { endGroup } from './posix.ts'

/**
 * A program of its own that outlives the runtime by a moment: it is told which groups run, and when
 * the runtime is gone (its end of the pipe closes, however it died) it ends those that are left.
 */
const groups = new Set<number>()

for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1))
  if (!Number.isInteger(pid) || pid <= 1) continue
  if (line.startsWith('+')) groups.add(pid)
  else groups.delete(pid)
}
for (const pid of groups) endGroup(pid, 'force')
