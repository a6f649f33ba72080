export const DIGITS = '0123456789'
export const LOWER = 'abcdefghijklmnopqrstuvwxyz'
export const UPPER = LOWER.toUpperCase()
export const WORD = UPPER + LOWER + DIGITS

/** A made-up run of characters, the same in every run; raw secrets are never written in the tree. */
export function made(length: number, alphabet: string, seed = 7): string {
  let state = seed
  let text = ''
  while (text.length < length) {
    state = (state * 1103515245 + 12345) % 2147483648
    text += alphabet[Math.floor((state / 2147483648) * alphabet.length)] ?? ''
  }
  return text
}
