import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/run-cli.ts'

const place = mkdtempSync(join(tmpdir(), 'throughline-config-cli-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

let folders = 0

function folderWith(text?: string): string {
  const folder = join(place, String(folders++))
  mkdirSync(folder)
  if (text !== undefined) writeFileSync(join(folder, 'throughline.yaml'), text)
  return folder
}

/** Nobody listens there. */
const NO_OLLAMA = { OLLAMA_HOST: '127.0.0.1:1' }

describe('throughline config', () => {
  it('runs as its guide shows it', async () => {
    const guide = readFileSync(
      join(import.meta.dirname, '..', '..', 'docs', 'guides', 'configuration.md'),
      'utf8',
    )
    const [, block = ''] = /^```sh\n([^`]+)```$/m.exec(guide) ?? []
    const commands = block.trim().split('\n')
    expect(commands).toHaveLength(4)
    const cwd = folderWith()
    for (const command of commands) {
      const { exitCode, stderr } = await runCli(command.replace('npx throughline ', ''), {
        cwd,
        env: NO_OLLAMA,
      })
      expect({ command, exitCode, stderr }).toMatchObject({ command, exitCode: 0 })
    }
    const file = join(cwd, 'throughline.yaml')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(file, 'utf8')) ?? []
    expect(JSON.parse(readFileSync(join(cwd, schema), 'utf8')).properties.agents.type).toBe(
      'object',
    )
    expect(statSync(dirname(join(cwd, schema))).mode & 0o777).toBe(0o700)
  })

  it('init creates its folder private, with any umask', async () => {
    const cwd = folderWith()
    const output = join('new', 'throughline.yaml')
    const { exitCode } = await runCli(['config', 'init', '--yes', '--output', output], {
      cwd,
      env: NO_OLLAMA,
    })
    expect(exitCode).toBe(0)
    expect(statSync(join(cwd, 'new')).mode & 0o777).toBe(0o700)
  })

  it('init finds an Ollama, replaces no file unasked, and asks only at a terminal', async () => {
    const server = createServer((_, response) => {
      response.end(JSON.stringify({ models: [{ name: 'qwen3:8b' }] }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const env = { OLLAMA_HOST: `127.0.0.1:${port}` }
    const cwd = folderWith('# mine\n')
    const kept = await runCli(['config', 'init', '--yes'], { cwd, env })
    expect(kept).toMatchObject({ exitCode: 2, stdout: '' })
    expect(kept.stderr).toContain('--force')
    expect(readFileSync(join(cwd, 'throughline.yaml'), 'utf8')).toBe('# mine\n')
    expect(await runCli(['config', 'init', '--force'], { cwd, env })).toMatchObject({ exitCode: 2 })

    const replaced = await runCli(['config', 'init', '--yes', '--force'], { cwd, env })
    server.close()
    expect(replaced).toMatchObject({ exitCode: 0, stdout: '' })
    const shown = await runCli(['config', 'show', '--json'], { cwd, env })
    expect(JSON.parse(shown.stdout).agents.main.model).toMatchObject({
      provider: 'openai-compatible',
      model: 'qwen3:8b',
      baseUrl: `http://127.0.0.1:${port}/v1`,
    })
  })

  it('check lists every mistake with its place and exits with 1', async () => {
    const cwd = folderWith('http:\n  prot: 1\nstore: postgres://me:hunter2@h/d\n')
    const { exitCode, stdout, stderr } = await runCli(['config', 'check'], { cwd })
    expect(exitCode).toBe(1)
    expect(stdout.split('\n').map((line) => line.slice(0, 30))).toEqual([
      'error: throughline.yaml:2:3: `',
      'error: throughline.yaml:3:8: `',
      '',
    ])
    expect(stderr).toContain('2 mistakes')
    expect(stdout + stderr).not.toContain('hunter2')
    const json = await runCli(['config', 'check', '--json'], { cwd })
    expect(JSON.parse(json.stdout)).toMatchObject({
      isFine: false,
      problems: [{ origin: { line: 2, column: 3 } }, { origin: { line: 3, column: 8 } }],
    })
  })

  it('check says if there is no file, and checks the settings without one', async () => {
    const check = (...more: string[]) => runCli(['config', 'check', ...more], { cwd: folderWith() })
    const built = await check()
    expect(built).toMatchObject({ exitCode: 0, stdout: '' })
    expect(built.stderr).toContain(
      'so the built-in configuration applies. `config init` writes one.',
    )
    const wrong = await check('--set', 'http.prot=1')
    expect(wrong.exitCode).toBe(1)
    expect(wrong.stderr).toContain(
      'There is no throughline.yaml; the built-in configuration has 1 mistake and cannot be used.',
    )
  })

  it('check repeats nothing from the file that a terminal would obey', async () => {
    const cwd = folderWith('"a\\e[2Jb\\u202ec": 1\nagents: {"x\\e]0;title\\a": 1}\n')
    const { exitCode, stdout, stderr } = await runCli(['config', 'check'], { cwd })
    expect(exitCode).toBe(1)
    expect(stdout).toContain('throughline.yaml:1:1: ')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
    expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/)
  })

  it('show prints the source of each value, and no secret', async () => {
    const cwd = folderWith('http: {host: localhost}\n')
    const env = { THROUGHLINE_STORE: 'postgres://me:hunter2@h/d' }
    const args = [
      'config',
      'show',
      '--origin',
      '--set',
      'http.port=8',
      '--set',
      'logging.level=warn',
    ]
    const { exitCode, stdout, stderr } = await runCli(args, { cwd, env })
    expect(exitCode).toBe(0)
    const rows = new Map(
      stdout
        .split('\n')
        .map((line) => line.split(/ {2,}/))
        .map(([key, ...rest]) => [key, rest]),
    )
    expect(rows.get('http.port')).toEqual(['8', '--set http.port'])
    expect(rows.get('logging.level')).toEqual(['warn', '--set logging.level'])
    expect(rows.get('http.host')).toEqual(['localhost', 'throughline.yaml:1:14'])
    expect(rows.get('http.enabled')).toEqual(['true', 'default'])
    expect(rows.get('store.url')).toEqual(['postgres://me:[secret]@h/d', 'THROUGHLINE_STORE'])
    expect(stdout + stderr).not.toContain('hunter2')
  })
})
