import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { readEntries } from '../kept.ts'
import type { Question } from '../process-messages.ts'
import { examine } from './examine.ts'
import { Ledger } from './ledger.ts'

describe('examine', () => {
  it('asks about what came during a compaction and what is open, each in its own turn', async () => {
    const { letters, asked, session } = await conversation({ isCompacted: true })
    const [first, second, third] = letters
    const found = await session((question) =>
      question.what === 'admit' ? { kind: 'admitted', mail: 7 } : 'It is so.',
    )
    expect(found).toEqual([
      ...[third, first, second].map((letter) => ({
        ...{ agent: 'agent-1', letter, isReproduced: letter === third, wanted: letter?.word },
        answer: 'It is so.',
      })),
      {
        ...{ agent: 'agent-1', letter: null, isReproduced: false, answer: 'It is so.' },
        wanted: 'bring parcel open-agent-1 home',
      },
    ])
    const admit = { what: 'admit', sessionId: 'agent-1', source: 'examiner', lane: 'user' }
    const reply = { what: 'reply', sessionId: 'agent-1', mail: 7 }
    const about = (number: number) => ({
      ...{ ...admit, key: `about-agent-1.${number}` },
      text: `Question: what is the code word of parcel p1x${number}?`,
    })
    expect(asked).toEqual([
      ...[about(3), reply, about(1), reply, about(2), reply],
      { ...admit, key: 'open-agent-1', text: 'Question: is anything open for agent-1?' },
      reply,
    ])
  })

  it('reports what was not admitted, not answered or not asked as the answer', async () => {
    const { session } = await conversation({ isCompacted: false })
    const answersOf = async (answer: (question: Question) => JsonValue) =>
      (await session(answer)).map(({ answer: text }) => text).at(-1)
    expect([
      await answersOf(() => ({ kind: 'refused' })),
      await answersOf(({ what }) => (what === 'admit' ? { mail: 7 } : null)),
      await answersOf(() => {
        throw new Error('gone')
      }),
    ]).toEqual([
      ...['(not admitted: {"kind":"refused"})', '(no reply to mail 7)', '(not asked: Error: gone)'],
    ])
  })
})

/** Three messages in a session of its own, of which a compaction covers the first two. */
async function conversation({ isCompacted }: { isCompacted: boolean }) {
  const ledger = new Ledger()
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store, { id: sessionId('agent-1') })
  for (let at = 1; at <= 3; at++) {
    const letter = ledger.write('agent-1', { lane: 'user', tokens: 20 })
    await fixture.exchange(letter.text, 'yes')
    letter.mail = at
  }
  if (isCompacted) await fixture.compact(6)
  const row = await store.findSession(sessionId('agent-1'))
  if (row === undefined) throw new Error('no session')
  const entries = await readEntries(store, row)
  const kept = {
    ...{ agent: 'agent-1', entries, compactions: 1, torn: 0 },
    meanwhile: new Set(isCompacted ? [1, 2] : []),
  }
  const asked: Question[] = []
  const session = (answer: (question: Question) => JsonValue) => {
    const ask = async (question: Question) => {
      asked.push(question)
      return answer(question)
    }
    return examine({ name: 'agent-1', ask }, ledger.letters, kept, store)
  }
  return { letters: ledger.letters, asked, session }
}
