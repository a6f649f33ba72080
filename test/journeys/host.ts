import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { HostFigures, RestFigures } from './host-process.ts'

/** The other end of host-process.ts. */
export class MeasuredHost {
  readonly url: string
  readonly #child: ChildProcess

  static async start(
    store: string,
    model: { readonly url: string; readonly windowTokens: number },
  ): Promise<MeasuredHost> {
    const script = join(import.meta.dirname, 'host-process.ts')
    const child = fork(script, [store, model.url, `${model.windowTokens}`], { execArgv: [] })
    const [{ url }] = (await once(child, 'message')) as [{ url: string }]
    return new MeasuredHost(child, url)
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  async figures(): Promise<HostFigures> {
    this.#child.send('figures')
    const [told] = (await once(this.#child, 'message')) as [HostFigures]
    return told
  }

  /** Leaves it alone for that long. */
  async rest(restMs: number): Promise<RestFigures> {
    this.#child.send({ restMs })
    const [told] = (await once(this.#child, 'message')) as [RestFigures]
    return told
  }

  async post(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as unknown
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }

  async get(path: string): Promise<void> {
    const response = await fetch(this.url + path)
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'close')
    this.#child.send('end')
    await ended
  }
}
