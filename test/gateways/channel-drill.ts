import { type Clock, systemClock } from '../../src/base/clock.ts'
import type { SessionId } from '../../src/base/ids.ts'
import { type LocalRuntime, openRuntime } from '../../src/runtime/open-runtime.ts'
import type { Script } from '../../src/stand-in/index.ts'
import type { Store } from '../../src/store/contract.ts'
import { openMemoryStore } from '../../src/store/memory/open.ts'
import { LOOP_RULE } from '../../src/tools/send-message/loop.ts'
import { until } from './contract.ts'
import { DiscordPlace, SUMMARIES } from './discord-place.ts'
import type { ChannelRow, MessageRow, UserRow } from './discord-world.ts'

/**
 * `npm run drill:channel [-- --hours N]`: nine bots in one Discord channel. Every ten minutes of
 * simulated time a person gives the first bot a task, which hands it to another, which reports; then
 * they thank each other, as such bots do, without end. Compactions are asked for all the while.
 *
 * The control run is the same without the breaker, and is ended when the thanks have gone on for
 * several times as long as the breaker lets them.
 */
export interface ChannelVerdict {
  readonly hours: number
  readonly tasks: number
  /** Messages in the channel. */
  readonly messages: number
  /** Messages meant for a bot, summed over the bots, and those of them that it has got. */
  readonly meant: number
  readonly heard: number
  readonly compactions: number
  readonly idsChanged: number
  /** The longest row of thanks without another word, and all of them. */
  readonly longestLoop: number
  readonly thanks: number
  readonly findings: readonly string[]
}

const BOTS = 9
const TASK_MS = 10 * 60_000
const WINDOW_TOKENS = 8_000
/**
 * What the two of a task say behind its report: as many thanks as the rule allows, and the one that
 * answers the last of them, which is held. Held ones go in with the next word to their bot and make
 * no row of their own, whoever of the nine it is.
 */
export const THANKS_PER_TASK = LOOP_RULE.messagesMax + 1
export const CONTROL_LOOP = LOOP_RULE.messagesMax * 4
/** By looks, not by time: a stall passes time, but whoever is to be heard needs only a few of them. */
const QUIET_LOOKS = 30

interface Member {
  readonly user: UserRow
  readonly agent: string
}

export async function drillChannel(terms: {
  readonly hours: number
  /** Default: with it. */
  readonly breaker?: 'off'
  readonly onTask?: (done: number) => void
}): Promise<ChannelVerdict> {
  const { hours, breaker } = terms
  const mood = { isNight: false }
  const place = await DiscordPlace.open({ script: (ask) => coordination(ask, mood) })
  const room = place.world.addChannel()
  const person = place.world.addPerson('ada')
  const members: readonly Member[] = Array.from({ length: BOTS }, (_, at) => ({
    user: place.addBot(`bot${at}`),
    agent: `bot${at}`,
  }))
  const clock = new SkippingClock()
  const store = openMemoryStore()
  const agents = members.map(({ agent }) => place.agentOf(agent, WINDOW_TOKENS))
  const runtime = await openRuntime({ store, agents, clock })
  for (const { user, agent } of members) {
    const bots = members.map((member) => member.user.id).filter((id) => id !== user.id)
    const allow = { chats: [room.id], users: [] }
    place.open(user, {
      ...{ store, runtime, agent, bots, allow },
      ...(breaker === 'off' && { loopRule: null }),
    })
  }
  try {
    await until(() => members.every(({ user }) => place.discord.connectionsOf(user) > 0), 60_000)
    const [first] = members
    if (first === undefined) throw new Error('There are no bots.')
    const ids = new Map<string, SessionId>()
    const tasks = hours * 6
    for (let task = 1; task <= tasks; task++) {
      const worker = members[1 + (task % (BOTS - 1))] ?? first
      const content = `<@${first.user.id}> TASK ${task} is for <@${worker.user.id}>, please.`
      place.discord.say(room, { author: person, content })
      await compactSome(runtime, ids, task)
      if (breaker === 'off') await until(() => longestLoop(place, room) >= CONTROL_LOOP, 60_000)
      else await quiet(place, runtime, store, room)
      for (const { user, agent } of members) {
        const route = { agent, channel: `discord:${user.id}`, address: room.id }
        const id = await runtime.findRoute(route)
        if (id !== undefined && !ids.has(agent)) ids.set(agent, id)
      }
      clock.skip(TASK_MS)
      terms.onTask?.(task)
    }
    // A word to each, so that what was held back is heard as well; nobody thanks any more.
    mood.isNight = true
    if (breaker !== 'off') {
      for (const { user } of members) {
        place.discord.say(room, { author: person, content: `<@${user.id}> good night` })
      }
      await quiet(place, runtime, store, room)
    }
    return await judge({ place, runtime, store, room, members, ids, terms })
  } finally {
    await place.close()
    await runtime.close()
  }
}

const WORK = 'the harbour wall, the third crane, its cable, the log of the night and the tide. '
const THANKS = 'thanks!'

/** What the bots do: hand on, report, and thank whoever wrote. */
function coordination(
  { messages, model }: Parameters<Script>[0],
  { isNight }: { readonly isNight: boolean },
): ReturnType<Script> {
  if (model === SUMMARIES) return undefined
  if (isNight) return { text: 'Good night.' }
  const last = messages.at(-1)
  const part = last?.role === 'user' ? last.parts.at(-1) : undefined
  const heard = part?.type === 'text' ? part.text : ''
  const [, from = ''] = /^[^:]*\((<@\d+>)\):/.exec(heard) ?? []
  const [, task, worker] = /TASK (\d+) is for .*(<@\d+>)/.exec(heard) ?? []
  if (worker !== undefined) {
    return { text: `${worker} please do job ${task}: look after ${WORK.repeat(18)}` }
  }
  const [, job] = /please do job (\d+)/.exec(heard) ?? []
  if (job !== undefined)
    return { text: `${from} report on job ${job}: I saw to ${WORK.repeat(20)}` }
  return { text: from === '' ? 'As you say.' : `${from} ${THANKS}` }
}

async function compactSome(
  runtime: LocalRuntime,
  ids: ReadonlyMap<string, SessionId>,
  task: number,
): Promise<void> {
  for (const [at, id] of [...ids.values()].entries()) {
    if ((at + task) % 3 !== 0) continue
    await runtime.session(id).compact({ source: 'drill', key: `${task}-${id}` })
  }
}

/** Nothing runs, waits or is under way, and nobody has said anything for a while. */
async function quiet(
  place: DiscordPlace,
  runtime: LocalRuntime,
  store: Store,
  room: ChannelRow,
): Promise<void> {
  let count = -1
  let looks = 0
  await until(async () => {
    const now = place.world.messages(room).length
    const sessions = await runtime.listSessions({ limit: BOTS })
    const replies = await store.listReplies({ state: 'waiting', limit: 1 })
    const isBusy = sessions.some(({ state, waiting }) => state !== 'idle' || waiting > 0)
    looks = now !== count || isBusy || replies.length > 0 ? 0 : looks + 1
    count = now
    return looks >= QUIET_LOOKS
  }, 120_000)
}

/** The longest row of thanks; whatever else was said ends a row. */
function longestLoop(place: DiscordPlace, room: ChannelRow): number {
  let [longest, row] = [0, 0]
  for (const { content } of place.world.messages(room)) {
    row = content.endsWith(THANKS) ? row + 1 : 0
    longest = Math.max(longest, row)
  }
  return longest
}

async function judge(seen: {
  readonly place: DiscordPlace
  readonly runtime: LocalRuntime
  readonly store: Store
  readonly room: ChannelRow
  readonly members: readonly Member[]
  readonly ids: ReadonlyMap<string, SessionId>
  readonly terms: { readonly hours: number; readonly breaker?: 'off' }
}): Promise<ChannelVerdict> {
  const { place, runtime, store, room, members, ids, terms } = seen
  const findings: string[] = []
  const sums = { meant: 0, heard: 0, compactions: 0, idsChanged: 0 }
  const said = place.world.messages(room)
  for (const { user, agent } of members) {
    const channel = `discord:${user.id}`
    const id = await runtime.findRoute({ agent, channel, address: room.id })
    if (ids.has(agent) && id !== ids.get(agent)) sums.idsChanged++
    const meant = said.filter(
      ({ content, author }) => author.id !== user.id && content.includes(`<@${user.id}>`),
    )
    sums.meant += meant.length
    if (id === undefined) continue
    const heard = await heardBy(store, id, channel)
    sums.heard += heard.length
    const isUnlike = (message: MessageRow, at: number) => !isTold(heard[at] ?? '', message)
    const unlike = meant.findIndex(isUnlike)
    if (unlike >= 0 && terms.breaker !== 'off') {
      findings.push(`${agent} has "${heard[unlike]?.slice(0, 40)}" as number ${unlike + 1}`)
    }
    const operations = await store.listOperations({ sessionId: id, limit: 1_000 })
    sums.compactions += operations.filter(({ state }) => state === 'committed').length
  }
  const loop = longestLoop(place, room)
  const thanks = said.filter(({ content }) => content.endsWith(THANKS)).length
  const tasks = terms.hours * 6
  if (sums.idsChanged > 0) findings.push(`${sums.idsChanged} ids changed`)
  if (terms.breaker !== 'off') {
    if (sums.heard !== sums.meant) findings.push(`${sums.meant - sums.heard} messages unseen`)
    if (loop !== THANKS_PER_TASK || thanks !== tasks * THANKS_PER_TASK) {
      findings.push(`${loop} thanks in a row, ${thanks} for ${tasks} tasks`)
    }
    if (sums.compactions === 0) findings.push('no compaction')
  }
  const facts = { hours: terms.hours, tasks, messages: said.length, longestLoop: loop, thanks }
  return { ...facts, ...sums, findings }
}

/** Everything that a bot's mailbox has got from the channel, in order. */
async function heardBy(store: Store, sessionId: SessionId, channel: string) {
  const mail = await store.listMail({ sessionId, limit: 1_000 })
  return mail
    .filter(({ source }) => source === channel)
    .flatMap(({ body }) => {
      const { message } = JSON.parse(body ?? '{}') as {
        message?: { parts: readonly { text: string }[] }
      }
      return message?.parts.map(({ text }) => text) ?? []
    })
}

/** The first word that was held has a note behind it. */
function isTold(text: string, { author, content }: MessageRow): boolean {
  const [said = ''] = text.split('\n\n[')
  return said.startsWith(author.username) && said.endsWith(content.split(' ').at(-1) ?? '')
}

class SkippingClock implements Clock {
  #skippedMs = 0

  now(): number {
    return systemClock.now() + this.#skippedMs
  }

  monotonic(): number {
    return systemClock.monotonic()
  }

  after(delayMs: number, callback: () => void): () => void {
    return systemClock.after(delayMs, callback)
  }

  skip(ms: number): void {
    this.#skippedMs += ms
  }
}

if (import.meta.main) {
  const at = process.argv.indexOf('--hours')
  const hours = at < 0 ? 10 : Number(process.argv[at + 1])
  const onTask = (done: number) => process.stderr.write(done % 6 === 0 ? `${done / 6} h\n` : '.')
  const verdict = await drillChannel({ hours, onTask })
  process.stdout.write(`${JSON.stringify(verdict)}\n`)
  const control = await drillChannel({ hours: 1 / 6, breaker: 'off' })
  process.stdout.write(`without the breaker: ${JSON.stringify(control)}\n`)
  process.exitCode = verdict.findings.length + control.findings.length === 0 ? 0 : 1
}
