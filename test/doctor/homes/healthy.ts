import { idAt, type Life, Script } from './conversations.ts'
import { dumps } from './python-json.ts'

/** Lives in which nothing goes wrong, though much of it looks like what does. */
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
          modelConfig: isTool ? null : dumps({ [kind]: parent }),
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
    script.do((model) => {
      model.close(id, now, reason)
      model.routes.delete(setting.key)
    })
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
      if (setting.keepsTimes) model.copy(child, model.append(parent, row))
      else model.append(child, row)
    })
    script.turns(1)
    return script.steps
  },
}
