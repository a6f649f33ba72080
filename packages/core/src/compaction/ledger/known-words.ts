import { eachWord } from './words.ts'

/**
 * Words that already occur elsewhere in the context and need no entry. A path also covers its
 * folders and its own end: `/srv/app/src/main.ts` contains `/srv/app` and `src/main.ts`. Found by
 * lookup, not by searching the text, so that a large ledger beside a long tail does not cost their
 * product.
 */
export class KnownWords {
  readonly #words = new Set<string>()

  add(text: string): void {
    eachWord(text, (word) => this.#addWord(word))
  }

  has(word: string): boolean {
    return this.#words.has(trimSlashes(word))
  }

  #addWord(word: string): void {
    const whole = trimSlashes(word)
    if (this.#words.has(whole)) return
    this.#words.add(whole)
    for (let at = whole.indexOf('/'); at !== -1; at = whole.indexOf('/', at + 1)) {
      this.#words.add(whole.slice(0, at))
      this.#words.add(whole.slice(at + 1))
    }
  }
}

function trimSlashes(word: string): string {
  const from = word.startsWith('/') ? 1 : 0
  return word.slice(from, word.endsWith('/') ? -1 : undefined)
}
