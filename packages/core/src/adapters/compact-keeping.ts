import { type CompactMessagesOptions, compactMessages } from '../agent/compact-messages.ts'
import type { AnyFormat, MessageOf } from '../agent/formats/format.ts'
import { isObject } from '../base/json.ts'

/** How a framework's items are written in a format, one for one, and how new ones are read back. */
export interface ItemForm<Item, F extends AnyFormat> {
  write(item: Item): MessageOf<F>
  read(message: MessageOf<F>): Item
  readonly options: CompactMessagesOptions
}

/**
 * Compacts items of a framework by way of a format. Those that stay are the same values, so that what a
 * format cannot say is not lost. Null: nothing was compacted.
 */
export async function compactKeeping<Item, F extends AnyFormat>(
  format: F,
  items: readonly Item[],
  { write, read, options }: ItemForm<Item, F>,
): Promise<Item[] | null> {
  const written = items.map(write)
  const result = await compactMessages(format, written, options)
  if (result.kind !== 'compacted') return null
  const texts = written.map(textOf)
  let from = 0
  return result.messages.map((message) => {
    const found = texts.indexOf(textOf(message), from)
    const item = found < 0 ? undefined : items[found]
    if (item === undefined) return read(message)
    from = found + 1
    return item
  })
}

/** The same text for the same value, whatever the order of its fields. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    isObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}
