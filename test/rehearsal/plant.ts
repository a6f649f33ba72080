import type { CommitVerb } from '../../packages/core/src/store/contract.ts'
import { RULES } from '../../packages/core/src/store/rules/rules.ts'
import type { Rule } from '../../packages/core/src/store/rules/ruling.ts'
import { compositionWith } from './planted.ts'

/**
 * Loaded before everything else in every thread of an agent (`NODE_OPTIONS=--import`), because the
 * rules of a SQLite store run in threads of its own.
 */
const name = process.env['AGENT_MUTANT']
if (name !== undefined) {
  Object.assign(RULES as Record<CommitVerb, Rule<CommitVerb>>, compositionWith(name).rules)
}
