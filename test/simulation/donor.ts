import {
  mailNumber,
  operationId,
  runnerId,
  type SessionId,
} from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import { RENDERER } from '../../packages/core/src/session/step.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { canonicalJson } from '../../packages/core/src/store/integrity/canonical.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { MemoryTables } from '../../packages/core/src/store/memory/tables.ts'
import type { World } from './world.ts'

interface Donated {
  readonly lines: readonly string[]
  /**
   * Keys that the other store acknowledged, each with the session and mail that a repeat must
   * return.
   */
  readonly acks: ReadonlyMap<string, { sessionId: string; mail: number; body: string }>
}

/** A session of another store, with a history, a waiting reply and waiting mail. */
export async function donate(
  id: SessionId,
  { composition, wide }: World,
  nextWord: () => string,
): Promise<Donated> {
  let salts = 0
  const random = () => `donor ${id} ${salts++}`
  const store = openMemoryStore({ tables: new MemoryTables({ clock: () => 0, random }) })
  const { limits } = composition
  const operation = operationId(`made-${id}`)
  await store.createSession({ id, agent: 'main', limits, policy: 'steer', operation })
  const acks = new Map<string, { sessionId: string; mail: number; body: string }>()
  const count = wide.between(2, 4)
  for (let index = 1; index <= count; index++) {
    const message = { role: 'user', parts: [{ type: 'text', text: nextWord() }] }
    const body = { message, replyTo: { edge: 'edge', address: 'x' } } as JsonValue
    const key = `${id}-${index}`
    const to = { sessionId: id }
    await store.admit({ to, source: 'ann', key, lane: 'user', body, tokens: 50 })
    acks.set(`ann ${key}`, { sessionId: id, mail: index, body: canonicalJson(body) })
  }
  const word = nextWord()
  // When logs are checked, none from the other store is available to explain a turn started there.
  const isOpen = wide.hits(0.5) && composition.audit === undefined
  await live(store, id, word, isOpen ? 'open' : 'answered')
  const lines: string[] = []
  for await (const line of store.exportSession(id)) lines.push(line)
  return { lines, acks }
}

async function live(store: Store, id: SessionId, word: string, end: 'answered' | 'open') {
  const runner = runnerId(`old-${id}`)
  await store.registerRunner({ id: runner, boot: 'other', process: 1, startedAt: 0, leaseMs: 1 })
  const held = await store.acquire({ sessionId: id, runner, holder: 'old', fence: 0 })
  if (held.kind !== 'acquired') throw new Error(`The donor is ${held.kind}.`)
  const { lease, session } = held
  const fenced = async (name: string) => {
    const row = (await store.findSession(id)) ?? session
    const tail = { number: row.tail, hash: row.tailHash }
    return { lease, tail, operation: operationId(`${id}-${name}`) }
  }
  await store.deliver({ ...(await fenced('deliver')), mail: [mailNumber(1)] })
  if (end === 'open') return
  const body = { role: 'assistant', parts: [{ type: 'text', text: word }] } as JsonValue
  const { tail } = await fenced('look')
  const reply = { edge: 'edge', address: 'x', key: `${id}-1`, body: { text: word } }
  await store.commitReply({
    ...(await fenced('reply')),
    turn: 1,
    step: { upto: tail.number, renderer: RENDERER, calls: [], body, tokens: 40 },
    ends: { how: 'answered', replies: [reply] },
  })
}
