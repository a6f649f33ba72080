import { join } from 'node:path'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { type DrillResult, inHome } from './drill.ts'
import { PINNED } from './install.ts'
import { runThroughline } from './others.ts'

const FIRST = {
  claude: ['-p'],
  codex: ['exec', '--skip-git-repo-check'],
  opencode: ['run'],
  pi: ['-p', '--offline'],
}
const NEXT = {
  claude: ['--continue', '-p'],
  codex: ['exec', '--skip-git-repo-check', 'resume', '--last'],
  opencode: ['run', '--continue'],
  pi: ['-p', '--offline', '--continue'],
}

/** `run --stand-in` with every client in an empty home: no key, no login, no settings. */
export async function withoutKey(): Promise<DrillResult> {
  const broken: string[] = []
  let entries = 0
  for (const name of Object.keys(PINNED) as (keyof typeof PINNED)[]) {
    await inHome(async (home) => {
      const store = join(home, 'stand-in.db')
      const say = async (args: readonly string[], words: string) => {
        const more = ['--stand-in']
        const { code, output } = await runThroughline(name, {
          ...{ home, store, more, args: [...args, words] },
        })
        if (code !== 0) broken.push(`${name} ended with ${code}: ${output.slice(-200)}`)
        return output
      }
      await say(FIRST[name], 'The code word is GRANITE.')
      const output = await say(NEXT[name], 'What was the code word?')
      if (!output.includes('I found this in one of your messages')) {
        broken.push(`${name} did not continue: ${output.slice(-200)}`)
      }
      const opened = await openSqliteStore({ path: store })
      const [session, ...others] = await opened.listSessions({ limit: 10 })
      await opened.close()
      entries += session?.tail ?? 0
      // Settings, two prompts and two answers.
      if (session?.tail !== 5 || others.length > 0) {
        broken.push(`${name}: ${session?.tail} entries, ${others.length} other sessions`)
      }
    })
  }
  return { name: 'stand-in', facts: { clients: Object.keys(PINNED).length, entries }, broken }
}
