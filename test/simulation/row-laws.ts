import type { StoreChange } from '../../packages/core/src/store/rules/ruling.ts'
import { foldShadow, type Shadow } from './shadow.ts'
import type { World } from './world.ts'

/** The session row is a cache of what was written and must agree with it (I9). */
export function compareRows(
  world: World,
  shadows: ReadonlyMap<string, Shadow>,
  change: StoreChange,
): void {
  for (const { before, after } of change.sessions ?? []) {
    const shadow = shadows.get(after.id)
    // A deleted row proves nothing: its pins are erased with the rest.
    if (shadow === undefined || after.state === 'gone' || before?.state === 'gone') continue
    const folded = foldShadow(shadow, shadow.tail)
    const pairs: readonly (readonly [string, unknown, unknown])[] = [
      ['tail', after.tail, shadow.tail],
      ['tail hash', after.tailHash, shadow.tailHash],
      ['fence', after.fence, shadow.fence],
      ['base', after.base, folded.base],
      ['effective', after.effective, folded.effective?.number ?? 0],
      ['covers', after.covers, folded.covers],
      ['seen', after.seen, shadow.seen],
      ['losses', after.losses, shadow.losses],
      ['turn', after.turn, shadow.turn],
      ['turn state', after.turnState === 'running', shadow.isRunning],
      ['open calls', after.openCalls.length, shadow.openCalls.size],
      ['operation', after.operation, shadow.running?.id ?? null],
      ['mail', after.mail, shadow.mail.length],
      ['owed', after.owed.join(), [...shadow.owes].sort((a, b) => a - b).join()],
      // Once a deleted session is erased, its row keeps no pins, even while forks keep its entries.
      ...(after.state === 'open'
        ? [['pins', pinsOf(Object.keys(after.pins)), pinsOf(folded.pins.keys())] as const]
        : []),
    ]
    for (const [name, found, expected] of pairs) {
      if (found !== expected)
        world.violate('I9', `${name} of ${after.id}: row ${found}, entries ${expected}`)
    }
    const fixed = [...folded.pins.values(), ...(folded.settings === null ? [] : [folded.settings])]
    const tokens = fixed.reduce((sum, each) => sum + each.tokens, 0)
    if (tokens > after.limits.pinTokens) world.violate('I33', `${tokens} tokens of fixed parts`)
    for (const mail of shadow.mail) {
      if (mail.lane === 'control' || mail.state !== 'admitted') continue
      const isSettled = mail.number <= after.settled[mail.lane]
      if (isSettled && (mail.entry === null || mail.entry > shadow.seen)) {
        world.violate('I3', `mail ${mail.number} settled, but no model has seen it`)
      }
    }
  }
}

function pinsOf(names: Iterable<string>): string {
  return [...names].sort().join()
}
