import { signal } from '@preact/signals'
import type { Scope } from '../../server/src/gateway/http/access/access.ts'
import { call } from './api.ts'

/** What this page may do. It offers nothing else. */
interface Access {
  readonly scope: Scope
  /** Null: all sessions. */
  readonly sessions: readonly string[] | null
}

/** Null: not known yet. */
const access = signal<Access | null>(null)

export async function readAccess(): Promise<void> {
  access.value = await call<Access>('/v1/access')
}

export function mayWrite(): boolean {
  return access.value !== null && access.value.scope !== 'read'
}

export function mayOnlyRead(): boolean {
  return access.value?.scope === 'read'
}

/** May lift limits that the operator has set. */
export function mayOperate(): boolean {
  return access.value?.scope === 'operate'
}

/** All sessions: it may see the health of the server and, if it may write, begin sessions. */
export function seesAll(): boolean {
  return access.value?.sessions === null
}
