import { describe, expect, it } from 'vitest'
import { Journey, SUMMARIES } from './journey.ts'
import { measurePause } from './pause.ts'

const SUMMARY_MS = 2_000
const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

describe('a conversation that is compacted', () => {
  it('has no pause in the background, where the blocking way has one and says so once', async () => {
    const terms = { store: 'memory', summaryMs: SUMMARY_MS, paceMs: 50, compactions: 1 } as const
    const [background, blocking] = await Promise.all([
      measurePause({ ...terms, way: 'background' }),
      measurePause({ ...terms, way: 'blocking' }),
    ])
    expect(background.compactions).toBe(1)
    expect(background.boundary.length).toBeGreaterThan(5)
    expect(median(background.boundary) - median(background.away)).toBeLessThan(100)
    expect(background).toMatchObject({ waits: 0, notices: 0 })
    expect(blocking).toMatchObject({ waits: 1, notices: 1, compactions: 1 })
  }, 60_000)

  it('waits once at the hard limit, tells it once, and keeps everything that arrives meanwhile', async () => {
    const journey = await Journey.open({
      windowTokens: 16_000,
      model: { script: ({ model }) => (model === SUMMARIES ? undefined : { text: 'Noted.' }) },
    })
    try {
      journey.model.faults.always(`latency; ms=${SUMMARY_MS}`, {
        when: ({ model }) => model === SUMMARIES,
      })
      const id = await journey.make()
      const follower = await journey.follow(id)
      const filler = 'The pump ran without a fault until the evening. '.repeat(150)
      while (follower.live('notice').length === 0) {
        // Before it is said: its turn may be over when the acknowledgment is read.
        const turn = follower.stored('turn ended').length + 1
        await journey.say(id, filler)
        await follower.until(
          () => follower.live('notice').length > 0 || follower.stored('turn ended').length >= turn,
        )
      }
      for (const text of ['One.', 'Two.', 'Three.']) await journey.say(id, text)
      await follower.until(
        (event) => event.type === 'stored' && event.kind === 'compaction committed',
      )
      const { reply } = await journey.ask(id, 'The last.')
      expect(reply).toMatchObject({ ended: 'answered', text: 'Noted.' })
      expect(follower.live('notice').map(({ code }) => code)).toEqual(['waiting-for-compaction'])
      const session = (await journey.call(`/v1/sessions/${id}`)).json
      expect(session).toMatchObject({ waiting: 0 })
    } finally {
      await journey.close()
    }
  })
})
