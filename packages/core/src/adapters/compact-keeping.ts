import { type CompactMessagesOptions, compactMessages } from '../agent/compact-messages.ts'
import type { AnyFormat, MessageOf } from '../agent/typed-formats/format.ts'
import { orderedJson } from '../base/json.ts'

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
  const texts = written.map(orderedJson)
  let from = 0
  return result.messages.map((message) => {
    const found = texts.indexOf(orderedJson(message), from)
    const item = found < 0 ? undefined : items[found]
    if (item === undefined) return read(message)
    from = found + 1
    return item
  })
}
