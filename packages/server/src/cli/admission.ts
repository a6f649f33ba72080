import { FailedError, UsageError } from '../host/errors.ts'
import type { Admission, Runtime } from '../runtime/runtime.ts'
import { printNotice } from './terminal/stderr.ts'

/** The sources under which commands admit; a key is unique within its source. */
export const COMMAND_SOURCE = 'cli'

type Accepted = Extract<Admission, { kind: 'admitted' | 'duplicate' }>

/** Returns an accepted admission; otherwise throws an error that says why and what to do. */
export function requireAccepted(admission: Admission, what: string): Accepted {
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
        `The mailbox is full (${admission.limit} messages queued); the message was not accepted. Try again later.`,
      )
    case 'too-large':
      throw new UsageError(
        `The message has ${admission.bytes} bytes; the limit is ${admission.limit}.`,
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

/** Accepted mail is safe, but waits until a process serves the store. */
export async function warnIfUnserved(runtime: Runtime): Promise<void> {
  const { runners } = await runtime.health()
  if (runners.length === 0) {
    printNotice('note: no process serves this store now; it waits until `throughline serve` runs.')
  }
}
