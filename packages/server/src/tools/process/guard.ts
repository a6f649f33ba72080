import { createInterface } from 'node:readline'
import { endGroup, endStraysNow } from './posix.ts'

/**
 * A separate program that briefly outlives the runtime: it knows the running groups, and when the
 * runtime is gone (its end of the pipe closes, however it died) it ends the remaining ones.
 */
const groups = new Map<number, string>()

for await (const line of createInterface({ input: process.stdin })) {
  const [number = '', mark = ''] = line.slice(1).split(' ')
  const pid = Number(number)
  if (!Number.isInteger(pid) || pid <= 1) continue
  if (line.startsWith('+')) groups.set(pid, mark)
  else groups.delete(pid)
}
for (const [pid, mark] of groups) {
  endGroup(pid, 'force')
  if (mark !== '') endStraysNow(mark)
}
