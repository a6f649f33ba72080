import type { JsonValue } from '../../../base/json.ts'
import type { Dialect } from '../../dialect.ts'
import { dialectOf } from '../all.ts'
import type { Violation } from '../findings.ts'
import { violationsOf } from '../provider-dialect.ts'

/**
 * Every rule of the dialect that a request breaks, with its position; empty means the provider will not
 * refuse it for its form. It reads the request's JSON and nothing of ours, so that it can judge what
 * we render as well as what any other program does.
 */
export function checkWire(dialect: Dialect, wire: JsonValue): readonly Violation[] {
  return violationsOf(dialectOf(dialect), wire)
}
