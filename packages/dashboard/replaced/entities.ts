const LONGEST = 2

/**
 * Replaces the package `entities` on the page: the browser knows every named character, so its list of 13 KB
 * (compressed) stays out of the bundle. markdown-it passes one reference such as `&auml;`; nothing else reaches
 * the browser's parser, and what it returns is text.
 */
export function decodeHTMLStrict(reference: string): string {
  const { documentElement } = new DOMParser().parseFromString(reference, 'text/html')
  const decoded = documentElement.textContent ?? ''
  // No name stands for more than two units; browsers also read `&ltx;` as `<x;`, which Markdown does not.
  return decoded !== '' && decoded.length <= LONGEST ? decoded : reference
}
