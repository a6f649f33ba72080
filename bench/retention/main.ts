import { buildLedger } from '../../src/compaction/ledger/build.ts'
import { writeLedger } from '../../src/message/ledger-text.ts'
import { isKept } from './atoms.ts'
import { corpusFolder, type Event, eventOf, readSessions, recordedEvents } from './sessions.ts'

const sessions = readSessions(corpusFolder())
const recorded = recordedEvents(sessions)
const cuts: Event[] = sessions.flatMap((session) => {
  const out: Event[] = []
  let start = 0
  for (const end of [...session.summaries, session.messages.length]) {
    const segment = session.messages.slice(start, end)
    start = end + 1
    if (segment.length < 80) continue
    let cut = Math.floor(segment.length * 0.6)
    while (segment[cut]?.role === 'tool') cut++
    out.push(...eventOf(session, segment.slice(0, cut), segment.slice(cut), `${session.id.slice(0, 8)}@60`))
  }
  return out
})
const countTokens = (text: string) => Math.ceil(text.length / 4)
function show(title: string, events: readonly Event[], build: (event: Event) => string) {
  for (const half of ['tune', 'test', 'both']) {
    const of = events.filter((event) => half === 'both' || event.half === half)
    let strict = 0, lenient = 0, tokens = 0
    for (const event of of) {
      const result = build(event)
      tokens += result.length / 4
      const kept = event.demand.map((atom) => isKept(atom, result))
      strict += kept.filter((k) => k.strict).length / kept.length
      lenient += kept.filter((k) => k.lenient).length / kept.length
      if (process.argv.includes('-v') && half === 'both') console.log(event.name, event.demand.filter((a) => !result.includes(a)).join(' '))
    }
    console.log(title.padEnd(30), half, of.length, (strict / of.length * 100).toFixed(1), (lenient / of.length * 100).toFixed(1), Math.round(tokens / of.length))
  }
}
const ledger = (event: Event, tokensMax: number, visible: string[] = []) => writeLedger(buildLedger({ previous: [], head: event.before, firstNumber: 1, tokensMax, countTokens, visible }))
show('summary', recorded, (e) => e.summary ?? '')
show('summary + ledger 5000', recorded, (e) => `${e.summary}\n${ledger(e, Math.max(0, 4950 - (e.summary ?? '').length / 4), [e.summary ?? ''])}`)
for (const n of [1000, 2000, 4000]) { show(`ledger ${n}`, recorded, (e) => ledger(e, n)); show(`cuts ledger ${n}`, cuts, (e) => ledger(e, n)) }
