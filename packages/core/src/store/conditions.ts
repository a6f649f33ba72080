/** A condition with its value; one whose value is undefined was not asked for. */
type Condition<Value> = readonly [text: string] | readonly [text: string, value: Value | undefined]

/**
 * Only what was asked for is a condition, so that the index for it is used: `state = coalesce(?, state)`
 * reads every row. `place` writes the nth parameter, counted from 1.
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
