import { join } from 'node:path'
import { type HttpServer, serveHttp } from '../gateway/http/serve.ts'
import type { Host } from './open-host.ts'
import { rehearsalFile } from './rehearsal-file.ts'
import { auditFolder } from './store-place.ts'

/** Where `vite build dashboard` puts the web page, seen from the sources and from the build. */
const PAGE = join(import.meta.dirname, '../../dashboard/dist')

/** The HTTP edge as configured; null: switched off. */
export async function openServed({
  loaded,
  runtime,
  store,
  logger,
}: Host): Promise<HttpServer | null> {
  const { enabled, ...http } = loaded.config.http
  if (!enabled) return null
  const { store: kept } = loaded.config
  return await serveHttp({
    ...http,
    ...{ runtime, logger },
    tokens: store,
    dashboardFolder: PAGE,
    place: {
      storeBytes: () => store.readSize(),
      auditFolder: auditFolder(kept.url),
      rehearsalFile: rehearsalFile(kept.url),
    },
  })
}
