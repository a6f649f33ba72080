import type { CommitVerb } from '../../packages/core/src/store/contract.ts'
import { RULES } from '../../packages/core/src/store/rules/rules.ts'
import type { Rule, StoreChange } from '../../packages/core/src/store/rules/ruling.ts'
import { pass, readFailpoint } from './failpoints.ts'

/**
 * Loaded before everything else in every thread of a child (`NODE_OPTIONS=--import`), because the
 * rules of a SQLite store run in its own threads; those of a PostgreSQL store run in the main one. Replaces rules by those of a planted bug, and plants the
 * failpoints inside a transaction.
 */
const rules = RULES as Record<CommitVerb, Rule<CommitVerb>>

const mutantName = process.env['AGENT_MUTANT']
if (mutantName !== undefined) {
  const { plantMutant } = await import('./planted.ts')
  Object.assign(rules, plantMutant(mutantName).rules)
}

const failpoint = readFailpoint(process.env['FAILPOINT'])
if (failpoint?.name.endsWith('.inside')) {
  const verb = failpoint.name.split('.')[0] as CommitVerb
  const rule = rules[verb]
  rules[verb] = (rows, request, stamp) => {
    const ruling = rule(rows, request, stamp)
    if (ruling.change === undefined) return ruling
    return { ...ruling, change: deadlyChange(ruling.change, failpoint.name) }
  }
}

/** Kills the process after its rows are written, before its audit row and commit. */
function deadlyChange(change: StoreChange, name: string): StoreChange {
  return Object.defineProperty({ ...change }, 'attempts', {
    get: () => {
      pass(name)
      return change.attempts
    },
  })
}
