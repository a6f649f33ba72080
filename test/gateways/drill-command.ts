import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { KillTerms } from './kill-drill.ts'
import type { KillVerdict } from './kill-verdict.ts'

/**
 * The command of a kill drill: `--kills N` (100) in conversations of `--each N` (25), each judged at
 * its end, from `--seed N`. With `--record FILE` a drill that was cut short goes on behind the last
 * conversation that ended. The last line has the sums.
 */
export async function runDrillCommand(
  drill: (terms: KillTerms) => Promise<KillVerdict>,
): Promise<void> {
  const option = (name: string) => {
    const at = process.argv.indexOf(`--${name}`)
    return at < 0 ? undefined : process.argv[at + 1]
  }
  const number = (name: string, otherwise: number) => Number(option(name) ?? otherwise)
  const kills = number('kills', 100)
  const each = Math.min(kills, number('each', 25))
  const firstSeed = number('seed', Date.now() % 1_000_000)
  const record = option('record')
  const ended = new Map(recorded(record).map((line) => [line.seed, line]))
  const verdicts: KillVerdict[] = []
  for (let done = 0; done < kills; done += each) {
    const seed = firstSeed + done / each
    const known = ended.get(seed)
    const onKill = (count: number) => process.stderr.write(count % 5 === 0 ? `${count}\n` : '.')
    const terms = { kills: Math.min(each, kills - done), seed, onKill }
    const verdict = known ?? { seed, ...(await drill(terms)) }
    if (known === undefined) {
      process.stdout.write(`${JSON.stringify(verdict)}\n`)
      if (record !== undefined) appendFileSync(record, `${JSON.stringify(verdict)}\n`)
    }
    verdicts.push(verdict)
  }
  const sum = (name: Exclude<keyof KillVerdict, 'findings'>) =>
    verdicts.reduce((total, verdict) => total + verdict[name], 0)
  const findings = verdicts.reduce((total, verdict) => total + verdict.findings.length, 0)
  const said = `${sum('said')} said, ${sum('turns')} turns, ${sum('replies')} replies`
  const shown = `${sum('shown')} messages shown, ${sum('repeated')} repeated, ${sum('remains')} remains`
  process.stdout.write(
    `${sum('kills')} kills: ${said}, ${shown}, ${sum('givenUp')} given up, ${findings} findings\n`,
  )
  process.exitCode = findings === 0 ? 0 : 1
}

function recorded(file: string | undefined): readonly (KillVerdict & { readonly seed: number })[] {
  if (file === undefined || !existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as KillVerdict & { readonly seed: number })
}
