import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { harmAndServe, killWriter, type Left, WITHOUT } from './damage.ts'

/**
 * `npm run drill:damage [-- --places N --seed N --resume --without record|memory]`: a writer is killed, its
 * files are cut or changed at a random place and opened again; whatever was acknowledged must be
 * served, or reported as lost before the next message is taken. One line per silent loss, and a
 * verdict. `--without record` also deletes the record of commits; `--without memory` deletes the anchor
 * with it, which the drill must fail.
 */
const { values } = parseArgs({
  options: {
    places: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    resume: { type: 'boolean', default: false },
    without: { type: 'string' },
  },
})
const PLACES_PER_KILL = 10
/** The slowest of 325 places took 2.7 seconds on a busy machine. */
const PLACE_MS_MAX = 300_000
const FILE = join(import.meta.dirname, '..', '..', '.throughline', 'damage-drill.json')
const NOTHING = { places: 0, kills: 0, acknowledged: 0, served: 0, reported: 0, silent: 0 }

const first = Number(values.seed)
const progress: typeof NOTHING = values.resume ? read() : { ...NOTHING }
const without = values.without === undefined ? {} : { without: asWithout(values.without) }
let left: Left | null = null
try {
  while (progress.places < Number(values.places)) {
    const seed = first + progress.places
    if (left === null || progress.places % PLACES_PER_KILL === 0) {
      drop(left)
      left = await within(killWriter(seed), seed)
      progress.kills += 1
    }
    const end = await within(harmAndServe(left, seed, without), seed)
    progress.places += 1
    progress.acknowledged += end.acknowledged
    progress.served += end.served
    if (end.isReported) progress.reported += 1
    progress.silent += end.silent.length
    if (end.silent.length > 0) {
      console.log(`seed ${seed}: ${end.damage}: ${end.silent.length} lost without a word`)
    }
    mkdirSync(dirname(FILE), { recursive: true })
    writeFileSync(FILE, JSON.stringify(progress))
  }
} finally {
  drop(left)
}
const { places, kills, acknowledged, served, reported, silent } = progress
console.log(
  `${places} places behind ${kills} kills: ${acknowledged} acknowledged messages asked for, ${served} served, damage reported ${reported} times, ${silent} lost without a word`,
)
process.exitCode = silent === 0 ? 0 : 1

/** Nothing may wait without an end; the files of the kill are left for who looks into it. */
async function within<Result>(work: Promise<Result>, seed: number): Promise<Result> {
  const timer = setTimeout(() => {
    console.log(`seed ${seed}: no end after ${PLACE_MS_MAX} ms; its files: ${left?.folder}`)
    process.exit(1)
  }, PLACE_MS_MAX)
  return await work.finally(() => clearTimeout(timer))
}

function drop(old: Left | null): void {
  if (old !== null) rmSync(old.folder, { recursive: true, force: true })
}

function read(): typeof NOTHING {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as typeof NOTHING
  } catch {
    return { ...NOTHING }
  }
}

function asWithout(word: string): keyof typeof WITHOUT {
  if (word === 'record' || word === 'memory') return word
  throw new Error(`--without ${word}: use ${Object.keys(WITHOUT).join(' or ')}`)
}
