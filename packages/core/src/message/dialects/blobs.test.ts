import { describe, expect, it } from 'vitest'
import type { FilePart, ImagePart } from '../message.ts'
import { dialectOf } from './all.ts'
import { sendableBlob } from './blobs.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

function file(mediaType: string, bytes: Buffer): FilePart {
  const source = { kind: 'base64', mediaType, data: bytes.toString('base64') } as const
  return { type: 'file', name: 'a', source }
}

function image(mediaType: string, bytes: Buffer): ImagePart {
  return { type: 'image', source: file(mediaType, bytes).source }
}

describe('an image or a file is sent', () => {
  it.each([
    ['image/png', PNG],
    ['image/jpeg', Buffer.from('ffd8ffe0', 'hex')],
    ['image/gif', Buffer.from('GIF89a')],
    ['image/webp', Buffer.from('RIFF1234WEBP')],
  ])('if it is a %s of its declared type and within the size limit', (type, bytes) => {
    const real = image(type, bytes)
    expect(sendableBlob(real, dialectOf('anthropic').accepts)).toBe(real)
    const forged = sendableBlob(
      image(type, Buffer.from('no such thing')),
      dialectOf('anthropic').accepts,
    )
    expect(forged).toEqual({ type: 'text', text: `[image] (not shown: it is no ${type})` })
    const vast = sendableBlob(
      image(type, Buffer.concat([bytes, Buffer.alloc(4_000_000)])),
      dialectOf('gemini').accepts,
    )
    expect(vast).toEqual({ type: 'text', text: '[image] (not shown: it is too large for a model)' })
  })

  it('with every character of its text, including a byte order mark', () => {
    const note = file('text/plain', Buffer.from('\uFEFFa,b'))
    expect(sendableBlob(note, dialectOf('openai-chat').accepts)).toMatchObject({
      type: 'text',
      text: expect.stringContaining('\uFEFFa,b'),
    })
  })

  it('by its content, in an image part or in a file part', () => {
    const picture = file('image/png', PNG)
    expect(sendableBlob(picture, dialectOf('anthropic').accepts)).toEqual({
      type: 'image',
      source: picture.source,
    })
    const paper = image('application/pdf', Buffer.from('%PDF-1.7'))
    expect(sendableBlob(paper, dialectOf('openai-responses').accepts)).toEqual({
      type: 'file',
      source: paper.source,
    })
  })

  it('as text if it is text', () => {
    expect(
      sendableBlob(file('text/csv', Buffer.from('a,b\n1,ü')), dialectOf('openai-chat').accepts),
    ).toEqual({
      type: 'text',
      text: '[file a]\na,b\n1,ü',
    })
  })

  it('as the beginning of its text if that is long', () => {
    for (const word of ['word ', 'слово ', '言葉 ', '🚢 ']) {
      const part = sendableBlob(
        file('text/plain', Buffer.from(word.repeat(50_000))),
        dialectOf('anthropic').accepts,
      )
      const text = part.type === 'text' ? part.text : ''
      expect(text.length).toBeLessThan(31_000)
      expect(text.endsWith('\n[the rest of it is not shown]')).toBe(true)
      expect(text).not.toContain('\ufffd')
    }
  })

  it('as a note with its name if no model reads its type', () => {
    const zip = file('application/zip', Buffer.from('PK'))
    expect(sendableBlob(zip, dialectOf('anthropic').accepts)).toEqual({
      type: 'text',
      text: '[file a] (not shown: models do not read application/zip)',
    })
    const song = file('audio/ogg', Buffer.from('OggS'))
    expect(sendableBlob(song, dialectOf('openai-chat').accepts).type).toBe('text')
    expect(sendableBlob(song, dialectOf('gemini').accepts)).toBe(song)
    const pdf = file('application/pdf', Buffer.from('%PDF-1.7'))
    expect(sendableBlob(pdf, dialectOf('anthropic').accepts)).toBe(pdf)
  })

  it('by its URL or file id unchanged', () => {
    const far: ImagePart = { type: 'image', source: { kind: 'url', url: 'https://a.example/b' } }
    expect(sendableBlob(far, dialectOf('anthropic').accepts)).toBe(far)
  })
})
