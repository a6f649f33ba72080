/** What runs inside the page, as text: the bench is compiled for Node, which knows no document. */

/** Notes in `pixels` how much of the answer is on the screen, one frame after it was drawn. */
export const NOTE_PIXELS = `
  window.pixels = []
  new MutationObserver(() => {
    const said = document.querySelector('.writing .said') ??
      [...document.querySelectorAll('.is-assistant .said')].at(-1)
    const length = said?.textContent.length ?? 0
    requestAnimationFrame(() => pixels.push({ length, at: Date.now() }))
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
`

/** Scrolls to and fro for a time, a good part of the screen per frame, and counts the frames. */
export function scrollThrough(box: string, ms: number): string {
  return `new Promise((resolve) => {
    const element = document.querySelector(${JSON.stringify(box)})
    const startedAt = performance.now()
    let frames = 0
    let step = -120
    const frame = (now) => {
      frames++
      const before = element.scrollTop
      element.scrollTop += step
      if (element.scrollTop === before) step = -step
      if (now - startedAt < ${ms}) requestAnimationFrame(frame)
      else resolve({ frames, ms: now - startedAt })
    }
    requestAnimationFrame(frame)
  })`
}
