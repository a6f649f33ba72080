import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../packages/server/src/gateway/http/endpoints/all.ts'
import { PROBLEMS } from '../../packages/server/src/gateway/http/problems.ts'
import { EXPORT_NAMES } from '../../packages/server/src/gateway/text/export-session.ts'
import { openPlace } from './http-place.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/http-api.md'), 'utf8')
const ADDRESS = 'http://127.0.0.1:7420'

describe('the guide to the HTTP interface', () => {
  it('shows commands that run, each with the answer it promises', async (context) => {
    if (!hasCurl()) return context.skip('not run: curl absent')
    const place = await openPlace()
    const blocks = [...guide.matchAll(/^```sh\n([^`]*?)\n```$/gm)].map((match) => match[1] ?? '')
    const commands = blocks.join('\n').replaceAll('\\\n', ' ').split('\n')
    expect(commands.length).toBeGreaterThan(15)
    for (const command of commands) {
      const script = command
        .replaceAll(ADDRESS, place.url)
        .replace('curl ', "curl -w '\\n%{http_code}' ")
      const { stdout } = await promisify(execFile)('sh', ['-c', script])
      const status = Number(stdout.split('\n').at(-1))
      expect({ command, stdout, isTaken: [200, 201, 202, 204].includes(status) }).toEqual({
        ...{ command, stdout, isTaken: true },
      })
    }
    const { json } = await place.call('/v1/sessions/demo/transcript')
    expect(JSON.stringify(json)).toContain('BASALT')
    await place.close()
  })

  it('names everything that can be deleted, and every form of an export', () => {
    const deletions = ENDPOINTS.filter(({ method }) => method === 'delete').map(({ path }) => {
      const rest = path.replace('/v1/sessions/{id}', '').replace(/\{.*/, '')
      return `DELETE ${rest === '' ? '/v1/sessions/ID' : `…${rest}`}`
    })
    expect(deletions).toHaveLength(5)
    for (const deletion of deletions) expect(guide).toContain(`\`${deletion}`)
    for (const name of EXPORT_NAMES) expect(guide).toContain(`\`${name}\``)
  })

  it('lists the problems and their statuses as the table has them', () => {
    const rows = [...guide.matchAll(/^\| `([a-z-]+)` +\| (\d+) +\| (.+?) +\|$/gm)].map(
      ([, code, status, title]) => [code, [Number(status), title]],
    )
    expect(rows).toEqual(Object.entries(PROBLEMS))
  })
})

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
