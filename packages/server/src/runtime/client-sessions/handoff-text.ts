import { writeEnvelope } from '#core/message/handoff/envelope'
import type { Handoff } from '#core/message/handoff/handoff'

/** The handoff as the model reads it; images appear by name and can be recalled. */
export function handoffText(handoff: Handoff): string {
  return writeEnvelope(handoff)
    .parts.map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'opaque') return '[attachment]'
      const { source } = part
      return `[${part.type}${source.kind === 'id' ? ` ${source.id}` : ''}]`
    })
    .join('\n')
}
