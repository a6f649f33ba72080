import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConnectionLoan, type ModelConnection, Pool } from './pool.ts'

/** Connections that only record calls. */
class Wire {
  closed = false
  destroyed = false
  dispatch(): boolean {
    return true
  }
  async destroy(): Promise<void> {
    this.destroyed = true
  }
}

function pool() {
  const wires: Wire[] = []
  const made = new Pool({
    open: () => {
      const wire = new Wire()
      wires.push(wire)
      return wire as unknown as ModelConnection
    },
  })
  return { wires, made }
}

const request = { origin: 'http://127.0.0.1:1', route: 'main', purpose: 'compaction' }

describe('a loan', () => {
  it('uses one line per route and purpose', () => {
    const { made } = pool()
    const lines = [
      request,
      request,
      { ...request, purpose: 'title' },
      { ...request, route: 'other' },
      { ...request, origin: 'http://127.0.0.1:2' },
    ].map((each) => made.loan(each).line)
    expect(lines).toEqual([1, 1, 2, 3, 4])
  })

  it('never uses an evicted line [I22]', () => {
    const { made } = pool()
    const first = made.loan(request)
    first.evict()
    expect(made.loan(request).line).not.toBe(first.line)
  })

  it('never uses a line that was closed without our doing', () => {
    const { made, wires } = pool()
    for (const state of ['closed', 'destroyed'] as const) {
      const before = made.loan(request)
      before.release()
      const wire = wires.at(-1)
      if (wire !== undefined) wire[state] = true
      expect(made.loan(request).line).toBe(before.line + 1)
    }
  })

  it('of an evicted line continues until it is returned; then the line closes', () => {
    const { made, wires } = pool()
    const [mine, theirs] = [made.loan(request), made.loan(request)]
    mine.evict()
    mine.release()
    mine.release()
    expect(wires[0]?.destroyed).toBe(false)
    expect(made.lines).toBe(1)
    theirs.release()
    expect(wires[0]?.destroyed).toBe(true)
    expect(made.lines).toBe(0)
  })

  it('evicts only its own line, even late', () => {
    const { made } = pool()
    const old = made.loan(request)
    old.evict()
    const current = made.loan(request)
    old.evict()
    old.release()
    expect(made.loan(request).line).toBe(current.line)
  })
})

describe('the pool', () => {
  it('keeps no line that is neither on loan nor available, after any sequence of calls', () => {
    const action = fc.tuple(
      fc.constantFrom('loan', 'evict', 'release', 'die'),
      fc.integer({ min: 0, max: 9 }),
      fc.constantFrom('compaction', 'title'),
    )
    const property = fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const { made, wires } = pool()
      const out: ConnectionLoan[] = []
      for (const [what, at, purpose] of actions) {
        const loan = out[at % Math.max(1, out.length)]
        if (what === 'loan') {
          const lent = made.loan({ ...request, purpose })
          expect(lent.dispatcher.destroyed).toBe(false)
          out.push(lent)
        } else if (what === 'evict') loan?.evict()
        else if (what === 'release' && loan !== undefined) {
          loan.release()
          out.splice(out.indexOf(loan), 1)
        } else if (what === 'die') {
          const wire = wires[at % Math.max(1, wires.length)]
          if (wire !== undefined) wire.closed = true
        }
        // No stream in use was cut, and nothing is kept that is not in use or current.
        for (const { dispatcher } of out) expect(dispatcher.destroyed).toBe(false)
        expect(made.lines).toBeLessThanOrEqual(out.length + 2)
      }
      for (const loan of out.splice(0)) {
        loan.evict()
        loan.release()
      }
      expect(made.lines).toBeLessThanOrEqual(2)
    })
    fc.assert(property)
  })

  it('keeps a bounded number of unused lines', () => {
    const { made, wires } = pool()
    for (let at = 0; at < 2_000; at++) made.loan({ ...request, purpose: `p${at}` }).release()
    expect(made.lines).toBe(512)
    expect(wires.filter(({ destroyed }) => !destroyed)).toHaveLength(512)
  })

  it('closes everything once, and lends only closed connections afterwards', async () => {
    const { made, wires } = pool()
    const loan = made.loan(request)
    await made.close()
    await made.close()
    loan.release()
    expect(wires[0]?.destroyed).toBe(true)
    expect(made.lines).toBe(0)
    expect(made.loan(request).dispatcher.destroyed).toBe(true)
  })
})
