import type { JsonValue } from '../../../base/json.ts'
import type { Dialect } from '../../dialect.ts'
import { dialectOf } from '../all.ts'
import type { Violation } from '../findings.ts'
import { violationsOf } from '../provider-dialect.ts'

/**
 * Every rule of the dialect that a request breaks, with its position; empty means that the provider
 * will not refuse the request for its form. It reads only the request's JSON, so it can also check
 * requests that other programs made.
 */
export function checkWire(dialect: Dialect, wire: JsonValue): readonly Violation[] {
  return violationsOf(dialectOf(dialect), wire)
}
