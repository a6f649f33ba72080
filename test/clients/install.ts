import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The real clients, in pinned versions, installed outside the repository. */
export const PINNED = {
  claude: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.326',
    entry: '@anthropic-ai/claude-code/cli-wrapper.cjs',
  },
  codex: { package: '@openai/codex', version: '0.169.0', entry: '@openai/codex/bin/codex.js' },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    entry: `opencode-${process.platform}-${process.arch}/bin/opencode`,
  },
  pi: {
    package: '@earendil-works/pi-coding-agent',
    version: '0.87.1',
    entry: '@earendil-works/pi-coding-agent/dist/cli.js',
  },
} as const

export type ClientName = keyof typeof PINNED

const CACHE = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'throughline-clients',
)

/** The file to start. Installs it on the first call. */
export function installed(name: ClientName): string {
  const { package: what, version, entry } = PINNED[name]
  return join(installPackage(what, version), entry)
}

/** The folder of modules that holds this version of a package. */
export function installPackage(what: string, version: string): string {
  const folder = join(CACHE, `${what.replace(/^@.*\//, '')}-${version}`)
  const modules = join(folder, 'node_modules')
  const manifest = join(modules, what, 'package.json')
  const isThere =
    existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version
  if (!isThere) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    // Without install scripts: the programs come as packages of their own, per platform.
    const flags = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund']
    const ran = spawnSync('npm', ['install', ...flags, `${what}@${version}`], {
      ...{ cwd: folder, encoding: 'utf8', timeout: 300_000 },
    })
    if (ran.status !== 0) throw new Error(`npm could not install ${what}: ${ran.stderr}`)
  }
  return modules
}
