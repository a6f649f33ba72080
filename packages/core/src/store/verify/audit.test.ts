import { describe, expect, it } from 'vitest'
import { sessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import { hashTitle } from '../integrity/chain.ts'
import type { AuditKind } from '../tables/rows.ts'
import { AuditCheck, type Counted } from './audit.ts'

const id = sessionId('talk')
const titled = { title: 'Orchids', titleSalt: 'salt' }

/** The findings about a title, given these audit rows. */
function judge(
  title: Pick<Counted, 'title' | 'titleSalt'>,
  told: readonly (readonly [AuditKind, JsonObject])[],
): readonly string[] {
  const check = new AuditCheck('store')
  for (const [kind, facts] of told) {
    const row = { kind, facts, sessionId: id, cursor: 0, at: 0, operation: null, phase: null }
    check.addUnlinked({ ...row, hash: '' })
  }
  const owner = { id, agent: 'ada', scope: id, createdAt: 0, birth: 'created' } as const
  const session = { ...owner, state: 'open', tail: 0, mail: 0, fence: 0 } as const
  return check.end([{ ...session, ...title } as unknown as Counted]).map(({ problem }) => problem)
}

const created = ['session created', { agent: 'ada', birth: 'created' }] as const
const changed = ['settings changed', { what: 'title', titleHash: hashTitle(titled) }] as const
const OTHER = ['session row has another title than the audit']
const none = { title: null, titleSalt: null }

describe('a title', () => {
  it('must match the audit [I19]', () => {
    expect(judge(titled, [created, changed])).toEqual([])
    expect(judge({ ...titled, title: 'Roses' }, [created, changed])).toEqual(OTHER)
    expect(judge({ ...titled, titleSalt: null }, [created, changed])).toEqual(OTHER)
    expect(judge(none, [created, changed])).toEqual(OTHER)
    expect(judge(titled, [created])).toEqual(OTHER)
    expect(judge(none, [created])).toEqual([])
  })

  it('may be missing after an erasure, and differ after the next change', () => {
    const erased = ['entries erased', {}] as const
    expect(judge(none, [created, changed, erased])).toEqual([])
    expect(judge({ ...titled, title: 'Roses' }, [created, changed, erased])).toEqual(OTHER)
    expect(judge(none, [created, erased, changed])).toEqual(OTHER)
  })

  it('is accepted if an earlier version set or imported it without recording a hash', () => {
    const old = { ...titled, titleSalt: null }
    expect(judge(old, [created, ['settings changed', { what: 'title' }]])).toEqual([])
    expect(judge(old, [['session created', { agent: 'ada', birth: 'imported' }]])).toEqual([])
  })
})
