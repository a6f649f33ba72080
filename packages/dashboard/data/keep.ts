/**
 * Kept in this tab, over reloads. A browser that has no room for it keeps it on the screen only:
 * what is too large to be kept can still be sent.
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
