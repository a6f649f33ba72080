import { useState } from 'preact/hooks'

/**
 * Keeps text in this tab, over reloads. If the browser's storage is full, the text stays on the screen
 * only and can still be sent.
 */
export function keep(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, text)
  } catch {
    sessionStorage.removeItem(name)
  }
}

export const kept = (name: string): string | null => sessionStorage.getItem(name)

export const keptNames = (prefix: string): readonly string[] =>
  Object.keys(sessionStorage).filter((name) => name.startsWith(prefix))

const draftKey = (name: string): string => `throughline-draft-${name}`

export const dropDraft = (name: string): void => keep(draftKey(name), null)

/** Text that someone writes: it survives a reload, a visit to another screen and an expired token. */
export function useDraft(name: string): readonly [string, (text: string) => void] {
  const key = draftKey(name)
  const [text, showText] = useState(() => kept(key) ?? '')
  const setText = (words: string) => {
    showText(words)
    keep(key, words === '' ? null : words)
  }
  return [text, setText]
}
