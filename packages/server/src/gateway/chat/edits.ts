import { textOf } from '#core/message/text'
import type { Admission, Mail, NewMessage, RouteAddress, Runtime } from '../../runtime/runtime.ts'

export interface Intake {
  readonly route: RouteAddress
  readonly message: NewMessage
}

const PAGE = 1_000
const CHANGED = 'An earlier message was changed by its sender and now reads:'

/**
 * A message that was edited on the platform. If it is still pending, it is withdrawn and admitted
 * again under another key, so that both stay on record. If a turn has taken it, the edit becomes a
 * notification. An unknown message is admitted as a new one. Null: there is nothing to change.
 *
 * Repeated after a crash at any point, the same update ends in the same mail.
 */
export async function admitEdit(
  runtime: Runtime,
  { route, message }: Intake,
  edit: string,
): Promise<Admission | null> {
  const first = await runtime.admit({ ...route, ...message })
  if (first.kind !== 'duplicate' && first.kind !== 'conflict') return first
  // The chat has started a new session since then; the edited message belongs to the old one.
  if ((await runtime.findRoute(route)) !== first.sessionId) return null
  const session = runtime.session(first.sessionId)
  const key = `${message.key}:edit:${edit}`
  const versions: Mail[] = []
  for (let after = first.mail - 1; ; ) {
    const page = await session.mailbox({ after, limit: PAGE })
    versions.push(...page.filter((mail) => isVersion(mail, message)))
    const last = page.at(-1)
    if (page.length < PAGE || last === undefined) break
    after = last.number
  }
  // A repeated or late update: a newer edit is already stored.
  if (versions.some((mail) => mail.key === key || isNewer(mail, message, edit))) return null
  const current = versions.at(-1)
  const now = textOf({ role: 'user', parts: message.parts })
  if (current === undefined || [now, `${CHANGED}\n${now}`].includes(current.text)) return null
  const isReplaced =
    current.state === 'withdrawn' || (await session.withdraw(current.number)).kind === 'withdrawn'
  if (isReplaced) return await session.admit({ ...message, key })
  const parts = [{ type: 'text', text: CHANGED } as const, ...message.parts]
  return await session.admit({ ...message, key, parts, lane: 'notification' })
}

function isVersion(mail: Mail, { source, key }: NewMessage): boolean {
  if (mail.source !== source || mail.key === null) return false
  return mail.key === key || mail.key.startsWith(`${key}:edit:`)
}

function isNewer({ key }: Mail, message: NewMessage, edit: string): boolean {
  const known = key?.slice(`${message.key}:edit:`.length) ?? ''
  return known.length === edit.length ? known > edit : known.length > edit.length
}
