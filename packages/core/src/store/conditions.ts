/** A condition with its value. An undefined value drops the condition. */
type Condition<Value> = readonly [text: string] | readonly [text: string, value: Value | undefined]

/**
 * Builds a `where` clause from the filters in use. Leaving the others out lets the database use an
 * index: `state = coalesce(?, state)` would read every row. `place` formats the nth parameter, from
 * 1.
 */
export function conditionsOf<Value>(
  asked: readonly Condition<Value>[],
  place: (nth: number) => string = () => '?',
): { readonly text: string; readonly values: readonly Value[] } {
  const values: Value[] = []
  const texts = asked.flatMap(([text, ...given]) => {
    if (given.length === 0) return [text]
    const [value] = given
    if (value === undefined) return []
    values.push(value)
    return [text.replace('?', place(values.length))]
  })
  return { text: texts.length === 0 ? 'true' : texts.join(' and '), values }
}
