import type { HermesModel, NewRow } from './hermes-model.ts'
import { dumps, type Py, PyFloat } from './python-json.ts'
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

export type Life = (setting: Setting) => Step[]

export const HANDOFFS = [
  '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted. ## Goal',
  '[CONTEXT SUMMARY]: what came before',
]

export function idAt(at: number, chance: Chance, digits: number): string {
  const stamp = new Date(at * 1_000).toISOString().replace(/[-:]/g, '')
  return `${stamp.slice(0, 8)}_${stamp.slice(9, 15)}_${chance.hex(digits)}`
}

/** A conversation in the making: turns move its clock on. */
export class Script {
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
      this.say('user', chance.holds(0.15) ? picture(chance, turn) : chance.pick(SAYINGS) + turn)
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
    const toolCalls = dumps(
      ids.map((id) => ({
        ...{ id, type: 'function' },
        function: { name: 'read', arguments: dumps({ path: `Übersicht ${id}.txt`, depth: 1 }) },
      })),
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
        model.copy(child, row, at)
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
      for (const row of tail) model.copy(id, row)
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

/** In the spellings that Hermes has for them. */
function picture(chance: Chance, turn: number): string {
  const url = `data:image/png;base64,${chance.hex(24)}`
  const part = chance.pick<Py>([
    { type: 'image_url', image_url: { url } },
    { type: 'image_url', image_url: { url, detail: 'auto' } },
    { type: 'input_image', image_url: url },
    { type: 'image_url', image_url: { url }, score: new PyFloat(1) },
  ])
  const parts: Py = [{ type: 'text', text: `siehe Bild ${turn} 日本 😀` }, part]
  return `\0json:${dumps(parts, { ensureAscii: chance.holds(0.8) })}`
}

const SAYINGS = [
  ...['deploy the service ', 'what is the status ', 'ok ', 'Übersicht bitte 日本 ', ''],
  ...['\0json:[torn', 'I have [CONTEXT] in mind ', 'done '],
]
