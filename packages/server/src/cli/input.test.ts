import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { readInputText, readTextFile } from './terminal/input.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-input-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(bytes: string | Buffer): string {
  const path = join(folder, 'input')
  writeFileSync(path, bytes)
  return path
}

it('reads plain and gzipped text, with its byte order mark', async () => {
  expect(await readInputText(file('\ufeffwörds\n'))).toBe('\ufeffwörds\n')
  expect(await readInputText(file(gzipSync('wörds')))).toBe('wörds')
  // One byte of the mark of gzip is not enough.
  expect(await readInputText(file('\u001f'))).toBe('\u001f')
  expect(await readInputText(file(''))).toBe('')
})

it('says why a file cannot be read', async () => {
  const input = join(folder, 'input')
  const read = (bytes: string | Buffer) => readInputText(file(bytes))
  await expect(readInputText(join(folder, 'none'))).rejects.toThrow(
    `${folder}/none cannot be read: there is no such file.`,
  )
  await expect(readInputText(folder)).rejects.toThrow('cannot be read: it is a folder, not a file.')
  await expect(read(Buffer.from([0x61, 0xff]))).rejects.toThrow(
    `${input} is not UTF-8 text. Convert it first (iconv -t UTF-8).`,
  )
  await expect(read(Buffer.from([0x1f, 0x8b, 0x08]))).rejects.toThrow(
    `${input} looks gzipped but cannot be unpacked: unexpected end of file.`,
  )
})

it('refuses more than the limit, which it names in its unit', () => {
  const path = file('x'.repeat(2_000_000))
  expect(readTextFile(path, 2_000_000)).toHaveLength(2_000_000)
  expect(() => readTextFile(path, 1_048_576)).toThrow(`${path} exceeds the 1 MB input limit.`)
  expect(() => readTextFile(path, 1_048_575)).toThrow(
    `${path} exceeds the 1048575 bytes input limit.`,
  )
})
