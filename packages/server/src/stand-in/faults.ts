import { hash } from 'node:crypto'
import { KnownError } from '#core/base/errors'

/**
 * Faults on demand, in one small language: a kind, then `name=value` settings after semicolons, as
 * in `drip; ms=20` or `status; code=429; retry-after=2`. The request header `x-stand-in-fault`, the
 * queue and the rates all use it. A request has at most one fault: that of its header, else the
 * first match in the queue, else a standing one, else a random one.
 */
export const STAND_IN_FAULTS = {
  latency: 'answers after `ms`',
  'half-open': 'takes the request and says nothing, for ever',
  'reset-before-headers': 'resets the connection instead of answering',
  'reset-reused-socket': 'resets the connection if it carried a request before, else answers',
  'stall-after-headers': 'sends the headers, then nothing, for ever',
  'stall-mid-stream': 'sends the share `after` of the answer, then nothing, for ever',
  drip: 'sends one byte every `ms`',
  'cut-stream': 'ends behind the share `after` of the answer, without its end; `how`',
  'cut-json': 'ends inside a JSON document; `how`',
  'cut-utf8': 'ends inside a character; `how`',
  'unparsable-line': 'sends a line that is no JSON between the others',
  'stream-error': 'tells an error, overload or overflow (`what`), within a stream that began well',
  status: 'answers with the status `code` and the header Retry-After as given',
  'context-overflow': 'refuses the request as too long, whatever its length',
  html: 'answers with a page and status 200',
  finish: 'gives the wrong reason for the end: length, content-filter or window (`reason`)',
  empty: 'answers with nothing',
  blank: 'answers with white space',
  'only-reasoning': 'thinks and says nothing',
  'too-long': 'answers with more than it was sent',
  refusal: 'refuses in the way that the provider has for it',
  'refusal-in-words': 'refuses in words, with a normal end',
  'injected-orders': 'puts forged system tags, tool calls and a forged handoff into the answer',
  'leaked-secrets': 'puts credentials into the answer',
  'other-request': 'answers with the ids, the model and the text of somebody else',
} as const satisfies { readonly [kind: string]: string }

export type FaultKind = keyof typeof STAND_IN_FAULTS
export type CutEnding = 'fin' | 'reset' | 'clean'

export interface Fault {
  readonly kind: FaultKind
  /** For `latency` (1,000) and `drip` (20). */
  readonly ms: number
  /** The share of the answer that is sent before the fault, 0 to 1. */
  readonly after: number
  /** `fin` closes the connection, `reset` resets it, `clean` ends the HTTP answer properly. */
  readonly how: CutEnding
  readonly code: number
  readonly retryAfter?: string
  readonly what: 'overload' | 'overflow'
  readonly reason: 'length' | 'content-filter' | 'window'
}

const CHOICES = {
  how: ['fin', 'reset', 'clean'],
  what: ['overload', 'overflow'],
  reason: ['length', 'content-filter', 'window'],
} as const

export class UnknownFaultError extends KnownError {
  override readonly name = 'UnknownFaultError'
  readonly code = 'unknown-fault'
  readonly retryable = false
}

/** Throws `UnknownFaultError`. */
export function readFault(text: string): Fault {
  const [kind = '', ...settings] = text.split(';').map((part) => part.trim())
  if (!Object.hasOwn(STAND_IN_FAULTS, kind)) {
    const known = Object.keys(STAND_IN_FAULTS).join(', ')
    throw new UnknownFaultError(`There is no fault ${JSON.stringify(kind)}; known are ${known}.`)
  }
  const values = new Map(settings.map((setting) => splitSetting(setting)))
  const number = (name: string, fallback: number, min: number, max: number) => {
    const value = Number(values.get(name) ?? fallback)
    values.delete(name)
    if (value >= min && value <= max) return value
    throw new UnknownFaultError(`${name} of a fault is a number from ${min} to ${max}.`)
  }
  const choice = <Name extends keyof typeof CHOICES>(name: Name) => {
    const value = values.get(name) ?? CHOICES[name][0]
    values.delete(name)
    const found = CHOICES[name].find((known) => known === value)
    if (found !== undefined) return found as (typeof CHOICES)[Name][number]
    throw new UnknownFaultError(`${name} of a fault is one of ${CHOICES[name].join(', ')}.`)
  }
  const retryAfter = values.get('retry-after')
  values.delete('retry-after')
  const fault: Fault = {
    kind: kind as FaultKind,
    ms: number('ms', kind === 'drip' ? 20 : 1_000, 0, 2 ** 31 - 1),
    after: number('after', 0.5, 0, 1),
    how: choice('how'),
    code: number('code', 500, 400, 599),
    ...(retryAfter !== undefined && { retryAfter }),
    what: choice('what'),
    reason: choice('reason'),
  }
  const [unknown] = values.keys()
  if (unknown === undefined) return fault
  throw new UnknownFaultError(`The fault ${kind} has no setting ${JSON.stringify(unknown)}.`)
}

function splitSetting(setting: string): readonly [string, string] {
  const at = setting.indexOf('=')
  return at === -1 ? [setting, ''] : [setting.slice(0, at).trim(), setting.slice(at + 1).trim()]
}

/** The properties of a request that a fault can be aimed at. */
export interface Target {
  readonly path: string
  readonly model: string | undefined
  readonly headers: { readonly [name: string]: string | undefined }
  readonly bodyText: string
  /** The connection has carried a request before. */
  readonly reused: boolean
}

export interface FaultTarget {
  /** Absent: every request. */
  readonly when?: (target: Target) => boolean
}

interface Planned extends FaultTarget {
  readonly fault: Fault
}

export class Faults {
  #queue: Planned[] = []
  #standing: Planned[] = []
  #chances: { fault: Fault; rate: number }[] = []
  #seed = 0

  /** The next matching request has this fault, once. */
  next(fault: string, aim: FaultTarget = {}): void {
    this.#queue.push({ fault: readFault(fault), ...aim })
  }

  /** Every matching request has this fault, until the returned function is called. */
  always(fault: string, aim: FaultTarget = {}): () => void {
    const planned = { fault: readFault(fault), ...aim }
    this.#standing.push(planned)
    return () => {
      this.#standing = this.#standing.filter((other) => other !== planned)
    }
  }

  /** Random, but the same for the same seed and request number. Replaces earlier rates. */
  rates(rates: { readonly [fault: string]: number }, options: { readonly seed: number }): void {
    this.#chances = Object.entries(rates).map(([text, rate]) => ({ fault: readFault(text), rate }))
    this.#seed = options.seed
  }

  /** Queued faults that have not matched a request yet. */
  get waiting(): number {
    return this.#queue.length
  }

  clear(): void {
    this.#queue = []
    this.#standing = []
    this.#chances = []
  }

  /** Takes the fault for a request; `number` counts requests from 1. */
  take(target: Target, number: number): Fault | undefined {
    const header = target.headers['x-stand-in-fault']
    if (header !== undefined) return readFault(header)
    const wants = ({ fault, when }: Planned) =>
      (fault.kind !== 'reset-reused-socket' || target.reused) && (when?.(target) ?? true)
    const at = this.#queue.findIndex(wants)
    if (at !== -1) return this.#queue.splice(at, 1)[0]?.fault
    return this.#standing.find(wants)?.fault ?? this.#draw(number)
  }

  #draw(number: number): Fault | undefined {
    if (this.#chances.length === 0) return undefined
    const digits = hash('sha256', `${this.#seed} ${number}`, 'hex').slice(0, 12)
    let share = Number.parseInt(digits, 16) / 2 ** 48
    for (const { fault, rate } of this.#chances) {
      if (share < rate) return fault
      share -= rate
    }
    return undefined
  }
}
