import { useEffect, useState } from 'preact/hooks'
import { errorText } from './api.ts'

/**
 * Data from the server, read again whenever a value in `on` changes. Answers to earlier requests are
 * ignored: they may arrive after the latest one.
 */
export function useServerData<Value extends object>(
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
        if (!signal.aborted) setProblem(errorText(error))
      },
    )
    return () => controller.abort()
  }, on)
  return { value, problem }
}
