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

const writers = new Map<number, Opened>()
interface Opened {
  readonly writer: Writer
  readonly poll: NodeJS.Timeout
}
const readers = new Map<number, Pick<Reader, 'read' | 'backup' | 'close'>>()
let house: NodeJS.Timeout | undefined
let houseAt = Number.POSITIVE_INFINITY

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
    case 'open-writer': {
      const writer = new Writer(order.options)
      const poll = setInterval(() => {
        if (!writer.hasNews()) return
        tell({ changed: store })
        maintain()
      }, order.pollMs)
      writers.set(store, { writer, poll })
      return null
    }
    case 'open-reader':
      readers.set(store, new Reader(order.path))
      return null
    case 'open-traceless-reader':
      readers.set(store, new TracelessReader(order.path))
      return null
    case 'read':
      return readerOf(store).read(order.verb, order.query)
    case 'refuse-if-damaged':
      return writerOf(store).refuseIfDamaged()
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
  const found = writers.get(store)
  if (found === undefined) throw new Error(`store ${store} has no writer in this thread`)
  return found.writer
}

function readerOf(store: number): Pick<Reader, 'read' | 'backup' | 'close'> {
  const reader = readers.get(store)
  if (reader === undefined) throw new Error(`store ${store} has no reader in this thread`)
  return reader
}

function close(store: number): null {
  const found = writers.get(store)
  clearInterval(found?.poll)
  found?.writer.close()
  writers.delete(store)
  readers.get(store)?.close()
  readers.delete(store)
  return null
}

/** Between requests: does a little of the deferred work. */
function maintain(delayMs = HOUSE_MS): void {
  const at = performance.now() + delayMs
  if (at >= houseAt) return
  clearTimeout(house)
  houseAt = at
  house = setTimeout(() => {
    houseAt = Number.POSITIVE_INFINITY
    for (const { writer } of writers.values()) {
      const moreMs = writer.maintain()
      if (moreMs !== null) maintain(moreMs)
    }
  }, delayMs)
}
