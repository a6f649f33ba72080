import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { LargeAnswers } from './large-answers.ts'
import { HTTP_LIMITS } from './limits.ts'

describe('large answers', () => {
  it('are made a few at a time, and one caller holds up no other', async () => {
    const answers = new LargeAnswers(HTTP_LIMITS)
    const begun: string[] = []
    const leaves: (() => void)[] = []
    const ask = async (name: string) => {
      const leave = await answers.enter({ isLarge: true }, name)
      begun.push(name)
      leaves.push(leave)
    }
    const rest = () => new Promise((resolve) => setImmediate(resolve))
    for (let round = 0; round < 6; round++) void ask('a')
    void ask('b')
    await rest()
    expect(begun).toEqual(['a', 'a', 'a', 'a', 'b'])
    for (const name of ['b', 'b', 'b', 'c']) void ask(name)
    await rest()
    expect(begun.slice(5)).toEqual(['b', 'b', 'b'])
    leaves[4]?.()
    await rest()
    // Two of `a` have waited longer, but `a` has its share.
    expect(begun.slice(8)).toEqual(['c'])
    for (const leave of leaves.splice(0)) leave()
    await rest()
    expect(begun.slice(9)).toEqual(['a', 'a'])
    await answers.enter({}, 'a')
  })

  /** Sends answers that are larger than what the system keeps for a connection. */
  async function serveLarge(answers: LargeAnswers, bytes = 20_000_000) {
    const served: ServerResponse[] = []
    const server = createServer((request, outgoing) => {
      served.push(outgoing)
      outgoing.end('x'.repeat(bytes))
      answers.sent(outgoing, request.url ?? '', bytes)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const ask = async (name = '/a') => {
      const asked = request({ port, host: '127.0.0.1', path: name, agent: false }).end()
      const [answer] = await once(asked, 'response')
      return answer.on('error', () => {})
    }
    const close = () => {
      server.closeAllConnections()
      server.close()
    }
    return { served, ask, close }
  }

  it('that are not read are given up, the oldest first', async () => {
    const answers = new LargeAnswers({ ...HTTP_LIMITS, unreadBytesMax: 50_000_000 })
    const { served, ask, close } = await serveLarge(answers)
    for (let round = 0; round < 4; round++) await ask()
    expect(served.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false])
    close()
  })

  it('that are not read are given up for the caller who has the most', async () => {
    const answers = new LargeAnswers({ ...HTTP_LIMITS, unreadBytesMax: 70_000_000 })
    const { served, ask, close } = await serveLarge(answers)
    for (const name of ['/b', '/a', '/a', '/a', '/a']) await ask(name)
    expect(served.map(({ destroyed }) => destroyed)).toEqual([false, true, true, false, false])
    close()
  })

  it('that are read or given up leave their room to others', async () => {
    const answers = new LargeAnswers({ ...HTTP_LIMITS, unreadBytesMax: 50_000_000 })
    const { served, ask, close } = await serveLarge(answers)
    const [first, second] = [await ask(), await ask()]
    first.resume()
    second.destroy()
    await Promise.all(served.map((each) => each.closed || once(each, 'close')))
    await ask()
    await ask()
    expect(served.slice(2).map(({ destroyed }) => destroyed)).toEqual([false, false])
    close()
  })

  it('end when their client reads nothing for a while', async () => {
    const { served, ask, close } = await serveLarge(
      new LargeAnswers({ ...HTTP_LIMITS, stallMs: 200 }),
    )
    await ask()
    const [outgoing] = served
    await expect.poll(() => outgoing?.destroyed, { timeout: 20_000 }).toBe(true)
    close()
  })

  it('may be larger than the limit, one at a time', async () => {
    const answers = new LargeAnswers({ ...HTTP_LIMITS, unreadBytesMax: 1_000 })
    const { served, ask, close } = await serveLarge(answers)
    await ask()
    expect(served.map(({ destroyed }) => destroyed)).toEqual([false])
    close()
  })
})
