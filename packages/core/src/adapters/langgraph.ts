/** `@throughline/core/adapters/langgraph`: a checkpointer of LangGraph in a journal. */
import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  copyCheckpoint,
  type PendingWrite,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint'
import type { DurableJournal } from '../agent/journal.ts'
import type { JsonObject } from '../base/json.ts'
import { ThroughlineError } from '../base/throughline-error.ts'

/** A value as its serializer wrote it: its type, and its bytes in base64. */
type Stored = readonly [type: string, base64: string]
interface CheckpointRow {
  readonly id: string
  readonly parent: string | null
  readonly checkpoint: Stored
  readonly metadata: Stored
}
interface WriteRow {
  readonly checkpoint: string
  readonly task: string
  readonly index: number
  readonly channel: string
  readonly value: Stored
}

/**
 * For `compile({ checkpointer })`. Each thread is a conversation of the journal.
 *
 * ```ts
 * const graph = builder.compile({ checkpointer: new JournalSaver(journal) })
 * ```
 */
export class JournalSaver extends BaseCheckpointSaver {
  readonly #journal: DurableJournal

  constructor(journal: DurableJournal) {
    super()
    this.#journal = journal
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { checkpoint_id: wanted } = config.configurable ?? {}
    const rows = await this.#rows(config)
    const row = wanted === undefined ? rows.at(-1) : rows.find(({ id }) => id === wanted)
    return row && (await this.#tuple(config, row))
  }

  override async *list(
    config: RunnableConfig,
    { before, limit = Number.POSITIVE_INFINITY, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const end: unknown = before?.configurable?.['checkpoint_id']
    const rows = await this.#rows(config)
    let left = limit
    for (const row of rows.toReversed()) {
      if (typeof end === 'string' && row.id >= end) continue
      const tuple = await this.#tuple(config, row)
      const metadata = { ...tuple.metadata } as Record<string, unknown>
      if (!Object.entries(filter).every(([key, value]) => metadata[key] === value)) continue
      if (left-- <= 0) return
      yield tuple
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    _versions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const parent: unknown = config.configurable?.['checkpoint_id']
    const row: CheckpointRow = {
      id: checkpoint.id,
      parent: typeof parent === 'string' ? parent : null,
      checkpoint: await this.#write(copyCheckpoint(checkpoint)),
      metadata: await this.#write(metadata),
    }
    await this.#journal
      .list(threadOf(config), `checkpoints ${namespaceOf(config)}`)
      .change({ add: [row as unknown as JsonObject] })
    return configOf(config, checkpoint.id)
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const rows = writes.map(async ([channel, value], at): Promise<JsonObject> => {
      const index = WRITES_IDX_MAP[channel] ?? at
      const checkpoint = String(config.configurable?.['checkpoint_id'])
      const row: WriteRow = {
        checkpoint,
        task: taskId,
        index,
        channel,
        value: await this.#write(value),
      }
      return row as unknown as JsonObject
    })
    await this.#journal
      .list(threadOf(config), `writes ${namespaceOf(config)}`)
      .change({ add: await Promise.all(rows) })
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#journal.delete(threadId)
  }

  /** In the order of their ids; the newest of one id counts. */
  async #rows(config: RunnableConfig): Promise<readonly CheckpointRow[]> {
    const list = this.#journal.list(threadOf(config), `checkpoints ${namespaceOf(config)}`)
    const rows = (await list.read()) as unknown as readonly CheckpointRow[]
    const byId = new Map(rows.map((row) => [row.id, row]))
    return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  async #tuple(config: RunnableConfig, row: CheckpointRow): Promise<CheckpointTuple> {
    const list = this.#journal.list(threadOf(config), `writes ${namespaceOf(config)}`)
    // Of a write that comes again the first counts; only the special channels are replaced.
    const writes = new Map<string, WriteRow>()
    for (const write of (await list.read()) as unknown as readonly WriteRow[]) {
      const key = `${write.task} ${write.index}`
      if (write.checkpoint === row.id && (write.index < 0 || !writes.has(key)))
        writes.set(key, write)
    }
    const pendingWrites = [...writes.values()].map(
      async ({ task, channel, value }): Promise<[string, string, unknown]> => [
        task,
        channel,
        await this.#read(value),
      ],
    )
    return {
      config: configOf(config, row.id),
      checkpoint: (await this.#read(row.checkpoint)) as Checkpoint,
      metadata: (await this.#read(row.metadata)) as CheckpointMetadata,
      ...(row.parent !== null && { parentConfig: configOf(config, row.parent) }),
      pendingWrites: await Promise.all(pendingWrites),
    }
  }

  async #write(value: unknown): Promise<Stored> {
    const [type, bytes] = await this.serde.dumpsTyped(value)
    return [type, Buffer.from(bytes).toString('base64')]
  }

  async #read([type, text]: Stored): Promise<unknown> {
    return await this.serde.loadsTyped(type, new Uint8Array(Buffer.from(text, 'base64')))
  }
}

function threadOf(config: RunnableConfig): string {
  const thread: unknown = config.configurable?.['thread_id']
  if (typeof thread === 'string' && thread !== '') return thread
  throw new ThroughlineError(
    'invalid-option',
    'Give "configurable.thread_id": it names the thread.',
    {
      at: 'configurable.thread_id',
    },
  )
}

function namespaceOf(config: RunnableConfig): string {
  return String(config.configurable?.['checkpoint_ns'] ?? '')
}

function configOf(config: RunnableConfig, checkpointId: string): RunnableConfig {
  const at = { thread_id: threadOf(config), checkpoint_ns: namespaceOf(config) }
  return { configurable: { ...at, checkpoint_id: checkpointId } }
}
