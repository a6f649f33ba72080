import type { ReadStore } from '#core/store/contract'
import type { SessionSummary } from '../../../runtime/runtime.ts'

const SESSIONS_READ_MAX = 10
const CALLS_READ_MAX = 100
const NAMED_MAX = 3

/** The models whose calls have no price, as far as the newest calls tell. */
export async function unpricedModels(
  store: Pick<ReadStore, 'readAttempts'>,
  sessions: readonly Pick<SessionSummary, 'id' | 'usage'>[],
): Promise<readonly string[]> {
  const models = new Set<string>()
  const unpriced = sessions.filter(({ usage }) => usage.unpricedCalls > 0)
  for (const { id } of unpriced.slice(0, SESSIONS_READ_MAX)) {
    const query = { sessionId: id, since: 0, limit: CALLS_READ_MAX }
    for (const { modelRoute, cost } of await store.readAttempts(query)) {
      if (cost === null) models.add(modelOf(modelRoute))
    }
  }
  return [...models].slice(0, NAMED_MAX)
}

/** What to do about calls without a price: which file, which key, which name. */
export function unpricedText(models: readonly string[]): string {
  const names = models.map((model) => `"${model}"`).join(', ')
  return (
    `A cost that is unknown or ends in +: no price is known for ${names === '' ? 'some models' : names}, so ` +
    `${models.length === 1 ? 'its' : 'their'} calls are not included. ` +
    "Set `limits.prices` in throughline.yaml, by the model's name. " +
    '`serve`, `run` and `proxy` read it when they start; earlier calls stay without a price.'
  )
}

/** Routes are written provider/model@place, those of clients client/model. */
function modelOf(modelRoute: string): string {
  const model = modelRoute.slice(modelRoute.indexOf('/') + 1)
  const place = model.lastIndexOf('@')
  return place < 0 ? model : model.slice(0, place)
}
