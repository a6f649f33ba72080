import type { ProfileFiles } from '../read/home.ts'
import type { HermesRoute } from './routes.ts'

/**
 * A gateway that serves several profiles keeps all their routes in the home in which it was
 * started. The key `agent:NAME:…` names the owner, and the session is in the store of that profile.
 * Profiles are read one after another, the home's own first, which passes the others their routes.
 * A route of a profile that was already read stays with the home, or it would be lost.
 */
export class RouteOwners {
  /** Routes by owner, for profiles that have not been read yet. */
  readonly #lent: Map<string, HermesRoute[]>

  constructor(profiles: readonly ProfileFiles[]) {
    this.#lent = new Map(profiles.map(({ name }) => [name, []]))
  }

  /** The routes of this profile: its own, minus those it passes on, plus those passed to it. */
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

/** `main` is the profile of the home itself; a profile that is really named `main` has a mark. */
function ownerOf(key: string): string {
  const [first, owner = ''] = key.split(':', 2)
  if (first !== 'agent') return ''
  return owner === 'main~' ? 'main' : owner === 'main' ? '' : owner
}
