import { adoptions } from './store/adoptions.ts'
import { births } from './store/births.ts'
import type { StoreBench, StoreCase } from './store/case.ts'
import { compactions } from './store/compactions.ts'
import { concurrency } from './store/concurrency.ts'
import { contexts } from './store/contexts.ts'
import { delivery } from './store/delivery.ts'
import { drafts } from './store/drafts.ts'
import { erasures } from './store/erasures.ts'
import { fences } from './store/fences.ts'
import { intake } from './store/intake.ts'
import { integrity } from './store/integrity.ts'
import { leases } from './store/leases.ts'
import { outbox } from './store/outbox.ts'
import { portability } from './store/portability.ts'
import { recovery } from './store/recovery.ts'
import { searches } from './store/searches.ts'
import { settings } from './store/settings.ts'
import { standing } from './store/standing.ts'
import { steps } from './store/steps.ts'
import { unanswered } from './store/unanswered.ts'
import { withdrawals } from './store/withdrawals.ts'

/**
 * The contract of every engine, as cases that need no test runner: give each a bench of its own,
 * run it, and what it throws is the broken law. All engines run all of them.
 */
export const STORE_CONTRACT: Readonly<Record<string, readonly StoreCase[]>> = {
  births,
  adoptions,
  intake,
  withdrawals,
  leases,
  delivery,
  steps,
  recovery,
  compactions,
  unanswered,
  contexts,
  settings,
  outbox,
  standing,
  drafts,
  fences,
  searches,
  erasures,
  integrity,
  portability,
  concurrency,
}

export type { StoreBench, StoreCase }
