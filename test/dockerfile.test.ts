import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { buildProgram } from '../packages/server/src/cli/program.ts'

/** Where no builder is, the Dockerfile is at least checked; `dockerfile.full.test.ts` builds it. */
const root = join(import.meta.dirname, '..')
const instructions = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

function last(word: string): string {
  const found = instructions.findLast((line) => line.startsWith(`${word} `))
  if (found === undefined) throw new Error(`The Dockerfile has no ${word}.`)
  return found.slice(word.length).trim()
}

describe('the Dockerfile', () => {
  it('consists of known instructions', () => {
    const known = /^(?:FROM|WORKDIR|COPY|RUN|USER|VOLUME|EXPOSE|HEALTHCHECK|ENTRYPOINT|CMD)\s+\S/
    expect(instructions.filter((line) => !known.test(line))).toEqual([])
  })

  it('uses the Node that the project uses, exactly', () => {
    const { node } = manifest.devDependencies
    const images = instructions.filter((line) => line.startsWith('FROM '))
    expect(images).toHaveLength(2)
    for (const image of images) expect(image).toContain(`node:${node}-`)
  })

  it('copies from stages that it names', () => {
    const stages = instructions.flatMap((line) => /^FROM .* AS (\S+)$/.exec(line)?.[1] ?? [])
    const used = instructions.flatMap((line) => /^COPY --from=(\S+)/.exec(line)?.[1] ?? [])
    expect(used.filter((name) => !stages.includes(name))).toEqual([])
  })

  it('runs as a user without rights, and starts the command as it is', async () => {
    expect(last('USER')).toBe('node')
    expect(JSON.parse(last('ENTRYPOINT'))).toEqual(['throughline'])
    const words = JSON.parse(last('CMD')) as readonly string[]
    const program = await buildProgram(words)
    const command = program.commands.find((each) => each.name() === words[0])
    const options = command?.options.map(({ long }) => long)
    for (const word of words.filter((each) => each.startsWith('--')))
      expect(options).toContain(word)
  })

  it('leaves the modules of this machine out', () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    expect(ignored).toEqual(expect.arrayContaining(['**/node_modules', '.git', '.throughline']))
  })
})
