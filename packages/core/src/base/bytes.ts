/** Bytes of texts without `Buffer`, which browsers and Workers do not have. */

/** How many bytes a text takes as UTF-8; a lone surrogate takes three. */
export function utf8Length(text: string): number {
  if (isAscii(text)) return text.length
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    // Each half of a pair takes two bytes.
    const isPair = code >= 0xd800 && code <= 0xdfff && isPaired(text, index)
    bytes += code < 0x80 ? 1 : code < 0x800 || isPair ? 2 : 3
  }
  return bytes
}

export function isAscii(text: string): boolean {
  return !/[\u0080-\uffff]/.test(text)
}

function isPaired(text: string, index: number): boolean {
  const isHigh = (at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800
  const isLow = (at: number) => (text.charCodeAt(at) & 0xfc00) === 0xdc00
  return isHigh(index) ? isLow(index + 1) : isHigh(index - 1)
}

/** Decodes leniently: both alphabets, with or without padding, skipping other characters. */
export function decodeBase64(text: string): Uint8Array {
  const [digits = ''] = text.replaceAll(/[^\w+/=-]/g, '').split('=')
  const usual = digits.replaceAll('-', '+').replaceAll('_', '/')
  // One digit alone is not a byte.
  const whole = usual.length % 4 === 1 ? usual.slice(0, -1) : usual
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0))
}
