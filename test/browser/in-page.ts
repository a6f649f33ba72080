/**
 * What runs inside the page, as text: the tests are compiled for Node, which knows no document.
 */

/** Notes every state of the answer that is being written in `seen`. */
export const NOTE_WRITING = `
  window.seen = []
  new MutationObserver(() => {
    const said = document.querySelector('.writing .said')?.textContent ?? ''
    if (said !== seen.at(-1)) seen.push(said)
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
`

export const FIND_FOREIGN = `
  [...document.querySelectorAll('#page *')]
    .filter((element) =>
      /^(script|iframe|object|embed|style|base|link|meta|math|animate|table)$/i.test(element.tagName) ||
      [...element.attributes].some(({ name }) => name.startsWith('on')) ||
      element.id.startsWith('bait') ||
      !/^(#|https?:)/.test(element.getAttribute('href') ?? '#'))
    .map((element) => element.outerHTML.slice(0, 100))
`
