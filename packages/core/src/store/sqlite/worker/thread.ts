import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { TracelessReader } from '../traceless-reader.ts'
import { plainError, type WorkerAnswer, type WorkerNews, type WorkerRequest } from './protocol.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/**
 * A thread of the store, for either writers or readers. It takes all waiting requests at once and
 * commits those to the same file in one transaction.
 */
const BATCH_MAX = 32
const BATCH_SIZE_MAX = 256 * 1024
const HOUSE_MS = 20

const port = parentPort
if (port === null) throw new Error('this module runs in a worker thread only')

const writers = new Map<number, Writer>()
const readers = new Map<number, Opened>()
interface Opened {
  readonly reader: Pick<Reader, 'read' | 'backup' | 'close'>
  readonly poll?: NodeJS.Timeout
}
let keepsHouse = false

port.on('message', (first: WorkerRequest) => {
  const letters = [first]
  for (
    let next = receiveMessageOnPort(port);
    next !== undefined;
    next = receiveMessageOnPort(port)
  ) {
    letters.push(next.message as WorkerRequest)
    if (letters.length >= BATCH_MAX * 4) break
  }
  while (letters.length > 0) tell({ answers: answerSome(letters) })
  maintain()
})

function tell(news: WorkerNews): void {
  port?.postMessage(news)
}

/** Takes one request from the front, or as many commits to one file as make a batch. */
function answerSome(letters: WorkerRequest[]): readonly WorkerAnswer[] {
  const [first] = letters
  if (first === undefined) return []
  if (first.order.kind !== 'commit') {
    letters.shift()
    return [answer(first)]
  }
  const batch: WorkerRequest[] = []
  let size = 0
  for (const letter of letters) {
    if (letter.order.kind !== 'commit' || letter.store !== first.store) break
    size += letter.order.size
    if (batch.length > 0 && (batch.length >= BATCH_MAX || size > BATCH_SIZE_MAX)) break
    batch.push(letter)
  }
  letters.splice(0, batch.length)
  return commitBatch(first.store, batch)
}

function commitBatch(store: number, batch: readonly WorkerRequest[]): readonly WorkerAnswer[] {
  const items = batch.flatMap(({ order }) =>
    order.kind === 'commit' ? [{ verb: order.verb, request: order.request }] : [],
  )
  const results = writerOf(store).commit(items)
  return batch.map(({ call }, index) => {
    const result = results[index]
    if (result === undefined) return { call, error: plainError(new Error('no result')) }
    return 'error' in result
      ? { call, error: plainError(result.error) }
      : { call, value: result.outcome }
  })
}

function answer({ store, call, order }: WorkerRequest): WorkerAnswer {
  try {
    return { call, value: carryOut(store, order) }
  } catch (error) {
    return { call, error: plainError(error) }
  }
}

function carryOut(store: number, order: WorkerRequest['order']): unknown {
  switch (order.kind) {
    case 'open-writer':
      writers.set(store, new Writer(order.options))
      return null
    case 'open-reader': {
      const reader = new Reader(order.path)
      const poll = setInterval(() => {
        if (reader.hasNews()) tell({ changed: store })
      }, order.pollMs)
      readers.set(store, { reader, poll })
      return null
    }
    case 'open-traceless-reader':
      readers.set(store, { reader: new TracelessReader(order.path) })
      return null
    case 'read':
      return readerOf(store).read(order.verb, order.query)
    case 'backup':
      return readerOf(store).backup(order.to)
    case 'close':
      return close(store)
    case 'commit':
      throw new Error('commits are carried out in batches')
    default:
      return order satisfies never
  }
}

function writerOf(store: number): Writer {
  const writer = writers.get(store)
  if (writer === undefined) throw new Error(`store ${store} has no writer in this thread`)
  return writer
}

function readerOf(store: number): Opened['reader'] {
  const found = readers.get(store)
  if (found === undefined) throw new Error(`store ${store} has no reader in this thread`)
  return found.reader
}

function close(store: number): null {
  writers.get(store)?.close()
  writers.delete(store)
  const found = readers.get(store)
  clearInterval(found?.poll)
  found?.reader.close()
  readers.delete(store)
  return null
}

/** Between requests: does a little of the deferred work. */
function maintain(): void {
  if (keepsHouse) return
  keepsHouse = true
  setTimeout(() => {
    keepsHouse = false
    let more = false
    for (const writer of writers.values()) more = writer.maintain() || more
    if (more) maintain()
  }, HOUSE_MS)
}
