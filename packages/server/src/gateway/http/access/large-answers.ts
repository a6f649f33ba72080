import type { ServerResponse } from 'node:http'
import type { Endpoint } from '../endpoint.ts'
import { type HttpLimits, SlotPool } from './limits.ts'

/**
 * Bounds on the memory that large answers take, such as exports and searches of a session with long
 * messages. While one is made it takes several times its size, so only a few are made at once. One that
 * its client does not read stays in memory: beyond a sum of bytes the caller with the most of them loses
 * the one that has waited longest, and any that is not read at all for a while is given up.
 */
export class LargeAnswers {
  readonly #limits: HttpLimits
  readonly #slots: SlotPool
  readonly #waiting: { readonly name: string; readonly begin: (leave: () => void) => void }[] = []
  /** The one that has waited longest comes first. */
  readonly #unread = new Map<ServerResponse, { readonly name: string; readonly bytes: number }>()

  constructor(limits: HttpLimits) {
    this.#limits = limits
    this.#slots = new SlotPool({ total: MADE_AT_ONCE, perName: MADE_AT_ONCE_FOR_ONE })
  }

  /** Waits for a turn to make a large one; the caller ends its turn. */
  async enter({ isLarge }: Pick<Endpoint, 'isLarge'>, name: string): Promise<() => void> {
    if (!isLarge) return () => {}
    const leave =
      this.#slots.enter(name) ??
      (await new Promise<() => void>((begin) => void this.#waiting.push({ name, begin })))
    return () => {
      leave()
      this.#beginNext()
    }
  }

  /** Call this when the whole answer was written. */
  sent(outgoing: ServerResponse, name: string, bytes: number): void {
    if (bytes < BYTES_MIN || outgoing.destroyed || outgoing.writableFinished) return
    this.#unread.set(outgoing, { name, bytes })
    outgoing.once('close', () => this.#unread.delete(outgoing))
    // Bytes that the client takes start this time again.
    outgoing.setTimeout(this.#limits.stallMs, () => outgoing.destroy())
    while (this.#unread.size > 1) {
      const bytesOf = new Map<string, number>()
      for (const each of this.#unread.values())
        bytesOf.set(each.name, (bytesOf.get(each.name) ?? 0) + each.bytes)
      const sums = [...bytesOf.values()]
      if (sums.reduce((sum, each) => sum + each, 0) <= this.#limits.unreadBytesMax) break
      const most = Math.max(...sums)
      const [oldest] = this.#unread.entries().find(([, of]) => bytesOf.get(of.name) === most) ?? []
      if (oldest === undefined || oldest === outgoing) break
      this.#unread.delete(oldest)
      oldest.destroy()
    }
  }

  #beginNext(): void {
    for (const [index, { name, begin }] of this.#waiting.entries()) {
      const leave = this.#slots.enter(name)
      if (leave === undefined) continue
      this.#waiting.splice(index, 1)
      begin(leave)
      return
    }
  }
}

/** Without tokens all callers are one. */
const MADE_AT_ONCE = 8
const MADE_AT_ONCE_FOR_ONE = 4
/** A thousand connections with less than this take little. */
const BYTES_MIN = 64 * 1024
