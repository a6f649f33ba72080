import { describe, expect, it } from 'vitest'
import { LIST_MAX } from '../bounds.ts'
import { everySession } from '../every-session.ts'

describe('everySession', () => {
  it.each([0, 1, LIST_MAX - 1, LIST_MAX, LIST_MAX + 1, 2 * LIST_MAX + 3])(
    'reads all of %i sessions once, page by page',
    async (count) => {
      const ids = Array.from({ length: count }, (_, at) => String(at).padStart(6, '0'))
      const asked: unknown[] = []
      const store = {
        listSessions: async (query: { after?: string; limit: number }) => {
          asked.push(query)
          const { after = '', limit } = query
          return ids
            .filter((id) => id > after)
            .slice(0, limit)
            .map((id) => ({ id }))
        },
      }
      const found: string[] = []
      for await (const { id } of everySession(store as never, { agent: 'main' })) found.push(id)
      expect(found).toEqual(ids)
      expect(asked).toHaveLength(Math.floor(count / LIST_MAX) + 1)
      for (const query of asked) expect(query).toMatchObject({ agent: 'main', limit: LIST_MAX })
    },
  )
})
