import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { KnownError } from '#core/base/errors'

/**
 * The web page, if there is one. Its files are read once, when the server starts, so no path from a
 * request ever reaches the disk. Links and hidden files are left out. The page may load from, and
 * connect to, this server only.
 */
export interface Page {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

const BYTES_MAX = 32 * 1024 * 1024
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export class PageTooLargeError extends KnownError {
  override readonly name = 'PageTooLargeError'
  readonly code = 'page-too-large'
  readonly retryable = false
}

/** By URL path; empty if the folder does not exist. */
export function readPages(folder: string): ReadonlyMap<string, Page> {
  const pages = new Map<string, Page>()
  let bytesTotal = 0
  for (const path of listFiles(folder)) {
    const type = TYPES[extname(path)]
    const address = `/${relative(folder, path).split(sep).join('/')}`
    if (type === undefined || address.includes('/.')) continue
    const bytes = readFileSync(path)
    bytesTotal += bytes.length
    if (bytesTotal > BYTES_MAX) {
      throw new PageTooLargeError(`The files in ${folder} take more than ${BYTES_MAX} bytes.`)
    }
    const headers = { 'content-type': type, 'content-security-policy': POLICY }
    const page = { bytes, headers: { ...headers, 'cache-control': 'no-cache' } }
    pages.set(address, page)
    if (address.endsWith('/index.html')) pages.set(address.slice(0, -'index.html'.length), page)
  }
  return pages
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
