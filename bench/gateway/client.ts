import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'

/**
 * As many messages as the server acknowledges, over so many connections, each waiting for its answer
 * before it sends the next. Plain sockets: on a machine with two cores a client that thinks would be
 * what is measured. Arguments: port, seconds, connections. Prints the wait of each in milliseconds.
 */
const [port = '0', seconds = '3', connections = '1'] = process.argv.slice(2)
const body = JSON.stringify({ text: 'x'.repeat(1_000) })
const latencies: number[] = []
const end = performance.now() + Number(seconds) * 1_000

function requestTo(id: string): string {
  return [
    `POST /v1/sessions/${id}/messages HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `idempotency-key: ${randomUUID()}`,
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

function run(index: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let sentAt = 0
    const next = () => {
      if (performance.now() >= end) {
        socket.end()
        resolve()
        return
      }
      sentAt = performance.now()
      socket.write(requestTo(`s${index}`))
    }
    socket.setNoDelay(true)
    socket.on('connect', next)
    socket.on('error', reject)
    // Answers are far smaller than a segment, so one is never cut.
    socket.on('data', (data) => {
      const text = data.toString('latin1')
      if (!text.startsWith('HTTP/1.1 202 ')) reject(new Error(text.slice(0, 400)))
      latencies.push(performance.now() - sentAt)
      next()
    })
  })
}

await Promise.all(Array.from({ length: Number(connections) }, (_, index) => run(index)))
console.log(latencies.map((latency) => latency.toFixed(2)).join(' '))
