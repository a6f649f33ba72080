import type { Endpoint } from '../endpoint.ts'
import { compactionEndpoints } from './compactions.ts'
import { eventEndpoints } from './events.ts'
import { forkEndpoints } from './forks.ts'
import { hookEndpoints } from './hooks.ts'
import { memoryEndpoints } from './memory.ts'
import { messageEndpoints } from './messages.ts'
import { operatingEndpoints } from './operating.ts'
import { sessionCareEndpoints } from './session-care.ts'
import { sessionEndpoints } from './sessions.ts'
import { usageEndpoints } from './usage.ts'

/** Every route of the server. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...sessionEndpoints,
  ...sessionCareEndpoints,
  ...forkEndpoints,
  ...messageEndpoints,
  ...memoryEndpoints,
  ...compactionEndpoints,
  ...usageEndpoints,
  ...eventEndpoints,
  ...hookEndpoints,
  ...operatingEndpoints,
]
