/**
 * How much each figure grows per thousand messages. A process that was started again begins with
 * another level, so only samples of one life are compared with each other.
 */
export interface Sample {
  /** The process that it was taken from. */
  readonly life: number
  /** Since that process started. */
  readonly messages: number
  readonly minutes: number
  readonly figures: Readonly<Record<string, number>>
}

/** Caches fill, code is compiled and the heap finds its size; this happens once in each life. */
export const WARM_UP_MINUTES = 15

/**
 * These also have caches of the store and the C allocator's arenas to fill, which takes thousands of
 * messages; only the second half of a life tells this from growth without end. At four messages a second
 * and 4 MB of pages for each connection the C allocator held 73 MB at first, 126 MB after 4,900 messages
 * and 128 MB after 11,400. Of this, 45 MB were in use after 4,900 as after 11,400 (`malloc_stats`); the
 * rest are gaps between blocks.
 */
const FILLING: readonly string[] = ['memory (MB)', 'anonymous memory (MB)', 'C allocator (MB)']

export interface Growth {
  readonly name: string
  readonly first: number
  readonly last: number
  /** Null: fewer than two settled samples of one life. */
  readonly perThousand: number | null
}

export function growthOf(samples: readonly Sample[], name: string): Growth {
  const values = samples.flatMap(({ figures }) => figures[name] ?? [])
  const [first = 0, last = 0] = [values[0], values.at(-1)]
  return { name, first, last, perThousand: slope(settled(samples, name), name) }
}

function settled(samples: readonly Sample[], name: string): readonly Sample[] {
  const lives = Map.groupBy(samples, ({ life }) => life)
  return [...lives.values()].flatMap((each) => {
    const half = FILLING.includes(name) ? (each.at(-1)?.minutes ?? 0) / 2 : 0
    return each.filter(({ minutes }) => minutes >= Math.max(WARM_UP_MINUTES, half))
  })
}

/** The median over all pairs (Theil and Sen): single samples beside a collection do not sway it. */
function slope(samples: readonly Sample[], name: string): number | null {
  const slopes: number[] = []
  for (const [index, later] of samples.entries()) {
    for (const earlier of samples.slice(0, index)) {
      const messages = later.messages - earlier.messages
      if (earlier.life !== later.life || messages < 1) continue
      const grown = (later.figures[name] ?? 0) - (earlier.figures[name] ?? 0)
      slopes.push((1_000 * grown) / messages)
    }
  }
  slopes.sort((a, b) => a - b)
  return slopes[Math.floor(slopes.length / 2)] ?? null
}
