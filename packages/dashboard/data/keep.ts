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
