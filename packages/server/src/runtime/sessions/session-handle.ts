import type { EntryNumber, MailNumber, SessionId } from '#core/base/ids'
import { pinNameProblem, pinnedText } from '#core/message/handoff/pinned'
import type { EventHub } from '#core/session/events/event-hub'
import { type Preview, previewCompaction } from '#core/session/preview'
import { type ControlEnd, controlOutcome } from '#core/session/view/control-outcome'
import { admitAndListen, waitForReply } from '#core/session/view/transcript'
import { TITLE_MAX } from '#core/store/bounds'
import { InvalidRequestError, UnknownSessionError } from '#core/store/errors'
import type { BusyPolicy, MailState, SessionRow } from '#core/store/tables/rows'
import { type HandoffUndo, undoHandoff } from '../client-sessions/undo-handoff.ts'
import type {
  Admission,
  BlobView,
  CompactionView,
  ContextView,
  Forked,
  ForkRequest,
  FoundEntries,
  Idempotent,
  Mail,
  NewMessage,
  PinView,
  Purged,
  PurgeRequest,
  Renamed,
  Reply,
  SearchRequest,
  Session,
  SessionSnapshot,
  SessionSummary,
  TaskList,
  Withdrawal,
} from '../runtime.ts'
import { purge } from '../store-layers/purge.ts'
import { readUsage } from '../usage.ts'
import {
  type AdmissionDependencies,
  admissionOf,
  admitMessage,
  conflictUnlessIn,
} from './admission.ts'
import {
  readSummary,
  type SearchParts,
  type SummaryEvidence,
  searchEntries,
} from './all-sessions.ts'
import {
  openSnapshot,
  readCompactionReport,
  readCompactions,
  readContextView,
} from './compactions.ts'

import { openPreview, sealPreview } from './preview-seal.ts'
import { openMemory, readTasks } from './session-memory.ts'
import { readsOf, readTranscript } from './session-reads.ts'
import { mailView, pinsIn } from './views.ts'

type ControlBody = Parameters<Session['install']>[0]['preview']
type PreviewParts = Parameters<typeof previewCompaction>[0]

/** The parts of the runtime that a handle needs. */
export interface SessionDependencies extends AdmissionDependencies, SummaryEvidence {
  readonly sharesNotes: (agent: string) => boolean
  readonly notesTokensMax: (agent: string) => number | undefined
  readonly hub: EventHub
  readonly settingsFor: (agent: string) => PreviewParts['settings']
  readonly previewWriter: () => PreviewParts['writer']
  readonly countText: (sessionId: SessionId, text: string) => number
  /** A person's stop also cancels the session's auxiliary tasks, except shielded ones. */
  readonly interrupt: (sessionId: SessionId) => void
  readonly fork: (from: SessionId, request: ForkRequest) => Promise<Forked>
  readonly embedQuestion: SearchParts['embedQuestion']
}

export class SessionHandle implements Session {
  readonly id: SessionId
  readonly #deps: SessionDependencies

  constructor(id: SessionId, deps: SessionDependencies) {
    this.id = id
    this.#deps = deps
  }

  async summary(): Promise<SessionSummary | undefined> {
    const { store } = this.#deps
    const session = await store.findSession(this.id)
    return session && (await readSummary(store, session, this.#deps))
  }

  async admit(message: NewMessage): Promise<Admission> {
    return conflictUnlessIn(this.id, await admitMessage(this.#deps, this.id, message))
  }

  async stop(request: Idempotent): Promise<Admission> {
    const admission = await this.#control(request, 'stop', {})
    // The process that runs the turn stops it; auxiliary tasks in this process end at once.
    if (admission.kind === 'admitted') this.#deps.interrupt(this.id)
    return admission
  }

  async compact({ focus, ...request }: Idempotent & { focus?: string }): Promise<Admission> {
    return await this.#control(request, 'compact', focus === undefined ? {} : { focus })
  }

  async preview({ focus }: { focus?: string }, signal: AbortSignal): Promise<Preview> {
    const { store, settingsFor, previewWriter } = this.#deps
    const sessionId = this.id
    const session = await store.findSession(sessionId)
    if (session === undefined) return { kind: 'failed', sessionId, reason: 'unknown-session' }
    const writer = previewWriter()
    const settings = settingsFor(session.agent)
    const preview = await previewCompaction(
      { store, writer, settings, sessionId, ...(focus !== undefined && { focus }) },
      signal,
    )
    if (preview.kind !== 'previewed') return preview
    return { ...preview, install: await sealPreview(store, sessionId, preview.install) }
  }

  async install({
    preview,
    ...request
  }: Idempotent & { preview: ControlBody }): Promise<Admission> {
    const body = await openPreview(this.#deps.store, this.id, preview)
    return await this.#control(request, 'install', body)
  }

  async revert({
    compaction,
    ...request
  }: Idempotent & { compaction?: EntryNumber }): Promise<Admission> {
    return await this.#control(request, 'revert', compaction === undefined ? {} : { compaction })
  }

  async undoForClient(compaction: EntryNumber): Promise<HandoffUndo | null> {
    return await undoHandoff(this.#deps.store, this.id, compaction)
  }

  async pin(request: Idempotent & { name: string; text: string | null }): Promise<Admission> {
    const { name, text, ...rest } = request
    const problem = pinNameProblem(name)
    if (problem !== null)
      throw new InvalidRequestError({ problem: `Invalid pin name: ${problem}.` })
    const tokens = text === null ? 0 : this.#deps.countText(this.id, pinnedText(name, text))
    return await this.#control(rest, 'pin', text === null ? { name } : { name, text }, tokens)
  }

  async setPolicy({ policy, ...request }: Idempotent & { policy: BusyPolicy }): Promise<Admission> {
    return await this.#control(request, 'policy', { policy })
  }

  async continue({
    pastLimit,
    ...request
  }: Idempotent & { pastLimit: boolean }): Promise<Admission> {
    return await this.#control(request, pastLimit ? 'continue' : 'retry', {})
  }

  usage: Session['usage'] = async (query) => {
    await this.#known()
    return await readUsage(this.#deps.store, { ...query, sessionId: this.id })
  }

  async controlOutcome(mail: MailNumber, signal: AbortSignal): Promise<ControlEnd | null> {
    return await controlOutcome(this.#deps, { sessionId: this.id, mail }, signal)
  }

  async mailbox(query: {
    state?: MailState
    after?: number
    limit: number
  }): Promise<readonly Mail[]> {
    await this.#known()
    const { after, ...rest } = query
    const items = await this.#deps.store.listMail({
      sessionId: this.id,
      ...rest,
      ...(after !== undefined && { after: after as MailNumber }),
    })
    return items.map(mailView)
  }

  async withdraw(mail: MailNumber): Promise<Withdrawal> {
    return await this.#deps.store.withdraw({ sessionId: this.id, mail })
  }

  transcript: Session['transcript'] = async (range) =>
    await readTranscript(await this.#reads(), this.id, range)

  async context({ at }: { at?: EntryNumber }): Promise<ContextView | undefined> {
    const { settingsFor } = this.#deps
    return await readContextView(await this.#reads(), this.id, { at, settingsFor })
  }

  async blob(hash: string): Promise<BlobView | undefined> {
    const blob = await (await this.#reads()).findBlob({ sessionId: this.id, hash })
    if (blob === undefined) return undefined
    return { mediaType: blob.mediaType, data: Buffer.from(blob.bytes).toString('base64') }
  }

  async compactions({ limit }: { limit: number }): Promise<readonly CompactionView[] | undefined> {
    const session = await this.#deps.store.findSession(this.id)
    return session && (await readCompactions(this.#deps.store, session, limit))
  }

  async tasks(): Promise<TaskList | undefined> {
    return await readTasks(await this.#reads(), this.id)
  }

  async pins(): Promise<readonly PinView[] | undefined> {
    const source = await (await this.#reads()).readContext({ sessionId: this.id })
    return source === null ? undefined : pinsIn(source)
  }

  get memory(): Session['memory'] {
    return openMemory(this.#deps, this.id)
  }

  compactionReport: Session['compactionReport'] = async (compaction) =>
    await readCompactionReport(await this.#reads(), this.id, compaction)

  async snapshot(compaction: EntryNumber): Promise<SessionSnapshot | undefined> {
    const store = await this.#reads()
    const session = await store.findSession(this.id)
    return session && (await openSnapshot(store, session, compaction))
  }

  async search(query: SearchRequest & { neighbours: number }): Promise<FoundEntries> {
    const session = await this.#known()
    const parts = { store: await this.#reads(), embedQuestion: this.#deps.embedQuestion }
    return await searchEntries(parts, session.id, query)
  }

  #reads() {
    return readsOf(this.#deps.store, this.id)
  }

  /** Throws, because an empty list would mean an empty session. */
  async #known(): Promise<SessionRow> {
    const session = await this.#deps.store.findSession(this.id)
    if (session === undefined) throw new UnknownSessionError({ sessionId: this.id })
    return session
  }

  async reply(mail: MailNumber, signal: AbortSignal): Promise<Reply | null> {
    return await waitForReply(this.#deps, { sessionId: this.id, mail }, signal)
  }

  ask: Session['ask'] = async (message, signal) => {
    const admit = async () => {
      const admission = await this.admit(message)
      return { admission, mail: admission.kind === 'admitted' ? admission.mail : null }
    }
    const { admission, reply } = await admitAndListen(this.#deps, this.id, admit, signal)
    if (reply !== null) return { admission, reply: await reply }
    const isAccepted = admission.kind === 'admitted' || admission.kind === 'duplicate'
    return { admission, reply: isAccepted ? await this.reply(admission.mail, signal) : null }
  }

  events(query: { after?: number }, signal: AbortSignal): ReturnType<EventHub['events']> {
    return this.#deps.hub.events({ sessionId: this.id, ...query }, signal)
  }

  exportLines(): AsyncIterable<string> {
    return this.#deps.store.exportSession(this.id)
  }

  async rename(title: string | null): Promise<Renamed> {
    const text = title?.replaceAll(/\s+/g, ' ').trim() ?? ''
    if (text.length > TITLE_MAX) return { kind: 'too-long', limit: TITLE_MAX }
    const { store } = this.#deps
    // An empty one stays: null would say that it was never named, and the next answer would name it.
    const { kind } = await store.setTitle({ sessionId: this.id, title: text })
    return { kind }
  }

  async purge(request: PurgeRequest): Promise<Purged> {
    const { store, countText: countTokens, sharesNotes, wake } = this.#deps
    const purged = await purge({ store, countTokens, sharesNotes }, this.id, request)
    if (purged.kind === 'asked') for (const { sessionId } of purged.asked) wake(sessionId)
    return purged
  }

  async fork(request: ForkRequest): Promise<Forked> {
    return await this.#deps.fork(this.id, request)
  }

  async #control(
    { source, key }: Idempotent,
    control: string,
    body: ControlBody,
    tokens = 0,
  ): Promise<Admission> {
    const to = { sessionId: this.id }
    const outcome = await this.#deps.store.admit({
      ...{ to, source, key, lane: 'control', control, body, tokens },
    })
    return conflictUnlessIn(this.id, admissionOf(outcome, this.#deps.wake))
  }
}
