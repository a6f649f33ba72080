import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import rootManifest from '../package.json' with { type: 'json' }
import coreManifest from '../packages/core/package.json' with { type: 'json' }
import serverManifest from '../packages/server/package.json' with { type: 'json' }
import { findFileWrites } from './tidy/file-writes.ts'
import {
  type Architecture,
  findBrokenLinks,
  findCircles,
  findCrowdedFolders,
  findDoubleExports,
  findForeignPackages,
  findFormOffences,
  findImpurities,
  findLeaks,
  findLonelyFiles,
  findMachinePaths,
  findRetiredWords,
  findUndatedDecisions,
  findUnresolvedLaws,
  findUnusedEdges,
  findWrongDirections,
  ownImports,
  readSources,
  type Tree,
} from './tidy/rules.ts'
import { findTimeBounds } from './tidy/time-bounds.ts'

/**
 * The map of ARCHITECTURE.md as data: who may import whom. Folders that are still to come stand here
 * already, so that their first file meets its rule.
 */
const ARCHITECTURE: Architecture = {
  imports: {
    // packages/core
    base: [],
    message: ['base'],
    tokens: ['base', 'message'],
    compaction: ['base', 'message', 'tokens'],
    audit: ['base'],
    store: ['base'],
    session: ['base', 'message', 'compaction', 'audit', 'store'],
    agent: ['base', 'message', 'tokens', 'compaction', 'store', 'session'],
    adapters: ['base', 'agent'],
    // packages/server
    // Of compaction the masking of secrets, for the words of providers.
    model: ['base', 'message', 'compaction'],
    tools: ['base', 'message', 'store', 'session'],
    turn: ['base', 'message', 'tokens', 'tools', 'model', 'session'],
    auxiliary: ['base', 'message', 'tokens', 'compaction', 'model'],
    doctor: ['base', 'store', 'audit', 'migration'],
    migration: ['base', 'message', 'tokens', 'store'],
    // What clients of a provider send, without any I/O.
    proxy: ['base', 'message'],
    runtime: [
      ...['base', 'message', 'tokens', 'compaction', 'model', 'audit', 'store'],
      ...['tools', 'turn', 'auxiliary', 'session', 'proxy'],
    ],
    // Of the tools the rule against loops of acknowledgments, for bots that share a channel.
    gateway: ['base', 'message', 'audit', 'session', 'runtime', 'tools', 'proxy'],
    'stand-in': ['base', 'message'],
    rehearsal: ['base', 'message', 'audit', 'store', 'runtime', 'host', 'stand-in'],
    host: [
      ...['base', 'compaction', 'model', 'audit', 'store', 'session', 'tools'],
      ...['auxiliary', 'migration', 'runtime', 'gateway', 'stand-in'],
    ],
    cli: [
      ...['base', 'message', 'tokens', 'compaction', 'audit', 'store', 'session', 'doctor'],
      ...['migration', 'runtime', 'gateway', 'host', 'stand-in', 'rehearsal'],
    ],
    // What `@throughline/core` itself exports.
    index: ['base', 'message', 'tokens', 'compaction', 'agent'],
  },
  // The store's rows and verbs, for folders that are handed a store and open none.
  types: {
    audit: ['store'],
    auxiliary: ['store'],
    gateway: ['store'],
    // The report that `serve` shows.
    host: ['rehearsal'],
  },
  packages: {
    cli: ['commander', '@clack/prompts', 'fast-string-width', 'fast-wrap-ansi'],
    gateway: [
      ...['prom-client', 'grammy', 'discord.js', '@modelcontextprotocol/server', 'zod'],
      'markdown-it',
    ],
    host: ['yaml', 'zod', 'pino', 'pg'],
    runtime: ['zod'],
    tools: ['re2js', 'croner', 'zod', '@modelcontextprotocol/client'],
    turn: ['zod'],
    // Optional peers; of the libraries' packages the types alone, and `pg` only if none is passed.
    store: ['pg'],
    agent: ['openai', '@anthropic-ai/sdk', 'ai', '@langchain/core'],
    adapters: [
      ...['ai', '@anthropic-ai/sdk', '@openai/agents', 'langchain', '@langchain/core'],
      '@langchain/langgraph-checkpoint',
    ],
    migration: ['yaml'],
    model: [
      ...['@ai-sdk/provider', '@ai-sdk/openai', '@ai-sdk/anthropic', '@ai-sdk/google'],
      ...['@ai-sdk/openai-compatible', 'undici', 'zod'],
    ],
  },
  pure: ['message', 'tokens', 'compaction', 'proxy'],
  impureFiles: {
    // The one path that waits: for the summary, which a function handed in writes.
    'packages/core/src/compaction/compact.ts': ['await'],
    'packages/core/src/compaction/fill-handoff.ts': ['await'],
    'packages/core/src/compaction/handoff-work.ts': ['await'],
    'packages/core/src/compaction/make-handoff.ts': ['await'],
    'packages/core/src/compaction/pipeline.ts': ['await'],
    'packages/core/src/compaction/plan-and-run.ts': ['await'],
    'packages/core/src/compaction/summary/summarize.ts': ['await'],
    'packages/core/src/compaction/summary/write-summary.ts': ['await'],
  },
  outer: ['cli', 'host', 'runtime'],
  // Beside what package.json names: what is started as a thread or a process, by its address.
  entryPoints: [
    ...entryPoints(),
    'packages/core/src/store/sqlite/worker/thread.ts',
    'packages/server/src/tools/process/guard.ts',
    ...['bench/proxy/pass-through.ts', 'bench/soak/probe.ts'],
    'packages/server/src/runtime/handoff-thread/thread.ts',
    'packages/server/src/rehearsal/stage/agent-process.ts',
    'packages/dashboard/main.tsx',
    // Bundled instead of packages by vite.config.ts.
    ...['packages/dashboard/replaced/entities.ts', 'packages/dashboard/replaced/linkify-it.ts'],
    // Run by package.json of each package, and by each other.
    ...['packages/build.js', 'packages/build-page.js', 'packages/published-form.js'],
    // Loaded by its path where there is a clone.
    'test/rehearsal/sabotages.ts',
  ],
  sourceLinesMax: 400,
  importsMax: 20,
  folderFilesMax: 25,
  retiredWords: [
    ...['desk', 'room', 'house', 'place', 'places', 'seat', 'theatre', 'deed', 'birth', 'births'],
    ...[
      'told',
      'tell',
      'trouble',
      'witness',
      'onlooker',
      'acquaintance',
      'surroundings',
      'apology',
    ],
    ...['patience', 'standing', 'asking', 'waits', 'writing', 'settled', 'shown', 'lookout'],
  ],
}

/** Test files that bound a time, each with the reason why a busy machine does not matter. */
const TIME_BOUNDS: Readonly<Record<string, string>> = {
  'packages/core/src/adapters/claude-agent-sdk.test.ts': 'a date within ten minutes of now',
  'packages/core/src/session/protocol/advance.test.ts': 'the time is a number of the test',
  'packages/server/src/model/calls/call.test.ts': 'the clock is a fake',
  'packages/server/src/stand-in/server.test.ts': 'the least of several measurements',
  'test/journeys/load.test.ts': 'processor time, the least of several measurements',
  'test/journeys/policies.test.ts': 'most of a minute',
  'test/model/tear.test.ts': 'the least of several measurements',
}

/** Files that write to a path by themselves, each with the reason why no other user can interfere. */
const FILE_WRITES: Readonly<Record<string, readonly string[]>> = {
  // A new file with a random name.
  'packages/core/src/audit/log/log.ts': ['open'],
  'packages/core/src/adapters/spool.ts': ['open', 'rename'],
  'packages/server/src/runtime/store-layers/store-health.ts': ['open'],
  // Times alone, in the folder of the store.
  'packages/core/src/store/sqlite/worker/wake.ts': ['utimesSync'],
  // The folder was checked: only this user can write to it.
  'packages/server/src/gateway/http/access/local-socket.ts': ['chmodSync', 'renameSync'],
  'packages/server/src/host/served-store.ts': ['chmodSync'],
  // Fewer rights for a file of the store.
  'packages/server/src/doctor/fix.ts': ['chmodSync'],
  // Within a folder that mkdtemp made.
  'packages/server/src/migration/hermes/read/open.ts': ['copyFile'],
  'packages/server/src/rehearsal/file-edge.ts': ['appendFileSync'],
  'packages/server/src/rehearsal/stage/agent-terms.ts': ['appendFileSync'],
  // Into a descriptor.
  'packages/server/src/cli/terminal/output.ts': ['writeFileSync'],
  'packages/server/src/migration/leave/leave.ts': ['writeFileSync'],
}

const root = join(import.meta.dirname, '..')

describe('the tree', () => {
  const tree = readTree()
  const sources = readSources(tree)

  it('imports in the direction of the table', () => {
    expect(findWrongDirections(sources, ARCHITECTURE)).toEqual([])
  })

  it('imports foreign packages only where the table allows it', () => {
    expect(findForeignPackages(sources, ARCHITECTURE)).toEqual([])
  })

  it('keeps the pure folders free of clock, chance, disk, network and waiting', () => {
    expect(findImpurities(sources, ARCHITECTURE)).toEqual([])
  })

  it('uses every edge of the table', () => {
    expect(findUnusedEdges(sources, ARCHITECTURE)).toEqual([])
  })

  it('cites laws and decisions that exist', () => {
    expect(findUnresolvedLaws(tree)).toEqual([])
  })

  it('exports each name once', () => {
    expect(findDoubleExports(sources)).toEqual([])
  })

  it('uses no retired word in a file name or an exported name', () => {
    expect(findRetiredWords(sources, ARCHITECTURE)).toEqual([])
  })

  it('has no folder of more than 25 files', () => {
    expect(findCrowdedFolders(sources, ARCHITECTURE)).toEqual([])
  })

  it('imports four files in the median', () => {
    const counts = sources
      .filter(({ path }) => /^packages\/(?:core|server)\/src\/.*(?<!\.test)\.ts$/.test(path))
      .map((source) => ownImports(source).size)
      .toSorted((a, b) => a - b)
    expect(counts[Math.floor(counts.length / 2)]).toBeLessThanOrEqual(4)
  })

  it('has no circle of imports', () => {
    expect(findCircles(sources)).toEqual([])
  })

  it('has no file that nobody imports', () => {
    expect(findLonelyFiles(sources, ARCHITECTURE)).toEqual([])
  })

  it('reads the environment and writes to the console in the outermost folders only', () => {
    expect(findLeaks(sources, ARCHITECTURE)).toEqual([])
  })

  it('names files after ideas, exports by name, and keeps sources short', () => {
    expect(findFormOffences(sources, ARCHITECTURE)).toEqual([])
  })

  it('names no path of a machine and no package registry', () => {
    expect(
      findMachinePaths(
        tree,
        [root, homedir()].map((place) => `${place}/`),
      ),
    ).toEqual([])
  })

  it('writes to named paths through one module', () => {
    const found = findFileWrites(sources, (path) => tree.get(path) ?? '', FILE_WRITES)
    expect(found).toEqual([])
  })

  it('has no test that a slow machine makes fail', () => {
    expect(findTimeBounds(tree, TIME_BOUNDS)).toEqual([])
  })

  it('has no broken link in its documents', () => {
    expect(findBrokenLinks(tree, (path) => existsSync(join(root, path)))).toEqual([])
  })

  it('dates and numbers its decisions, and names the rejected alternatives', () => {
    expect(findUndatedDecisions(tree)).toEqual([])
  })
})

describe('findWrongDirections', () => {
  it('tells the way the arrow goes', () => {
    const sources = readSources(
      plant({ 'packages/core/src/base/a.ts': "import type { B } from '../message/b.ts'" }),
    )
    expect(findWrongDirections(sources, ARCHITECTURE)).toEqual([
      'packages/core/src/base/a.ts imports packages/core/src/message/b.ts: the arrow goes message -> base',
    ])
  })

  it('sees dynamic imports, re-exports and types in annotations', () => {
    const sources = readSources(
      plant({
        'packages/core/src/tokens/a.ts': "export const a = () => import('../compaction/plan.ts')",
        'packages/core/src/tokens/b.ts': "export { plan } from '../compaction/plan.ts'",
        'packages/core/src/tokens/c.ts': "export type C = import('../compaction/plan.ts').Plan",
      }),
    )
    expect(findWrongDirections(sources, ARCHITECTURE)).toHaveLength(3)
  })

  it('refuses a folder that is not in the table, and paths that leave the sources', () => {
    const sources = readSources(
      plant({
        'packages/core/src/magic/a.ts': '',
        'packages/core/src/base/b.ts': "import '../../../../test/support/x.ts'",
      }),
    )
    expect(findWrongDirections(sources, ARCHITECTURE)).toEqual([
      'packages/core/src/magic/a.ts: the folder magic is not in the table',
      "packages/core/src/base/b.ts imports test/support/x.ts, outside the packages' sources",
    ])
  })
})

describe('findWrongDirections of types', () => {
  it('lets the edges of the second table carry types, and nothing else', () => {
    const sources = readSources(
      plant({
        'packages/server/src/gateway/a.ts': "import type { Store } from '#core/store/contract'",
        'packages/server/src/gateway/b.ts': "import { openSqliteStore } from '#core/store/index'",
      }),
    )
    expect(findWrongDirections(sources, ARCHITECTURE)).toEqual([
      expect.stringContaining('gateway/b.ts imports packages/core/src/store/index.ts: gateway may'),
    ])
  })
})

describe('findForeignPackages', () => {
  it('names the folder and what it may import', () => {
    const sources = readSources(
      plant({ 'packages/core/src/message/a.ts': "import { z } from 'zod/mini'" }),
    )
    expect(findForeignPackages(sources, ARCHITECTURE)).toEqual([
      'packages/core/src/message/a.ts imports zod/mini: message may import nothing',
    ])
  })
})

describe('findImpurities', () => {
  it.each([
    ['export const a = Date.now()', 'Date.now'],
    ['export const a = new Date()', 'Date.new'],
    ['export const { now } = Date', 'Date'],
    ['export const a = Math.random()', 'Math.random'],
    ["export const a = Math['random']()", 'Math.random'],
    ['setTimeout(() => {}, 1)', 'setTimeout'],
    ['export const a = process.cwd()', 'process'],
    ['export const a = process?.env', 'process'],
    ['export const a = globalThis.process', 'globalThis'],
    ['export const a = performance.now()', 'performance'],
    ['export const a = fetch', 'fetch'],
    ["import { readFileSync } from 'node:fs'", 'node:fs'],
    ["import { createHash, randomUUID } from 'node:crypto'", 'node:crypto randomUUID'],
    ['export const a = async () => 1', 'await'],
    ['export async function* a(b) { for await (const c of b) yield c }', 'await'],
  ])('finds the impurity of %s', (text, impurity) => {
    expect(
      findImpurities(readSources(plant({ 'packages/core/src/tokens/a.ts': text })), ARCHITECTURE),
    ).toEqual([
      `packages/core/src/tokens/a.ts uses ${impurity}: tokens is pure, hand the result in`,
    ])
  })

  it('is not misled by comments, strings, types, parsed dates or names of our own', () => {
    const text = `
      // Date.now() and await
      const text = 'process.env' + \`fetch\` + /setTimeout("/.source
      export type Clock = typeof Date.now
      export const at = new Date(text).toISOString() + Date.parse(text)
      export const run = ({ process }: { process: string }) => process + text.fetch
      export const data = { fetch: 1, console: 2 }
    `
    expect(
      findImpurities(readSources(plant({ 'packages/core/src/tokens/a.ts': text })), ARCHITECTURE),
    ).toEqual([])
  })

  it('allows a listed file only its listed imports', () => {
    const text = 'export const a = async () => performance.now()'
    const sources = readSources(plant({ 'packages/core/src/compaction/compact.ts': text }))
    expect(findImpurities(sources, ARCHITECTURE)).toEqual([
      'packages/core/src/compaction/compact.ts uses performance: compaction is pure, hand the result in',
    ])
  })
})

describe('findCircles', () => {
  it('names the whole circle, also of types', () => {
    const sources = readSources(
      plant({
        'packages/core/src/base/a.ts': "import { b } from './b.ts'",
        'packages/core/src/base/b.ts': "import { c } from './c.ts'",
        'packages/core/src/base/c.ts': "import { a } from './a.ts'",
        'packages/core/src/base/d.ts': "import type { E } from './e.ts'",
        'packages/core/src/base/e.ts': "import { type D } from './d.ts'",
      }),
    )
    expect(findCircles(sources)).toEqual([
      'import circle: packages/core/src/base/a.ts -> packages/core/src/base/b.ts -> packages/core/src/base/c.ts -> packages/core/src/base/a.ts',
      'import circle: packages/core/src/base/d.ts -> packages/core/src/base/e.ts -> packages/core/src/base/d.ts',
    ])
  })
})

describe('findLonelyFiles', () => {
  it('finds files that only their own test imports, except entry points, workers and support', () => {
    const sources = readSources(
      plant({
        'packages/server/src/cli/main.ts':
          "export const worker = new URL('./worker.ts', import.meta.url)",
        'packages/server/src/cli/worker.ts':
          "export const child = join(import.meta.dirname, 'children', 'run.ts')",
        'packages/server/src/cli/children/run.ts': '',
        'packages/server/src/cli/forgotten.ts': '',
        'packages/server/src/cli/forgotten.test.ts':
          "import './forgotten.ts'\nimport '../../../../test/support/a.ts'",
        'test/support/a.ts': '',
      }),
    )
    expect(findLonelyFiles(sources, ARCHITECTURE)).toEqual([
      'packages/server/src/cli/forgotten.ts is imported by nobody: delete it, or name it in package.json',
    ])
  })
})

describe('findLeaks', () => {
  it('finds the environment and the console, and spares the outermost folders', () => {
    const text = "export const a = process.env['HOME']\nconsole.log(a)"
    const sources = readSources(
      plant({ 'packages/core/src/store/a.ts': text, 'packages/server/src/cli/a.ts': text }),
    )
    expect(findLeaks(sources, ARCHITECTURE)).toEqual([
      'packages/core/src/store/a.ts uses console: only cli, host, runtime may',
      'packages/core/src/store/a.ts uses process.env: only cli, host, runtime may',
    ])
  })
})

describe('findFormOffences', () => {
  it('finds drawers, capitals, defaults, stars, barrels, long files and wishes', () => {
    const sources = readSources(
      plant({
        'packages/core/src/base/utils.ts': '',
        'packages/core/src/base/myClock.ts': '',
        'packages/core/src/base/clock.ts': 'export default 1',
        'packages/core/src/base/all.ts': "export * from './clock.ts'",
        'packages/core/src/base/index.ts': '',
        'packages/core/src/base/long.ts': '\n'.repeat(401),
        'packages/core/src/base/clock.test.ts': "it('should tick', () => {})",
      }),
    )
    expect(findFormOffences(sources, ARCHITECTURE)).toEqual([
      'packages/core/src/base/utils.ts is a drawer: name the file after the idea it holds',
      'packages/core/src/base/myClock.ts is not in kebab-case',
      'packages/core/src/base/clock.ts has a default export: export by name',
      'packages/core/src/base/all.ts re-exports everything: list the names',
      'packages/core/src/base/index.ts is a barrel: an index.ts stands only where the package has an entry point',
      'packages/core/src/base/long.ts has 401 lines: at most 400, split it by idea',
      'packages/core/src/base/clock.test.ts: "should tick" is a wish: state the law in the present tense',
    ])
  })
})

describe('findMachinePaths', () => {
  it('finds paths of machines and addresses of registries with their line', () => {
    const tree = plant({
      'a.md': ['fine', `see ${'/ro'}ot/.npmrc`, `https://npm-${'regis'}try.example`].join('\n'),
      'b.md': 'node/work/x and ./root/y and a package registry in words',
      'c.md': 'left at /srv/me/project/x',
    })
    expect(findMachinePaths(tree, ['/srv/me/project/'])).toEqual([
      "a.md:2 holds a path of somebody's machine",
      'a.md:3 holds the address of a package registry',
      "c.md:1 holds a path of somebody's machine",
    ])
  })
})

describe('findFileWrites', () => {
  it('finds what writes or opens to write, and spares readers, tests and the listed', () => {
    const tree = plant({
      'packages/core/src/store/a.ts': "import { writeFileSync } from 'node:fs'",
      'packages/core/src/store/b.ts':
        "import { openSync } from 'node:fs'\nopenSync(f(x), 'a', 0o600)",
      'packages/core/src/store/c.ts': "import * as fs from 'fs'",
      'packages/core/src/store/d.ts': "import { open } from 'node:fs/promises'\nawait open(path)",
      'packages/core/src/store/e.ts': "import { openSync } from 'node:fs'\nopenSync(path, 'r')",
      'packages/core/src/store/f.test.ts': "import { rmSync, cpSync } from 'node:fs'",
      'packages/core/src/store/g.ts': "import { renameSync } from 'node:fs'",
      'packages/core/src/store/h.ts': '',
    })
    const textOf = (path: string) => tree.get(path) ?? ''
    const found = findFileWrites(readSources(tree), textOf, {
      'packages/core/src/store/g.ts': ['renameSync'],
      'packages/core/src/store/h.ts': ['rename'],
    })
    expect(found).toEqual([
      'packages/core/src/store/a.ts uses writeFileSync: write through core/base/files/write.ts',
      'packages/core/src/store/b.ts uses open: write through core/base/files/write.ts',
      'packages/core/src/store/c.ts uses *: write through core/base/files/write.ts',
      'packages/core/src/store/h.ts does not use rename and need not be listed with it',
    ])
  })
})

describe('findTimeBounds', () => {
  it('finds hasty waits and bounds on measured times, and spares ratios, lower bounds and the listed', () => {
    const found = findTimeBounds(
      new Map([
        ['test/wait.test.ts', 'await vi.waitFor(() => expect(a).toBe(1))'],
        ['test/now.test.ts', 'expect(performance.now() - begun).toBeLessThan(5_000)'],
        ['test/took.test.ts', 'expect(Math.min(...tookMs)).toBeLessThanOrEqual(9)'],
        ['test/ratio.test.ts', 'expect(costOfTenfold(run, { floorMs: 2 })).toBeLessThan(15)'],
        ['test/longer.test.ts', 'expect(tookMs).toBeGreaterThan(100)'],
        ['test/listed.test.ts', 'expect(end.seenAt - sent).toBeLessThan(5)'],
        ['packages/core/src/a.ts', 'expect(tookMs).toBeLessThan(5)'],
      ]),
      { 'test/listed.test.ts': 'a fake clock', 'test/ratio.test.ts': 'not needed' },
    )
    expect(found).toEqual([
      'test/wait.test.ts waits by vi.waitFor or vi.waitUntil: use expect.poll',
      'test/now.test.ts bounds a time, and fails on a slow machine',
      'test/took.test.ts bounds a time, and fails on a slow machine',
      'test/ratio.test.ts bounds no time and need not be listed',
    ])
  })
})

describe('findBrokenLinks', () => {
  it('follows relative links and headings, and passes over code and the web', () => {
    const tree = plant({
      'README.md': '[a](docs/a.md#the-map) [b](docs/b.md) [c](#no) [d](https://x.y) `[e](f)`',
      'docs/a.md': '# The map!\n[up](../README.md)\n```\n[g](h)\n```\n',
    })
    expect(findBrokenLinks(tree, (path) => tree.has(path))).toEqual([
      'README.md links to docs/b.md, which does not exist',
      'README.md links to #no: README.md has no such heading',
    ])
  })
})

describe('findUndatedDecisions', () => {
  it('requires a date and the rejected alternatives', () => {
    const tree = plant({
      'docs/decisions/use-node.md': '# A\n\n## Context\n\n## Decision\n\n## Consequences\n',
    })
    expect(findUndatedDecisions(tree)).toEqual([
      'docs/decisions/use-node.md is not NNN-title.md with "# N. Title" and a date',
      'docs/decisions/use-node.md has no section "Rejected"',
    ])
  })

  it('refuses a number that is used twice', () => {
    const sections = '\n## Context\n\n## Decision\n\n## Consequences\n\n## Rejected\n'
    const record = `# 7. Title\n\n2026-01-01\n${sections}`
    const tree = plant({ 'docs/decisions/007-a.md': record, 'docs/decisions/007-b.md': record })
    expect(findUndatedDecisions(tree)).toEqual([
      '007 is the number of docs/decisions/007-a.md and docs/decisions/007-b.md',
    ])
  })

  it('refuses a gap between two numbers', () => {
    const sections = '\n## Context\n\n## Decision\n\n## Consequences\n\n## Rejected\n'
    const tree = plant({
      'docs/decisions/007-a.md': `# 7. Title\n\n2026-01-01\n${sections}`,
      'docs/decisions/009-b.md': `# 9. Title\n\n2026-01-01\n${sections}`,
    })
    expect(findUndatedDecisions(tree)).toEqual(['009 leaves a gap: 007 is before it'])
  })
})

function plant(files: Record<string, string>): Tree {
  return new Map(Object.entries(files))
}

/** Everything that is or would be committed. */
function readTree(): Tree {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root })
  const paths = listed
    .toString()
    .split('\0')
    .filter(
      (path) =>
        path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true,
    )
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** What the manifests run or offer to others. */
function entryPoints(): readonly string[] {
  const packages = [
    ['packages/core', coreManifest.exports],
    ['packages/server', serverManifest.exports],
  ] as const
  const exported = packages.flatMap(([folder, exports]) =>
    Object.values(exports).map((path) => path.replace('.', folder)),
  )
  const scripted = Object.values(rootManifest.scripts).flatMap((script) => script.split(' '))
  return [
    ...exported,
    ...scripted.filter((word) => /\.[tj]s$/.test(word)),
    'packages/server/src/cli/main.ts',
    ...['examples/compact-in-your-agent.ts', 'examples/agent-openai.ts'],
    ...['examples/agent-ai-sdk.ts', 'examples/agent-cli.ts'],
    ...['examples/durable-ai-sdk.ts', 'examples/openai-agents.ts'],
    ...['examples/ai-sdk-route.ts', 'examples/langgraph-agent.ts'],
    ...['examples/cron-agent.ts', 'examples/support-bot-hono.ts'],
  ]
}
