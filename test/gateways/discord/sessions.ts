import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ChannelRow, DiscordWorld } from './world.ts'

/**
 * The gateway's half of Discord: connections that identify themselves or resume, heartbeats, and
 * numbered events, kept so that what a broken connection missed is told when it is resumed.
 */
interface Session {
  readonly id: string
  readonly bot: string
  readonly events: { readonly s: number; readonly t: string; readonly d: unknown }[]
  socket: WebSocket | null
}

const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, invalid: 9, hello: 10, ack: 11 }
const HEARTBEAT_MS = 5_000
/** For a connection that is to be found dead. */
const HEARTBEAT_MS_QUICK = 100

export class DiscordSessions {
  readonly #world: DiscordWorld
  readonly #sockets: WebSocketServer
  readonly #sessions = new Map<string, Session>()
  /** Who identifies is turned away with this code. */
  refusal: number | null = null
  /** The next connections take heartbeats and everything else, and never say a word again. */
  isDead = false
  deadConnections = 0

  constructor(server: Server, world: DiscordWorld) {
    this.#world = world
    this.#sockets = new WebSocketServer({ server })
    this.#sockets.on('connection', (socket) => this.#welcome(socket))
    // The listening itself is told elsewhere; here it would end the process.
    this.#sockets.on('error', () => undefined)
  }

  connectionsOf(bot: string): number {
    const sessions = [...this.#sessions.values()].filter((session) => session.bot === bot)
    return sessions.filter(({ socket }) => socket !== null).length
  }

  information(port: number) {
    const start = { total: 1_000, remaining: 1_000, reset_after: 0, max_concurrency: 1 }
    return { url: `ws://127.0.0.1:${port}`, shards: 1, session_start_limit: start }
  }

  dispatch(t: string, d: unknown, channel: ChannelRow): void {
    for (const bot of new Set([...this.#sessions.values()].map((session) => session.bot))) {
      const isHere = channel.between === undefined || channel.between[0].id === bot
      if (isHere) this.dispatchTo(bot, t, d)
    }
  }

  dispatchTo(bot: string, t: string, d: unknown): void {
    for (const session of this.#sessions.values()) {
      if (session.bot === bot) this.#tell(session, t, d)
    }
  }

  disconnect(bot: string, code: number): void {
    for (const { bot: of, socket } of this.#sessions.values()) {
      if (of !== bot || socket === null) continue
      if (code === 1006) socket.terminate()
      else socket.close(code)
    }
  }

  disconnectAll(): void {
    for (const socket of this.#sockets.clients) socket.terminate()
  }

  forget(bot: string): void {
    for (const session of this.#sessions.values()) {
      if (session.bot === bot) this.#sessions.delete(session.id)
    }
  }

  #welcome(socket: WebSocket): void {
    const state: { session: Session | null } = { session: null }
    const write = (message: unknown) => socket.send(JSON.stringify(message))
    const isDead = this.isDead
    if (isDead) this.deadConnections++
    const heartbeat = isDead ? HEARTBEAT_MS_QUICK : HEARTBEAT_MS
    write({ op: OP.hello, d: { heartbeat_interval: heartbeat } })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (state.session?.socket === socket) state.session.socket = null
    })
    socket.on('message', (data) => {
      const { op, d } = JSON.parse(String(data)) as { op: number; d: Record<string, unknown> }
      // Of a dead connection not even the resuming is answered.
      if (isDead) return
      if (op === OP.identify && this.refusal !== null) return socket.close(this.refusal)
      if (op === OP.heartbeat) write({ op: OP.ack })
      if (op === OP.identify) state.session = this.#identify(socket, String(d['token']))
      if (op === OP.resume) {
        state.session = this.#resume(socket, String(d['session_id']), Number(d['seq']))
        if (state.session === null) write({ op: OP.invalid, d: false })
      }
    })
  }

  #identify(socket: WebSocket, token: string): Session | null {
    const bot = this.#world.botOf(token)
    if (bot === undefined) {
      socket.close(4004, 'Authentication failed.')
      return null
    }
    const session: Session = { id: randomUUID(), bot: bot.id, events: [], socket }
    this.#sessions.set(session.id, session)
    const { guild } = this.#world
    this.#tell(session, 'READY', {
      ...{ v: 10, user: bot, session_id: session.id, application: { id: bot.id, flags: 0 } },
      guilds: [{ id: guild, unavailable: true }],
      resume_gateway_url: this.#address(),
    })
    const rows = [...this.#world.channels.values()].filter((row) => row.guild !== undefined)
    const wire = (kind: ChannelRow['kind']) =>
      rows.filter((row) => row.kind === kind).map((row) => this.#world.wireChannel(row))
    this.#tell(session, 'GUILD_CREATE', {
      ...{ id: guild, name: 'guild', owner_id: '1', member_count: 2, large: false },
      ...{ roles: [], emojis: [], stickers: [], features: [], members: [], presences: [] },
      ...{
        voice_states: [],
        stage_instances: [],
        guild_scheduled_events: [],
        soundboard_sounds: [],
      },
      ...{ channels: wire('text'), threads: wire('thread'), joined_at: new Date().toISOString() },
    })
    return session
  }

  #resume(socket: WebSocket, id: string, sequence: number): Session | null {
    const session = this.#sessions.get(id)
    if (session === undefined) return null
    session.socket = socket
    for (const event of session.events.filter(({ s }) => s > sequence)) send(socket, event)
    this.#tell(session, 'RESUMED', {})
    return session
  }

  #tell(session: Session, t: string, d: unknown): void {
    const event = { s: session.events.length + 1, t, d }
    session.events.push(event)
    if (session.socket !== null) send(session.socket, event)
  }

  #address(): string {
    const address = this.#sockets.address()
    return typeof address === 'object' && address !== null ? `ws://127.0.0.1:${address.port}` : ''
  }
}

function send(socket: WebSocket, event: Session['events'][number]): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ op: OP.dispatch, ...event }))
}
