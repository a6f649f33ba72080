import { isArray, isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import { textField } from '../origin.ts'

/**
 * Lists in Hermes' rows contain chat parts, and occasionally parts of another API that it called.
 * Those are read as the equivalent chat parts, with a word that records their original form.
 */
const SPELLED = 'spelled'

export function asChatParts(content: JsonValue): JsonValue {
  return isArray(content)
    ? content.map((part) => (isObject(part) ? chatPart(part) : part))
    : content
}

function chatPart(part: JsonObject): JsonObject {
  const { type, text, image_url: url, source, ...others } = part
  if ((type === 'input_text' || type === 'output_text') && typeof text === 'string') {
    return { type: 'text', text, ...others, [SPELLED]: type }
  }
  if (type === 'input_image' && typeof url === 'string') {
    return { type: 'image_url', image_url: { url }, ...others, [SPELLED]: type }
  }
  if (type !== 'image' || !isObject(source)) return part
  const [data, mediaType] = [textField(source, 'data'), textField(source, 'media_type')]
  const isPlain = Object.keys(source).length === (source['type'] === 'base64' ? 3 : 2)
  if (source['type'] === 'base64' && isPlain && data !== undefined && mediaType !== undefined) {
    const image = { url: `data:${mediaType};base64,${data}` }
    return { type: 'image_url', image_url: image, ...others, [SPELLED]: type }
  }
  const address = textField(source, 'url')
  if (source['type'] !== 'url' || !isPlain || address === undefined) return part
  return { type: 'image_url', image_url: { url: address }, ...others, [SPELLED]: type }
}

export function asFirstSpelled(content: JsonValue): JsonValue {
  return isArray(content) ? content.map((part) => (isObject(part) ? spelled(part) : part)) : content
}

function spelled({ [SPELLED]: type, ...part }: JsonObject): JsonObject {
  if (typeof type !== 'string') return part
  const { type: _, text, image_url: image, ...others } = part
  const url = isObject(image) ? (textField(image, 'url') ?? '') : ''
  if (type === 'input_image') return { type, image_url: url, ...others }
  if (type !== 'image') return { type, text: text ?? '', ...others }
  const [, mediaType = '', data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? []
  const source =
    data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data }
  return { type, source, ...others }
}
