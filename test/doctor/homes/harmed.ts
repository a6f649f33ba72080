import { HANDOFFS, idAt, type Life, Script } from './conversations.ts'
import { HEALTHY } from './healthy.ts'

/** Lives with one fault each; the step that makes it says what must be found. */
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
  /** What the agent had asked for comes back after the closing. */
  lateResult(setting) {
    const script = new Script(setting)
    script.turns(2)
    const calls = [`call_${setting.chance.hex(8)}`, `call_${setting.chance.hex(8)}`]
    script.call(calls)
    const hasFirst = setting.chance.holds(0.5)
    if (hasFirst) script.say('tool', 'the first', { toolCallId: calls[0] ?? '' })
    const parent = script.rotate({ carry: 0 })
    const ids: number[] = []
    for (const toolCallId of hasFirst ? calls.slice(1) : calls) {
      script.now += 20
      const at = script.now
      const row = { role: 'tool', content: 'what came back', at, toolCallId }
      script.do((model) => ids.push(model.append(parent, row).id))
    }
    script.do((_model, expect) =>
      expect({ kind: 'rows-after-closing', sessionId: parent, rowIds: ids }),
    )
    script.turns(1)
    return script.steps
  },
  /** Both branches of a fork are talked in, one of them beyond another compaction. */
  forkTalked(setting) {
    const script = new Script(setting)
    script.turns(2)
    const parent = script.rotate()
    script.turns(2)
    const first = script.id
    const other = idAt(script.now + 2, setting.chance, 6)
    const at = script.now
    script.do((model, expect) => {
      model.open(other, at, { parentId: parent })
      model.append(other, { role: 'user', content: HANDOFFS[0] ?? '', at: at + 0.01 })
      expect({ kind: 'fork', sessionId: parent })
    })
    script.id = setting.chance.holds(0.5) ? other : first
    script.turns(2)
    if (setting.chance.holds(0.5)) {
      script.rotate()
      script.turns(1)
    }
    if (setting.chance.holds(0.3)) {
      const shell = idAt(script.now + 3, setting.chance, 6)
      const opened = script.now
      script.do((model, expect) => {
        model.open(shell, opened, { parentId: parent })
        expect({ kind: 'empty-shell', sessionId: shell })
      })
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
      const ids = texts.slice(-2).map((row) => model.copy(id, row).id)
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
