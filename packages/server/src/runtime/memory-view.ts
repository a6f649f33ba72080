import type { SessionId } from '#core/base/ids'

/** What an agent remembers for the people of a session, as they see and change it. */
export interface SessionMemory {
  read(): Promise<MemoryView | undefined>
  /** Replaces the text of a note that the session sees. */
  changeNote(request: { readonly id: string; readonly text: string }): Promise<NoteChange>
  removeNote(id: string): Promise<NoteChange>
  cancelReminder(id: string): Promise<{ readonly kind: 'done' | 'unknown' }>
}

export type NoteChange =
  | { readonly kind: 'done' | 'unknown' | 'gone' }
  /** All notes together would take more than the agent's limit. */
  | { readonly kind: 'no-room'; readonly tokens: number; readonly limit: number }

export interface MemoryView {
  readonly notes: readonly {
    readonly id: string
    readonly text: string
    /** Null: it was imported. */
    readonly origin: { readonly sessionId: SessionId; readonly entry: number } | null
    readonly at: number
  }[]
  /** Without the block of notes, which the model sees as a pin. */
  readonly pins: readonly PinView[]
  readonly tasks: TaskList['tasks']
  /** The entry that wrote the list; null: it was found in the conversation, or there is none. */
  readonly tasksEntry: number | null
  /** Standing instructions, as the next compaction would keep them. */
  readonly rules: readonly {
    readonly text: string
    readonly entry: number
    /** The entry that overruled it; null: it is in effect. */
    readonly supersededBy: number | null
  }[]
  /** Pending reminders, the next one first. */
  readonly reminders: readonly {
    readonly id: string
    readonly text: string
    readonly dueAt: number
    readonly repeat: string | null
    readonly at: number
  }[]
  /** The last changes of notes, pins and tasks that this session was shown, newest first. */
  readonly changes: readonly {
    readonly entry: number
    readonly at: number
    readonly kind: 'notes' | 'pin' | 'tasks'
    readonly name: string | null
    /** Null: it was removed, or erased later. */
    readonly text: string | null
  }[]
}

export interface TaskList {
  readonly tasks: readonly {
    readonly text: string
    readonly status: 'pending' | 'running' | 'done' | 'cancelled'
  }[]
}

export interface PinView {
  readonly name: string
  readonly text: string
  readonly tokens: number
  /** The entry that set it. */
  readonly entry: number
}
