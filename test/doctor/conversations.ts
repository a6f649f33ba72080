import type { HermesModel, NewRow } from './hermes-model.ts'
import type { Chance } from './random.ts'

/**
 * Lives of conversations, healthy and harmed, as steps in time. A step changes the model and may say
 * what the doctor must find because of it.
 */
export interface Step {
  readonly at: number
  readonly run: (model: HermesModel, expect: (expected: Expected) => void) => void
}

export interface Expected {
  readonly kind: string
  readonly sessionId: string
  /** What the finding must say beyond that, where the steps know it. */
  readonly rowIds?: readonly number[]
  readonly rowsGone?: number
}

export interface Setting {
  readonly chance: Chance
  readonly start: number
  readonly key: string
  readonly hasActive: boolean
  readonly hasCooldown: boolean
  /** Copies of carried rows keep their times, as later versions do. */
  readonly keepsTimes: boolean
  readonly now: number
}

type Life = (setting: Setting) => Step[]

const HANDOFFS = [
  '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted. ## Goal',
  '[CONTEXT SUMMARY]: what came before',
]

export function idAt(at: number, chance: Chance, digits: number): string {
  const stamp = new Date(at * 1_000).toISOString().replace(/[-:]/g, '')
  return `${stamp.slice(0, 8)}_${stamp.slice(9, 15)}_${chance.hex(digits)}`
}

/** A conversation in the making: turns move its clock on. */
class Script {
  readonly steps: Step[] = []
  readonly setting: Setting
  readonly root: string
  now: number
  id: string

  constructor(setting: Setting, more: Parameters<HermesModel['open']>[2] = {}) {
    this.setting = setting
    this.now = setting.start
    this.root = idAt(this.now, setting.chance, 8)
    this.id = this.root
    const { root } = this
    const at = this.now
    this.do((model) => model.open(root, at, { sessionKey: setting.key, ...more }))
    this.do((model) => model.routes.set(setting.key, root))
  }

  do(run: Step['run']): void {
    this.now += 0.002 + this.setting.chance.next() * 0.01
    this.steps.push({ at: this.now, run })
  }

  say(role: string, content: string | null, more: Partial<NewRow> = {}): void {
    this.now += 1 + this.setting.chance.next() * 90
    const { id, now } = this
    this.do((model) => model.append(id, { role, content, at: now, ...more }))
  }

  turns(count: number): void {
    const { chance } = this.setting
    for (let turn = 0; turn < count; turn++) {
      this.say('user', chance.pick(SAYINGS) + turn)
      for (let call = chance.between(0, 2); call > 0; call--) this.tool()
      this.say('assistant', chance.pick(SAYINGS) + turn)
    }
  }

  tool(): void {
    const calls = Array.from(
      { length: this.setting.chance.between(1, 3) },
      () => `call_${this.setting.chance.hex(8)}`,
    )
    this.call(calls)
    for (const toolCallId of calls) this.say('tool', 'line\nline', { toolCallId })
  }

  call(ids: readonly string[]): void {
    const toolCalls = JSON.stringify(
      ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })),
    )
    this.say('assistant', null, { toolCalls })
  }

  /** Closes the session and goes on in a child that holds a handoff and copies of the newest rows. */
  rotate({ carry = this.setting.chance.between(0, 4), follow = true } = {}): string {
    const { chance, keepsTimes, key } = this.setting
    this.now += 30
    const { id: parent, now } = this
    const child = idAt(now, chance, 6)
    const handoff = chance.pick(HANDOFFS)
    this.do((model) => {
      model.close(parent, now, 'compression')
      model.open(child, now + 0.001, { parentId: parent, sessionKey: key })
      model.append(child, { role: 'user', content: handoff, at: now + 0.0015, isSummary: true })
      const tail = carry === 0 ? [] : wholeTail(model, parent, carry)
      for (const [index, row] of tail.entries()) {
        const at = keepsTimes ? row.at : now + 0.002 + index * 0.001
        model.append(child, { ...row, at })
      }
      if (follow) model.routes.set(key, child)
    })
    this.id = child
    return parent
  }

  compactInPlace(): void {
    this.now += 30
    const { id, now } = this
    const keep = this.setting.chance.between(0, 4)
    this.do((model) => {
      const tail = keep === 0 ? [] : wholeTail(model, id, keep)
      for (const row of model.live(id)) {
        row.active = 0
        row.compacted = 1
      }
      model.append(id, { role: 'user', content: HANDOFFS[0] ?? '', at: now, isSummary: true })
      for (const row of tail) model.append(id, { ...row, at: row.at, isSummary: row.isSummary })
    })
  }
}

/** The newest rows, begun at one that is no tool result: Hermes never parts a call from its results. */
function wholeTail(model: HermesModel, sessionId: string, count: number) {
  const live = model.live(sessionId)
  let start = Math.max(0, live.length - count)
  while (start > 0 && live[start]?.role === 'tool') start -= 1
  return live.slice(start)
}

const SAYINGS = [
  ...['deploy the service ', 'what is the status ', 'ok ', 'Übersicht bitte 日本 ', ''],
  ...['\0json:[{"type":"text","text":"see picture"}] ', 'I have [CONTEXT] in mind ', 'done '],
]

export const HEALTHY: { readonly [name: string]: Life } = {
  plain(setting) {
    const script = new Script(setting)
    script.turns(setting.chance.between(0, 12))
    return script.steps
  },
  chain(setting) {
    const script = new Script(setting)
    for (let link = setting.chance.between(1, 4); link > 0; link--) {
      script.turns(setting.chance.between(1, 5))
      script.rotate()
    }
    script.turns(setting.chance.between(0, 4))
    return script.steps
  },
  inPlace(setting) {
    const script = new Script(setting)
    for (let pass = setting.chance.between(1, 3); pass > 0; pass--) {
      script.turns(setting.chance.between(2, 5))
      if (setting.hasActive) script.compactInPlace()
    }
    script.turns(2)
    return script.steps
  },
  otherChildren(setting) {
    const script = new Script(setting)
    script.turns(3)
    const parent = script.rotate()
    script.turns(2)
    const { chance } = setting
    for (const kind of ['_branched_from', '_delegate_from', '_reset_from', 'tool'] as const) {
      const id = idAt(script.now + chance.between(1, 9), chance, 6)
      const at = script.now
      const isTool = kind === 'tool'
      const filled = chance.holds(0.5)
      script.do((model) => {
        model.open(id, at, {
          parentId: parent,
          source: isTool ? 'tool' : 'telegram',
          modelConfig: isTool ? null : JSON.stringify({ [kind]: parent }),
        })
        if (filled) model.append(id, { role: 'user', content: 'elsewhere', at: at + 1 })
      })
    }
    return script.steps
  },
  undone(setting) {
    const script = new Script(setting)
    script.turns(4)
    const { id, now } = script
    script.do((model) => {
      const kept = model.live(id).filter((row) => row.role !== 'tool' && row.toolCalls === null)
      model.replace(id, kept.slice(0, -2), now + 5)
    })
    script.now += 10
    script.turns(1)
    return script.steps
  },
  compressedByHand(setting) {
    const script = new Script(setting)
    script.turns(5)
    script.rotate({ carry: 4 })
    const { id, now } = script
    script.do((model) => {
      const kept = model.live(id).filter((row) => row.role !== 'tool' && row.toolCalls === null)
      model.replace(id, [...kept, ...kept], now + 2)
    })
    script.now += 10
    script.turns(2)
    return script.steps
  },
  inProgress(setting) {
    const script = new Script(setting)
    script.turns(2)
    script.call([`call_${setting.chance.hex(8)}`])
    return script.steps
  },
  closedOtherwise(setting) {
    const script = new Script(setting)
    script.turns(2)
    const { id, now } = script
    const reason = setting.chance.pick(['session_reset', 'idle', 'daily', 'branched', 'user_exit'])
    script.do((model) => model.close(id, now, reason))
    script.turns(1)
    return script.steps
  },
  modest(setting) {
    const script = new Script(setting)
    script.turns(1)
    script.say('assistant', 'I have no record of that order in the customer database.')
    script.turns(1)
    return script.steps
  },
  rewound(setting) {
    const script = new Script(setting)
    script.turns(3)
    const { id } = script
    script.do((model) => {
      if (!setting.hasActive) return
      const live = model.live(id)
      const turn = live.findLastIndex((row) => row.role === 'user')
      for (const row of live.slice(turn)) row.active = 0
    })
    script.say('user', 'again, differently')
    return script.steps
  },
  recovered(setting) {
    const { hasCooldown, start } = setting
    const script = new Script(
      setting,
      hasCooldown ? { cooldownUntil: start + 60, fallbackStreak: 1 } : {},
    )
    script.now += 120
    script.turns(2)
    return script.steps
  },
  arrivedMeanwhile(setting) {
    const script = new Script(setting)
    script.turns(2)
    const parent = script.rotate({ carry: 0 })
    const child = script.id
    const at = script.now
    script.do((model) => {
      const row = { role: 'user', content: 'while you were busy', at }
      if (setting.keepsTimes) model.append(parent, row)
      model.append(child, row)
    })
    script.turns(1)
    return script.steps
  },
}

export const HARMED: { readonly [name: string]: Life } = {
  late(setting) {
    const script = new Script(setting)
    script.turns(3)
    const parent = script.rotate()
    const child = script.id
    const count = setting.chance.between(1, 5)
    const ids: number[] = []
    for (let index = 0; index < count; index++) {
      script.now += 20
      const at = script.now
      script.do((model) =>
        ids.push(model.append(parent, { role: 'user', content: `[RESULT] ${index}`, at }).id),
      )
    }
    script.do((_model, expect) =>
      expect({ kind: 'rows-after-closing', sessionId: parent, rowIds: ids }),
    )
    script.turns(1)
    if (setting.chance.holds(0.5)) {
      script.say('user', 'what about the result?')
      script.say('assistant', 'I have no record of a result being delivered.')
      script.do((_model, expect) => expect({ kind: 'said-no-record', sessionId: child }))
    }
    return script.steps
  },
  orphan(setting) {
    const script = new Script(setting)
    script.turns(3)
    const { id, now } = script
    script.do((model, expect) => {
      model.close(id, now, 'compression')
      model.routes.delete(setting.key)
      expect({ kind: 'orphaned-parent', sessionId: id })
    })
    return script.steps
  },
  fork(setting) {
    const script = new Script(setting)
    script.turns(3)
    const parent = script.rotate()
    script.turns(1)
    for (let more = setting.chance.between(1, 2); more > 0; more--) {
      script.now += 3
      const other = idAt(script.now, setting.chance, 6)
      const at = script.now
      script.do((model) => {
        model.open(other, at, { parentId: parent })
        model.append(other, { role: 'user', content: HANDOFFS[0] ?? '', at: at + 0.01 })
      })
    }
    script.do((_model, expect) => expect({ kind: 'fork', sessionId: parent }))
    return script.steps
  },
  shell(setting) {
    const script = new Script(setting)
    script.turns(3)
    const { id: parent, now } = script
    const shell = idAt(now, setting.chance, 6)
    script.do((model, expect) => {
      model.close(parent, now, 'compression')
      model.open(shell, now + 0.001, { parentId: parent })
      model.routes.set(setting.key, shell)
      expect({ kind: 'empty-shell', sessionId: parent })
    })
    return script.steps
  },
  misrouted(setting) {
    const script = new Script(setting)
    script.turns(3)
    const parent = script.rotate({ follow: false })
    script.turns(1)
    script.do((_model, expect) => expect({ kind: 'route-on-closed-parent', sessionId: parent }))
    return script.steps
  },
  rewritten(setting) {
    const script = new Script(setting)
    script.turns(setting.chance.between(3, 20))
    script.now += 60
    const { id, now } = script
    const count = setting.chance.between(5, 15)
    const handoffAt = setting.chance.between(0, count - 1)
    script.do((model, expect) => {
      const rows = Array.from({ length: count }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: index === handoffAt ? (HANDOFFS[0] ?? '') : `kept ${index}`,
      }))
      const rowsGone = model.replace(id, rows, now)
      expect({ kind: 'destructive-rewrite', sessionId: id, rowsGone })
    })
    script.turns(setting.chance.between(0, 3))
    return script.steps
  },
  doubled(setting) {
    const script = new Script(setting)
    script.turns(3)
    const { id } = script
    script.do((model, expect) => {
      const texts = model.live(id).filter((row) => row.role === 'user')
      const ids = texts.slice(-2).map((row) => model.append(id, { ...row, at: row.at }).id)
      expect({ kind: 'doubled-rows', sessionId: id, rowIds: ids })
    })
    return script.steps
  },
  unpaired(setting) {
    const script = new Script(setting)
    script.turns(1)
    const { id } = script
    if (setting.chance.holds(0.5))
      script.say('tool', 'left over', { toolCallId: 'call_nobody_made' })
    else script.call([`call_${setting.chance.hex(8)}`])
    script.do((_model, expect) => expect({ kind: 'broken-tool-pair', sessionId: id }))
    script.turns(1)
    return script.steps
  },
  stuck(setting) {
    if (!setting.hasCooldown) return HEALTHY['plain']?.(setting) ?? []
    const more = setting.chance.pick([
      { cooldownUntil: setting.now + 600 },
      { fallbackStreak: 2 },
      { ineffectiveCount: 3 },
    ])
    const script = new Script(setting, more)
    script.turns(2)
    const { id } = script
    script.do((_model, expect) => expect({ kind: 'stuck-compaction', sessionId: id }))
    return script.steps
  },
  homeless(setting) {
    const id = `gone_${setting.chance.hex(6)}`
    const at = setting.start
    return [
      {
        at,
        run(model, expect) {
          model.append(id, { role: 'user', content: 'whose am I', at })
          expect({ kind: 'homeless-rows', sessionId: id })
        },
      },
    ]
  },
  routedNowhere(setting) {
    const id = `nowhere_${setting.chance.hex(6)}`
    return [
      {
        at: setting.start,
        run(model, expect) {
          model.routes.set(setting.key, id)
          expect({ kind: 'route-nowhere', sessionId: id })
        },
      },
    ]
  },
  tornMarker(setting) {
    const script = new Script(setting)
    script.turns(2)
    script.rotate()
    const { id } = script
    script.say('user', `${HANDOFFS[0]} Summary generation was unavailable. 40 turns were removed.`)
    script.do((_model, expect) => expect({ kind: 'torn-summary', sessionId: id }))
    script.turns(1)
    return script.steps
  },
}
