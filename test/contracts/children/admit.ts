import { appendFileSync } from 'node:fs'
import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'

/**
 * Admits to one session as fast as it can and writes down what was acknowledged, after it was.
 * Arguments: database, file for acknowledgments, own name, senders, size of a body.
 */
const [path = '', acks = '', name = '', senders = '1', size = '100'] = process.argv.slice(2)
// A size limit (`ulimit -f`) sends this signal and fails the write; only the latter is wanted.
process.on('SIGXFSZ', () => {})

try {
  const store = await openSqliteStore({ path })
  const body = { text: 'x'.repeat(Number(size)) }
  const send = async (sender: number) => {
    for (let index = 0; ; index++) {
      const key = `${name}-${sender}-${index}`
      const plain = { to: { sessionId: sessionId('target') }, source: name, lane: 'user' } as const
      const outcome = await store.admit({ ...plain, key, body, tokens: 1 })
      if (outcome.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(outcome)}`)
      appendFileSync(acks, `${outcome.mail} ${key}\n`)
    }
  }
  console.log('ready')
  await Promise.all(Array.from({ length: Number(senders) }, (_, sender) => send(sender)))
} catch (error) {
  console.log(`failed ${(error as { code?: string }).code ?? String(error)}`)
  process.exit(3)
}
