import type { EntryNumber, SessionId } from '../../packages/core/src/base/ids.ts'
import { buildContext, messagesOf } from '../../packages/core/src/session/context/build.ts'
import type { HandoffRequest } from '../../packages/core/src/session/handoff.ts'
import type { StepRequest, ToolRequest } from '../../packages/core/src/session/step.ts'
import { memoryReads } from '../../packages/core/src/store/memory/reads.ts'
import type { OperationRow } from '../../packages/core/src/store/tables/rows.ts'
import {
  expectedTokens,
  expectedWords,
  fitsWhole,
  foldShadow,
  handoffOf,
  isMessage,
  openInputs,
  type Shadow,
  saidBelow,
  wordsOf,
} from './shadow.ts'
import type { Life } from './sim-process.ts'
import type { World } from './world.ts'

/** Laws about work that starts: what a model sees, which tools run, what a handoff is made from. */
export class StepLaws {
  readonly #world: World
  readonly #shadows: Map<string, Shadow>
  readonly #poison: ReadonlySet<string>
  readonly #toolRuns = new Map<string, number>()
  readonly #shown = new Map<
    string,
    { sessionId: string; upto: number; tokens: number; words: string }
  >()

  /** How many commits a process had seen when it last looked at a session. */
  readonly #looks = new Map<string, number>()

  constructor(world: World, shadows: Map<string, Shadow>, poison: ReadonlySet<string>) {
    this.#world = world
    this.#shadows = shadows
    this.#poison = poison
  }

  #bad(law: string, message: string): void {
    this.#world.violate(law, message)
  }

  /** Nothing with an outside effect starts without a valid lease (decision 21). */
  #held(owner: Life, sessionId: string, what: string): Shadow | undefined {
    const shadow = this.#shadows.get(sessionId)
    // A deletion does not wait for the holder, which learns of it at its next commit or look.
    if (shadow?.isDeleted === true) return undefined
    if (shadow !== undefined && shadow.runner !== (owner.runner?.id ?? null)) {
      this.#bad(
        'I25',
        `${what} for ${sessionId} by ${owner.process.name}, which no longer holds it`,
      )
    }
    return shadow
  }

  looked(owner: Life, sessionId: string): void {
    this.#looks.set(`${owner.number} ${sessionId}`, this.#world.commits)
  }

  /**
   * Another session's erasure came between the look and the action; treat it as if it came after.
   */
  #isBesideErasure(owner: Life, { id, reachedAt }: Shadow): boolean {
    const isBeside = reachedAt > (this.#looks.get(`${owner.number} ${id}`) ?? 0)
    if (isBeside) this.#world.count('step begun beside an erasure elsewhere')
    return isBeside
  }

  stepBegins(owner: Life, request: StepRequest): void {
    const { sessionId, turn, upto, context } = request
    const shadow = this.#held(owner, sessionId, 'a step')
    if (shadow === undefined) return
    const limits = shadow.limitsAt(upto)
    if (!shadow.isRunning || shadow.turn !== turn) this.#bad('I11', `a step of turn ${turn}`)
    if (shadow.openCalls.size > 0) this.#bad('I15', 'a step with open calls')
    this.#wellFormed(request)
    shadow.isCalling = true
    this.#world.count('step')
    if (this.#isBesideErasure(owner, shadow)) return
    const emptied = foldShadow(shadow, upto).effective?.entry.body === null
    if (emptied || shadow.owes.size > 0) this.#bad('I39', `a step of ${sessionId}, which owes`)
    const words = context.flatMap(wordsOf)
    const expected = expectedWords(shadow, upto)
    if (words.filter(isLead).join('\n') !== expected.filter(isLead).join('\n')) {
      this.#bad('I16', `pins of ${sessionId} at ${upto} are not as they were set`)
    } else if (words.join('\n') !== expected.join('\n')) {
      this.#bad('I3', `context at ${upto} of ${sessionId}: ${difference(words, expected)}`)
    }
    this.#openIsWhole(shadow, upto, words)
    const tokens = expectedTokens(shadow, upto)
    if (tokens + limits.outputTokens > limits.hardTokens) {
      this.#bad('I33', `a context of ${tokens} tokens`)
    }
    const stop = shadow.mail.find((mail) => mail.control === 'stop' && mail.turnAt === turn)
    if (stop?.state === 'settled') this.#bad('I11', `stop ${stop.number} was forgotten`)
    const unseen = shadow.entries.slice(shadow.seen, upto)
    const newest = context.at(-1)
    if (unseen.some((each) => each.kind === 'input') && newest?.role !== 'user') {
      this.#bad('I15', `new input is not last, ${newest?.role} is`)
    }
    const inputs = unseen.filter((each) => each.kind === 'input')
    const unseenTokens = inputs.reduce(
      (sum, each) => sum + Math.min(each.tokens, limits.inputTokens),
      0,
    )
    if (unseenTokens > limits.inputTokens) this.#bad('I33', `${unseenTokens} tokens of new input`)
    const told = inputs.some(({ entry }) => entry.kind === 'input' && entry.meta.waiting)
    if (told) this.#world.count('told that more is waiting')
    if (inputs.length > 20) this.#world.count('more than 20 items delivered at once')
    this.#shown.set(`${sessionId} ${upto}`, { sessionId, upto, tokens, words: words.join('\n') })
  }

  /** Input that no finished turn has answered is in every context, whole (I34). */
  #openIsWhole(shadow: Shadow, upto: number, words: readonly string[]): void {
    const limits = shadow.limitsAt(upto)
    const open = openInputs(shadow, upto)
    const shown = new Set(words)
    for (const { number, words: said } of open) {
      const lost = said.find((word) => !shown.has(word))
      if (lost === undefined) continue
      this.#bad(
        'I34',
        `unanswered input ${number} of ${shadow.id} is not in the context at ${upto}`,
      )
    }
    const tokens = open.reduce((sum, each) => sum + Math.min(each.tokens, limits.inputTokens), 0)
    if (tokens > limits.inputTokens) this.#bad('I34', `${tokens} tokens of unanswered input`)
    if (open.some((each) => each.tokens > limits.inputTokens)) {
      this.#world.count(fitsWhole(shadow, upto) ? 'long input shown whole' : 'long input shortened')
    }
    const { covers } = foldShadow(shadow, upto)
    if (open.some(({ number }) => number <= covers))
      this.#world.count('unanswered input beside a handoff')
  }

  /** Calls and results are paired, and roles are right (I15, I18). */
  #wellFormed({ context }: StepRequest): void {
    let open = new Set<string>()
    let mayBeSystem = true
    for (const [index, message] of context.entries()) {
      if (message.role === 'system' && !mayBeSystem) this.#bad('I18', `system rank at ${index}`)
      if (message.role !== 'system') mayBeSystem = false
      if (message.role === 'tool') {
        for (const part of message.parts) {
          if (!open.delete(part.callId)) this.#bad('I15', `an orphan result ${part.callId}`)
        }
        continue
      }
      if (open.size > 0) this.#bad('I15', `${[...open].join()} without a result`)
      open = new Set()
      if (message.role !== 'assistant') continue
      for (const part of message.parts) if (part.type === 'tool-call') open.add(part.id)
    }
    if (open.size > 0) this.#bad('I15', 'the context ends with an open call')
  }

  /** Input that crashes every process that shows it to a model, until the turn is given up. */
  isPoisoned({ sessionId, upto }: StepRequest): boolean {
    const shadow = this.#shadows.get(sessionId)
    return (
      shadow !== undefined &&
      this.#poison.size > 0 &&
      shadow.entries
        .slice(shadow.seen, upto)
        .some((each) => each.words.some((word) => this.#poison.has(word)))
    )
  }

  toolBegins(owner: Life, { sessionId, call, key }: ToolRequest): void {
    const shadow = this.#held(owner, sessionId, 'a tool')
    if (shadow !== undefined && !shadow.openCalls.has(call.id)) {
      this.#bad('I32', `${call.name} ${call.id} runs without a record`)
    }
    if (call.name === 'erased') this.#bad('I32', `${call.id} runs though it was erased`)
    const runs = (this.#toolRuns.get(call.id) ?? 0) + 1
    this.#toolRuns.set(call.id, runs)
    this.#world.count('tool run')
    if (runs > 1) this.#world.count('tool repeated')
    if (runs > 1 && call.name !== 'read')
      this.#bad('I32', `${call.name} ${call.id} ran ${runs} times`)
    if (!key.includes(sessionId)) this.#bad('I32', `key ${key} does not name its session`)
  }

  /** A handoff is made from exactly the range it will cover, of this session only (I10, I21). */
  handoffBegins(owner: Life, { operation, messages, cut }: HandoffRequest): void {
    const shadow = this.#held(owner, operation.sessionId, 'a handoff')
    if (shadow === undefined) return
    if (operation.reason === 'erasure') {
      this.#world.count('handoff written for an erasure')
      return
    }
    // Erased or reverted before its source was read: the handoff is void, whatever it says.
    const isOver = shadow.running?.id !== operation.id && shadow.reachedAt > 0
    if (isOver || foldShadow(shadow, shadow.tail).base !== operation.base) {
      this.#world.count('handoff begun under an old base')
      return
    }
    let earlier = saidBelow(shadow, operation.previous)
    while (['digest', 'clearing'].includes(handoffOf(earlier?.entry)?.by ?? '')) {
      earlier = saidBelow(shadow, handoffOf(earlier?.entry)?.previous ?? 0)
    }
    const { covers: from = 0, carries = [] } = handoffOf(earlier?.entry) ?? {}
    const carried = carries.flatMap((number) => shadow.entries[number - 1] ?? [])
    const head = shadow.entries.slice(from, operation.covers).filter(isMessage)
    const expected = [earlier, ...carried, ...head].flatMap((each) => each?.words ?? [])
    const given = messages
      .slice(0, cut)
      .flatMap(wordsOf)
      .filter((word) => !isLead(word))
    if (given.join('\n') !== expected.join('\n')) {
      this.#bad('I21', `the source of ${operation.id}: ${difference(given, expected)}`)
    }
    if (operation.fence === shadow.fence && operation.trigger === 'manual') {
      this.#world.count('manual compaction')
    }
    const asked = shadow.mail.filter(
      (mail) => mail.control === 'compact' && mail.state === 'admitted',
    )
    if (asked.length > (operation.trigger === 'manual' ? 1 : 0))
      this.#world.count('joined compaction')
  }

  /** Only the deadline, a lost lease, closing or supersession aborts a handoff (I11). */
  handoffAborted(owner: Life, operation: OperationRow, reason: unknown): void {
    const shadow = this.#shadows.get(operation.sessionId)
    const isHeld = shadow?.runner === owner.runner?.id && shadow?.fence === operation.fence
    const isRunning = shadow?.running?.id === operation.id
    this.#world.count(`handoff aborted: ${String(reason)}`)
    if (reason === 'deadline') return
    if (isHeld && isRunning && !owner.isClosing && owner.runner?.mayAct() === true) {
      this.#bad('I11', `compaction ${operation.id} was aborted: ${String(reason)}`)
    }
  }

  /** Any past context can be rebuilt byte for byte from the store alone (decision 1). */
  async replayContexts(): Promise<void> {
    const reads = memoryReads(this.#world.tables)
    for (const { sessionId, upto, tokens, words } of this.#shown.values()) {
      const shadow = this.#shadows.get(sessionId)
      if (shadow === undefined || shadow.isDeleted || upto < shadow.erasedAt) continue
      const source = reads.readContext({
        sessionId: sessionId as SessionId,
        upto: upto as EntryNumber,
      })
      if (source === null) continue
      const context = buildContext(source, source.limits, upto as EntryNumber)
      const again = messagesOf(context).flatMap(wordsOf).join('\n')
      if (again !== words || context.tokens !== tokens) {
        this.#bad('I9', `context at ${upto} of ${sessionId} cannot be built again`)
      }
    }
  }
}

/** System text and pins come first. */
function isLead(word: string): boolean {
  return word.startsWith('system ') || word.startsWith('pinned ')
}

function difference(found: readonly string[], expected: readonly string[]): string {
  const at = found.findIndex((word, index) => word !== expected[index])
  const index = at < 0 ? found.length : at
  return `found "${found[index]}", expected "${expected[index]}" at ${index} of ${found.length}/${expected.length}`
}
