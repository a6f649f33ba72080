import { sessionId } from '../../../packages/core/src/base/ids.ts'
import {
  LIMITS,
  StoreFixture,
  said,
} from '../../../packages/core/src/store/contract-suite/bench.ts'
import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'

/**
 * Talks in some sessions until it is killed, and prints each text behind its acknowledgment: what the
 * store must give back from then on. Arguments: database, how many sessions.
 */
const [path = '', sessions = '1'] = process.argv.slice(2)
const store = await openSqliteStore({ path })
const limits = { ...LIMITS, laneMailMax: 100_000, sourceMailMax: 100_000 }
const names = Array.from({ length: Number(sessions) }, (_, index) => sessionId(`s${index}`))
await Promise.all(names.map(talk))

async function talk(id: (typeof names)[number]): Promise<void> {
  const fixture = await StoreFixture.open(store, { id, limits })
  for (let round = 0; ; round++) {
    const text = (what: string) => `${id} ${what} ${round} ${'word '.repeat(40 + (round % 7) * 30)}`
    const heard = [text('asks'), text('adds')]
    const mail = []
    for (const each of heard) {
      mail.push(await fixture.admit({ message: said(each) }))
      tell(id, each)
    }
    await fixture.deliver(...mail)
    const answer = text('hears')
    await fixture.reply(answer, { ends: 'answered' })
    tell(id, answer)
    await fixture.admit({ message: said(text('waits')) }, { lane: 'notification' })
    tell(id, text('waits'))
  }
}

function tell(id: string, text: string): void {
  process.stdout.write(`${JSON.stringify({ id, text })}\n`)
}
