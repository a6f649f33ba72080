/**
 * Messages that need no change stay the same objects: codecs write those back byte for byte, and
 * comparing identities shows that nothing changed.
 */
export function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index])
}

/** The message with these parts; the same object if they are already its parts. */
export function withParts<P, M extends { readonly parts: readonly P[] }>(
  message: M,
  parts: readonly P[],
): M {
  return isSame(parts, message.parts) ? message : { ...message, parts }
}
