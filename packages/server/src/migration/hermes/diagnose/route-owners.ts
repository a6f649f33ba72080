import type { ProfileFiles } from '../read/home.ts'
import type { HermesRoute } from './routes.ts'

/**
 * A gateway that serves several profiles keeps the routes of all of them in the home that it was
 * started in. The key says whose a route is, `agent:NAME:…`, and the session stands in the store of
 * that profile. Profiles are read one after the other, the home's own first; it lends the others
 * theirs. A route of one that was read before stays where it is kept: nobody would ask for it again.
 */
export class RouteOwners {
  /** By those who have not asked yet. */
  readonly #lent: Map<string, HermesRoute[]>

  constructor(profiles: readonly ProfileFiles[]) {
    this.#lent = new Map(profiles.map(({ name }) => [name, []]))
  }

  /** The routes of this profile: its own, but for those that it lends, and those lent to it. */
  of(
    { name }: ProfileFiles,
    routes: readonly HermesRoute[],
    holds: (sessionId: string) => boolean,
  ): readonly HermesRoute[] {
    const borrowed = this.#lent.get(name) ?? []
    this.#lent.delete(name)
    const own = routes.filter((route) => {
      const lent = this.#lent.get(ownerOf(route.key))
      if (lent === undefined || holds(route.sessionId)) return true
      lent.push(route)
      return false
    })
    return [...own, ...borrowed]
  }
}

/** `main` is the profile whose home it is; one that is called so bears a mark. */
function ownerOf(key: string): string {
  const [first, owner = ''] = key.split(':', 2)
  if (first !== 'agent') return ''
  return owner === 'main~' ? 'main' : owner === 'main' ? '' : owner
}
