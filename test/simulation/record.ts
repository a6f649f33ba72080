import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Tally } from './tally.ts'

/** The combined results of all resumed runs. */
export interface SimulationRecord {
  readonly seeds: number
  readonly events: number
  /** Seeds since the last one that violated a law. */
  readonly soundSince: number
  /** Violations that are not fixed yet; each seed runs again when a run is resumed. */
  readonly violations: Tally['violations']
}

const EMPTY: SimulationRecord = { seeds: 0, events: 0, soundSince: 0, violations: [] }

const FILE = join(import.meta.dirname, '..', '..', '.throughline', 'simulation.json')

export function readRecord(): SimulationRecord {
  try {
    return { ...EMPTY, ...(JSON.parse(readFileSync(FILE, 'utf8')) as Partial<SimulationRecord>) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return EMPTY
    throw error
  }
}

/** Replaced atomically, so that a killed run leaves the old record or the new one. */
export function keepRecord(record: SimulationRecord): void {
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(`${FILE}.new`, `${JSON.stringify(record, null, 2)}\n`)
  renameSync(`${FILE}.new`, FILE)
}

export function addTally(record: SimulationRecord, from: number, tally: Tally): SimulationRecord {
  const last = Math.max(...tally.violations.map(({ seed }) => seed), from - 1)
  const soundHere = from + tally.seeds - 1 - last
  return {
    seeds: record.seeds + tally.seeds,
    events: record.events + tally.events,
    soundSince: tally.violations.length === 0 ? record.soundSince + tally.seeds : soundHere,
    violations: [...record.violations, ...tally.violations],
  }
}
