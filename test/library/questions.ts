/** What a loop of a framework is to pay for, one after another. */
export const ORDERS = ['order-1', 'order-2', 'order-3', 'order-4']

/** What the paying agent is asked: orders of their own in each session. */
export function messagesOf(): readonly { readonly session: string; readonly texts: string[] }[] {
  return ['ana', 'bo', 'cy'].map((session) => ({
    session,
    texts: Array.from({ length: 8 }, (_, number) => `pay for ${session}${number}`),
  }))
}
