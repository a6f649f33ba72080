import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A wire to a server that can be cut, held up and counted: what a client sends until the server answers is one
 * round trip.
 */
export class Wire {
  readonly #server: Server
  readonly #target: { readonly host: string; readonly port: number }
  readonly #pairs = new Set<{ readonly client: Socket; readonly target: Socket }>()
  roundTrips = 0
  #open = 0
  /** Asked for each piece that a client sends; true lets it through and cuts the way back. */
  cutsAfter: (sent: Buffer) => boolean = () => false
  /** Asked for each piece that a client sends; it waits on the way until the promise resolves. */
  holds: (sent: Buffer) => Promise<void> | undefined = () => undefined

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#target = { host: hostname, port: Number(port) }
    this.#server = createServer((client) => this.#join(client))
  }

  /** The address that leads to `url` over a new wire. */
  static async to(url: string): Promise<{ readonly wire: Wire; readonly url: string }> {
    const wire = new Wire(url)
    const far = new URL(url)
    far.port = String(await wire.#listen())
    return { wire, url: far.href }
  }

  #listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => {
        const address = this.#server.address()
        resolve(typeof address === 'object' ? (address?.port ?? 0) : 0)
      })
    })
  }

  /** Whether a request waits for an answer. */
  get isAsking(): boolean {
    return this.#open > 0
  }

  #join(client: Socket): void {
    const target = connect(this.#target.port, this.#target.host)
    const pair = { client, target }
    this.#pairs.add(pair)
    let asking = false
    let cut = false
    client.on('data', (sent) => {
      if (!asking) {
        this.roundTrips += 1
        this.#open += 1
      }
      asking = true
      cut ||= this.cutsAfter(sent)
      const held = this.holds(sent)
      if (held === undefined) target.write(sent)
      else void held.then(() => target.writable && target.write(sent))
      // The server has the request and works on it; its answer will not arrive.
      if (cut) setTimeout(() => client.destroy(), 20)
    })
    const answered = () => {
      if (asking) this.#open -= 1
      asking = false
    }
    target.on('data', (answer) => {
      answered()
      if (!cut) client.write(answer)
    })
    const end = () => {
      this.#pairs.delete(pair)
      answered()
      client.destroy()
      if (cut) setTimeout(() => target.destroy(), 200)
      else target.destroy()
    }
    for (const socket of [client, target]) socket.on('error', end).on('close', end)
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const { client, target } of this.#pairs) {
      client.destroy()
      target.destroy()
    }
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
