import { FailedError, UsageError } from '../host/errors.ts'
import type { Admission, Runtime } from '../runtime/runtime.ts'
import { notify } from './terminal/stderr.ts'

/** The sources under which commands admit; a key is unique within its source. */
export const COMMAND_SOURCE = 'cli'

type Accepted = Extract<Admission, { kind: 'admitted' | 'duplicate' }>

/** What was taken, or an error that says why it was not and what to do. */
export function taken(admission: Admission, what: string): Accepted {
  switch (admission.kind) {
    case 'admitted':
    case 'duplicate':
      return admission
    case 'conflict':
      throw new UsageError(
        'That key was used before, with another text or for another session; choose another --key.',
      )
    case 'full':
      throw new FailedError(
        `The mailbox is full (${admission.limit} wait); nothing was taken. Try again later.`,
      )
    case 'too-large':
      throw new UsageError(
        `It has ${admission.bytes} bytes, at most ${admission.limit} are taken at once.`,
      )
    case 'unknown-agent':
      throw new UsageError(
        `There is no agent ${what}. Configured: ${admission.agents.join(', ') || 'none'}.`,
      )
    case 'unknown':
      throw new UsageError(
        `There is no session ${what} in this store. See \`throughline sessions\`.`,
      )
    case 'gone':
      throw new UsageError(`Session ${what} was purged; its id is never used again.`)
    default:
      return admission satisfies never
  }
}

/** What was taken is safe, but waits until somebody comes. */
export async function warnIfUnserved(runtime: Runtime): Promise<void> {
  const { runners } = await runtime.health()
  if (runners.length === 0) {
    notify('note: nobody serves this store now; it waits until `throughline serve` runs.')
  }
}
