import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditLogs } from '../../packages/core/src/audit/audit.ts'
import type { SessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { type LocalRuntime, openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import type { Script } from '../../packages/server/src/stand-in/index.ts'
import { LOOP_RULE } from '../../packages/server/src/tools/send-message/loop.ts'
import { until } from '../support/until.ts'
import type { ChannelBot } from './channel-bot.ts'
import { DiscordPlace, SUMMARIES } from './discord/place.ts'
import type { ChannelRow, MessageRow, UserRow } from './discord/world.ts'

/**
 * `npm run drill:channel [-- --hours N]`: nine bots in one Discord channel, each in a process of its
 * own, all on one SQLite store. Every ten minutes of simulated time a person briefs all of them at
 * once, which takes them over the threshold together, and gives the first a task; it hands the task
 * to another, which reports; then the two thank each other without end, as such bots do.
 *
 * Loops, session ids, deliveries and the audit logs are judged together. The control run is the same
 * without the breaker, and ends when the thanks have gone on for several times as long as the
 * breaker allows.
 */
export interface ChannelVerdict {
  readonly hours: number
  readonly tasks: number
  /** Messages in the channel. */
  readonly messages: number
  /** Messages addressed to a bot, summed over the bots, and how many of them reached its mailbox. */
  readonly addressed: number
  readonly received: number
  /** Summed over the bots, and of the bot with the fewest. */
  readonly compactions: number
  readonly compactionsMin: number
  readonly idsChanged: number
  /** The longest row of thanks without another word, and all of them. */
  readonly longestLoop: number
  readonly thanks: number
  readonly findings: readonly string[]
}

const BOTS = 9
const TASK_MS = 10 * 60_000
const WINDOW_TOKENS = 5_000
/** Of a size that Discord takes. */
const BRIEFINGS = 4
const READY_MS = 120_000
const TASK_MS_MAX = 240_000
/**
 * What the two of a task say behind its report: as many thanks as the rule allows, and the one that
 * answers the last of them, which is held. Held ones go in with the next word to their bot and make
 * no row of their own.
 */
export const THANKS_PER_TASK = LOOP_RULE.messagesMax + 1
export const CONTROL_LOOP = LOOP_RULE.messagesMax * 4
/** By looks, not by time: a stall passes time, but a bot that has something to do needs few looks. */
const QUIET_LOOKS = 30

interface Member {
  readonly user: UserRow
  readonly agent: string
}

interface Drill {
  readonly place: DiscordPlace
  readonly channel: ChannelRow
  readonly members: readonly Member[]
  readonly store: Store
  /** Reads and admits; the sessions run in the processes of the bots. */
  readonly runtime: LocalRuntime
}

export async function drillChannel(terms: {
  readonly hours: number
  /** At least two. Default: nine. */
  readonly bots?: number
  /** Default: with it. */
  readonly breaker?: 'off'
  readonly onTask?: (done: number) => void
}): Promise<ChannelVerdict> {
  const { hours, bots = BOTS, breaker } = terms
  const folder = mkdtempSync(join(tmpdir(), 'throughline-channel-'))
  const [path, auditFolder] = [join(folder, 't.db'), join(folder, 'audit')]
  const mood = { isNight: false }
  const place = await DiscordPlace.open({ script: (ask) => coordination(ask, mood) })
  const channel = place.world.addChannel()
  const person = place.world.addPerson('ada')
  const members: readonly Member[] = Array.from({ length: bots }, (_, at) => ({
    user: place.addBot(`bot${at}`),
    agent: `bot${at}`,
  }))
  const store = await openSqliteStore({ path })
  const agents = members.map(({ agent }) => place.agentOf(agent, WINDOW_TOKENS))
  const runtime = await openRuntime({ store, agents, runs: false })
  const drill: Drill = { place, channel, members, store, runtime }
  const processes = members.map(({ user, agent }) =>
    startBot({
      ...{ agent, path, auditFolder, windowTokens: WINDOW_TOKENS, hasBreaker: breaker !== 'off' },
      ...{ userId: user.id, channelId: channel.id },
      ...{ discordUrl: place.discord.url, modelUrl: place.modelUrl },
      otherBots: members.map((member) => member.user.id).filter((id) => id !== user.id),
    }),
  )
  const say = (content: string) => void place.discord.say(channel, { author: person, content })
  const sayToAll = (text: string) => {
    for (const { user } of members) say(`<@${user.id}> ${text}`)
  }
  try {
    await until(() => members.every(({ user }) => place.discord.connectionsOf(user) > 0), READY_MS)
    const [first] = members
    if (first === undefined) throw new Error('There are no bots.')
    const ids = new Map<string, SessionId>()
    const tasks = hours * 6
    for (let task = 1; task <= tasks; task++) {
      if (breaker !== 'off') {
        for (let part = 1; part <= BRIEFINGS; part++) {
          sayToAll(`BRIEFING ${task}.${part}: ${WORK.repeat(22)}`)
        }
        await quiet(drill)
      }
      const worker = members[1 + (task % (bots - 1))] ?? first
      say(`<@${first.user.id}> TASK ${task} is for <@${worker.user.id}>, please.`)
      if (breaker === 'off') {
        await until(() => longestLoop(place, channel) >= CONTROL_LOOP, TASK_MS_MAX)
      } else await quiet(drill)
      for (const { agent, user } of members) {
        const id = await runtime.findRoute(routeOf(agent, user, channel))
        if (id !== undefined && !ids.has(agent)) ids.set(agent, id)
      }
      for (const { child } of processes) child.send({ skipMs: TASK_MS })
      terms.onTask?.(task)
    }
    // A last word to each bot, so that what was held back is delivered too; they thank no more.
    mood.isNight = true
    if (breaker !== 'off') {
      sayToAll('good night')
      await quiet(drill)
    }
    const died = processes.filter(({ child }) => child.exitCode !== null || child.signalCode)
    for (const each of processes) await each.stop()
    const judged = await judge(drill, ids, terms)
    const problems = breaker === 'off' ? [] : await audit(drill, auditFolder)
    if (died.length > 0) problems.push(`${died.length} bots had ended`)
    return { ...judged, findings: [...judged.findings, ...problems] }
  } finally {
    for (const { child } of processes) child.kill('SIGKILL')
    await runtime.close()
    await store.close()
    await place.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function startBot(bot: ChannelBot): { child: ChildProcess; stop(): Promise<void> } {
  const program = join(import.meta.dirname, 'channel-bot.ts')
  const child = spawn(process.execPath, [program, JSON.stringify(bot)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  return { child, stop }
}

function routeOf(agent: string, user: UserRow, channel: ChannelRow) {
  return { agent, channel: `discord:${user.id}`, address: channel.id }
}

/** What the logs of all nine processes prove, held against the store. */
async function audit({ store, members }: Drill, folder: string): Promise<string[]> {
  const paths = globSync('*.jsonl', { cwd: folder }).map((name) => join(folder, name))
  const { laws } = await auditLogs({ paths, witness: store })
  const broken = laws.flatMap(({ offences }) => offences.map(({ problem }) => problem))
  return paths.length === members.length ? broken : [...broken, `${paths.length} audit logs`]
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
  if (heard.includes('BRIEFING')) return { text: 'Noted.' }
  const [, task, worker] = /TASK (\d+) is for .*(<@\d+>)/.exec(heard) ?? []
  if (worker !== undefined) {
    return { text: `${worker} please do job ${task}: look after ${WORK.repeat(18)}` }
  }
  const [, job] = /please do job (\d+)/.exec(heard) ?? []
  if (job !== undefined)
    return { text: `${from} report on job ${job}: I saw to ${WORK.repeat(20)}` }
  return { text: from === '' ? 'As you say.' : `${from} ${THANKS}` }
}

/** Nothing runs, waits or is on its way, and no bot has spoken for a while. */
async function quiet({ place, runtime, store, channel, members }: Drill): Promise<void> {
  let count = -1
  let looks = 0
  await until(async () => {
    const now = place.world.messages(channel).length
    const sessions = await runtime.listSessions({ limit: members.length })
    const replies = await store.listReplies({ state: 'waiting', limit: 1 })
    const isBusy = sessions.some(({ state, waiting }) => state !== 'idle' || waiting > 0)
    looks = now !== count || isBusy || replies.length > 0 ? 0 : looks + 1
    count = now
    return looks >= QUIET_LOOKS
  }, TASK_MS_MAX)
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

async function judge(
  { place, runtime, store, channel, members }: Drill,
  ids: ReadonlyMap<string, SessionId>,
  terms: { readonly hours: number; readonly breaker?: 'off' },
): Promise<ChannelVerdict> {
  const findings: string[] = []
  const sums = { addressed: 0, received: 0, compactions: 0, idsChanged: 0 }
  let compactionsMin = Number.POSITIVE_INFINITY
  const said = place.world.messages(channel)
  for (const { user, agent } of members) {
    const route = routeOf(agent, user, channel)
    const id = await runtime.findRoute(route)
    if (ids.has(agent) && id !== ids.get(agent)) sums.idsChanged++
    const addressed = said.filter(
      ({ content, author }) => author.id !== user.id && content.includes(`<@${user.id}>`),
    )
    sums.addressed += addressed.length
    if (id === undefined) continue
    const received = await receivedBy(store, id, route.channel)
    sums.received += received.length
    const unlike = addressed.findIndex((message, at) => !isSame(received[at] ?? '', message))
    if (unlike >= 0 && terms.breaker !== 'off') {
      findings.push(`${agent} has "${received[unlike]?.slice(0, 40)}" as number ${unlike + 1}`)
    }
    const operations = await store.listOperations({ sessionId: id, limit: 1_000 })
    const committed = operations.filter(({ state }) => state === 'committed').length
    sums.compactions += committed
    compactionsMin = Math.min(compactionsMin, committed)
  }
  const loop = longestLoop(place, channel)
  const thanks = said.filter(({ content }) => content.endsWith(THANKS)).length
  const tasks = terms.hours * 6
  if (sums.idsChanged > 0) findings.push(`${sums.idsChanged} ids changed`)
  if (terms.breaker !== 'off') {
    const missing = sums.addressed - sums.received
    if (missing !== 0) findings.push(`${missing} messages were not received`)
    if (loop !== THANKS_PER_TASK || thanks !== tasks * THANKS_PER_TASK) {
      findings.push(`${loop} thanks in a row, ${thanks} for ${tasks} tasks`)
    }
    const wanted = Math.floor(2 * terms.hours)
    if (compactionsMin < wanted) findings.push(`a bot compacted ${compactionsMin} times only`)
  }
  const facts = { hours: terms.hours, tasks, messages: said.length, longestLoop: loop, thanks }
  return { ...facts, ...sums, compactionsMin, findings }
}

/** Everything that a bot's mailbox has got from the channel, in order. */
async function receivedBy(store: Store, sessionId: SessionId, channel: string) {
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

/** The first message that was held back has a note behind it. */
function isSame(text: string, { author, content }: MessageRow): boolean {
  const [said = ''] = text.split('\n\n[')
  return said.startsWith(author.username) && said.endsWith(content.split(' ').at(-1) ?? '')
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
