import type { Clock } from '#core/base/clock'
import { loadConnections, Pool } from '../../model/connections/pool.ts'
import type { Model } from '../../model/model.ts'
import { openModel } from '../../model/provider-model.ts'
import { warmUp } from '../../model/providers/open.ts'
import { Credentials, type Environment } from '../../model/routes/credential.ts'
import type { ModelRoute } from '../../model/routes/route.ts'
import type { Routes } from '../../model/routes/routes.ts'
import type { Health } from '../health.ts'

export interface ModelAccessParts {
  readonly clock: Clock
  readonly environment: Environment
}

/** The models of a process: one pool of connections and one set of credentials for all agents. */
export class ModelAccess {
  readonly #clock: Clock
  readonly #pool: Pool
  readonly #credentials: Credentials

  constructor({ clock, environment }: ModelAccessParts) {
    this.#clock = clock
    this.#pool = new Pool({ environment })
    this.#credentials = new Credentials(environment)
  }

  open(route: ModelRoute): Model {
    const clock = this.#clock
    return openModel(route, { pool: this.#pool, credentials: this.#credentials, clock })
  }

  /** Loads the packages that the first call would otherwise have to load. */
  async warmUp(routes: Iterable<Routes>): Promise<void> {
    const providers = new Set([...routes].flatMap((each) => [...each.providers]))
    await Promise.all([...providers].map(warmUp))
    if (providers.size > 0) loadConnections()
  }

  get connections(): Health['connections'] {
    const { opened, lines: open, evicted } = this.#pool
    return { opened, open, evicted }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}
