import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPages } from './files.ts'

it('a page consists of the files in its folder, without links, hidden files or unknown types', () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-page-'))
  mkdirSync(join(folder, 'assets'))
  mkdirSync(join(folder, '.git'))
  for (const name of ['index.html', 'assets/app.js', '.env', '.git/config.json', 'notes.txt']) {
    writeFileSync(join(folder, name), name)
  }
  symlinkSync('/etc/hosts', join(folder, 'hosts.html'))
  const pages = readPages(folder)
  expect([...pages.keys()].toSorted()).toEqual(['/', '/assets/app.js', '/index.html'])
  expect(pages.get('/assets/app.js')?.headers['content-type']).toContain('text/javascript')
  expect(pages.get('/')?.headers['content-security-policy']).toContain("script-src 'self'")
  rmSync(folder, { recursive: true })
})

it('a missing folder has no page', () => {
  expect(readPages(join(tmpdir(), 'throughline-no-such-folder')).size).toBe(0)
})

it.each([
  ['a.html', 'text/html; charset=utf-8'],
  ['a.js', 'text/javascript; charset=utf-8'],
  ['a.css', 'text/css; charset=utf-8'],
  ['a.svg', 'image/svg+xml'],
  ['a.png', 'image/png'],
  ['a.ico', 'image/x-icon'],
  ['a.json', 'application/json'],
  ['a.woff2', 'font/woff2'],
])('%s is %s, and is revalidated before each use', (name, type) => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-page-'))
  writeFileSync(join(folder, name), name)
  const { headers } = readPages(folder).get(`/${name}`) ?? {}
  expect(headers).toMatchObject({ 'content-type': type, 'cache-control': 'no-cache' })
  rmSync(folder, { recursive: true })
})
