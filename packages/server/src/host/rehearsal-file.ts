import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '#core/base/clock'
import { replaceFile } from '#core/base/files/write'
import type { Picture, RehearsalReport } from '../rehearsal/report.ts'
import { loadConfig } from './config/load.ts'
import { besideStore, storeRequest } from './store-selection.ts'

/** The file beside a server's store, so that its page can show a rehearsal running next to it. */
export function rehearsalFile(storeUrl: string): string {
  return join(besideStore(storeUrl), 'rehearsal.json')
}

/** Writes the state where a server in this folder finds it; without a server it writes nothing. */
export class PictureFile {
  readonly #path: string | null
  #last: Picture | undefined

  constructor(path = pathHere()) {
    this.#path = path
  }

  draw(picture: Picture): void {
    this.#last = picture
    this.#write({ ...picture, verdict: null })
  }

  end({ holds, verdicts, audit }: RehearsalReport): void {
    if (this.#last === undefined) return
    const broken = [
      ...verdicts.filter(({ verdict }) => verdict === 'broken'),
      ...audit.laws.filter(({ holds: isKept }) => !isKept),
    ]
    this.#write({ ...this.#last, verdict: { holds, broken: broken.map(({ law }) => law) } })
  }

  #write(content: object): void {
    if (this.#path === null) return
    try {
      const text = JSON.stringify({ writtenAt: systemClock.now(), ...content })
      replaceFile(this.#path, text)
    } catch {
      // A lost update does no harm: the rehearsal reports everything at its end.
    }
  }
}

function pathHere(): string | null {
  const loaded = loadConfig(storeRequest({}))
  if (loaded.kind === 'refused') return null
  const path = rehearsalFile(loaded.config.store.url)
  return existsSync(dirname(path)) ? path : null
}
