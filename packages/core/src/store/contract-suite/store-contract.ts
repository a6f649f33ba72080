import { adoptions, records } from './adoptions.ts'
import { compactions } from './compactions.ts'
import { concurrency } from './concurrency.ts'
import { contexts } from './contexts.ts'
import { creation } from './creation.ts'
import { delivery, withdrawals } from './delivery.ts'
import { erasures } from './erasures.ts'
import { fences } from './fences.ts'
import { FORK_CASES } from './forks/all.ts'
import { intake } from './intake.ts'
import { integrity } from './integrity.ts'
import { leases } from './leases.ts'
import { looks } from './looks.ts'
import { operationalRows } from './operational/rows.ts'
import { outbox } from './outbox.ts'
import { portability } from './portability.ts'
import { recovery } from './recovery.ts'
import { SEARCH_CASES } from './searches/all.ts'
import { settings } from './settings.ts'
import { steps, unanswered } from './steps.ts'

/**
 * The contract of every engine, as cases that need no test runner: give each case a new bench and
 * run it; it throws if the law is broken. All engines run all cases.
 */
export const STORE_CONTRACT: Readonly<Record<string, typeof creation>> = {
  creation,
  adoptions,
  records,
  intake,
  withdrawals,
  leases,
  looks,
  delivery,
  steps,
  recovery,
  compactions,
  unanswered,
  contexts,
  settings,
  outbox,
  operationalRows,
  fences,
  ...SEARCH_CASES,
  erasures,
  integrity,
  portability,
  ...FORK_CASES,
  concurrency,
}
