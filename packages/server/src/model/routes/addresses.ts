import { BlockList, isIPv6 } from 'node:net'
import { isArray, isObject, type JsonValue } from '#core/base/json'
import type { Message, Part } from '#core/message/message'
import { withParts } from '#core/message/same'
import { textOf } from '#core/message/text'

/**
 * Whether a URL in a message may be sent to a model server. We fetch none ourselves, but the server
 * may, and one on our host or network would fetch internal resources for the sender of the message
 * (SSRF). The URL parser normalizes odd notations (hex, octal, one number) before this check. A
 * public name may still resolve to a private address; the fetching server must check that.
 */
export function isPublicAddress(address: string): boolean {
  const url = URL.parse(address)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    return false
  }
  const host = url.hostname.replace(/\.$/, '').toLowerCase()
  if (host.startsWith('[')) return isPublicIPv6(host.slice(1, -1))
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)) return !PRIVATE4.check(host, 'ipv4')
  return host.includes('.') && !PRIVATE_NAMES.some((end) => host.endsWith(end))
}

function isPublicIPv6(host: string): boolean {
  return isIPv6(host) && !PRIVATE6.check(host, 'ipv6')
}

const PRIVATE_NAMES = [
  '.localhost',
  '.local',
  '.internal',
  '.intranet',
  '.lan',
  '.home.arpa',
  '.test',
]

// Two lists, because a list with the range of mapped addresses would match every IPv4 address.
const PRIVATE4 = new BlockList()
const PRIVATE6 = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  PRIVATE4.addSubnet(net, prefix, 'ipv4')
}
for (const [net, prefix] of [
  ['::', 96],
  // IPv4 inside IPv6: mapped, translated, tunnelled.
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
  ['100::', 64],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE6.addSubnet(net, prefix, 'ipv6')
}

/** Replaces every reference to a non-public URL by a marker. */
export function withoutPrivateAddresses(messages: readonly Message[]): readonly Message[] {
  return messages.some(hasPrivate) ? messages.map(withMarkers) : messages
}

function hasPrivate(message: Message): boolean {
  // Items of the model's own provider must be returned unchanged, including addresses in them.
  if (message.role === 'handoff' || message.role === 'assistant') return false
  return (message.parts as readonly Part[]).some(isOrHoldsPrivate)
}

function isOrHoldsPrivate(part: Part): boolean {
  return part.type === 'tool-result' ? part.output.some(isPrivate) : isPrivate(part)
}

function isPrivate(part: Part): boolean {
  if (part.type === 'opaque') return leadsInside(part.value)
  if (part.type !== 'image' && part.type !== 'file') return false
  return part.source.kind === 'url' && isInside(part.source.url)
}

/** For an image or file that our message model has no type for, checks any URL in it. */
function leadsInside(value: JsonValue): boolean {
  if (typeof value === 'string') return /^(?:https?|ftp|file):/i.test(value) && isInside(value)
  if (isArray(value)) return value.some(leadsInside)
  return isObject(value) && Object.values(value).some(leadsInside)
}

function isInside(url: string): boolean {
  return !isInline(url) && !isPublicAddress(url)
}

function isInline(url: string): boolean {
  return url.startsWith('data:')
}

function withMarkers(message: Message): Message {
  if (message.role === 'handoff' || !hasPrivate(message)) return message
  const marked = (message.parts as readonly Part[]).map((part): Part => {
    if (part.type !== 'tool-result') return mark(part)
    return { ...part, output: part.output.map((each) => mark(each)) as typeof part.output }
  })
  return withParts(message, marked as never)
}

function mark(part: Part): Part {
  if (!isPrivate(part)) return part
  return { type: 'text', text: `${textOf(part)} (not sent: its address is not a public one)` }
}
