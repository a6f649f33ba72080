import { useEffect, useState } from 'preact/hooks'
import { wordsOf } from './api.ts'

/**
 * What is read from the server, and read again whenever something of `on` changes. An answer to an
 * earlier question is not heard any more: it may come behind that to a later one.
 */
export function useReading<Value extends object>(
  read: (signal: AbortSignal) => Promise<Value>,
  on: readonly unknown[],
): { readonly value: Value | null; readonly problem: string | null } {
  const [value, setValue] = useState<Value | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    read(signal).then(
      (found) => {
        if (signal.aborted) return
        setValue(found)
        setProblem(null)
      },
      (error) => {
        if (!signal.aborted) setProblem(wordsOf(error))
      },
    )
    return () => controller.abort()
  }, on)
  return { value, problem }
}
