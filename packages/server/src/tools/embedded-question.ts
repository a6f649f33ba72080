import type { Search, SearchAnswer } from '#core/store/queries'

/** What a search gets from the embedding of its question. `note`: why it gets nothing. */
export interface EmbeddedQuestion {
  readonly meaning?: NonNullable<Search['meaning']>
  readonly note?: string
}

/** Never rejects, and never takes long. */
export type EmbedQuestion = (question: Pick<Search, 'text' | 'exact'>) => Promise<EmbeddedQuestion>

/** What a reader should know about how an answer was found; undefined: nothing. */
export function searchNote(
  { note }: EmbeddedQuestion,
  { unembedded }: Pick<SearchAnswer, 'unembedded'>,
): string | undefined {
  if (note !== undefined || unembedded === 0) return note
  return `${unembedded} entries have no embeddings yet; they were searched by words alone.`
}
