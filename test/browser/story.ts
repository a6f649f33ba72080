import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { StandInOptions } from '../../packages/server/src/stand-in/index.ts'
import { until } from '../support/until.ts'
import { type Place, SUMMARIES } from './place.ts'

/**
 * A morning with an agent, for looking at: several sessions on several channels, one of them long
 * enough to have been compacted three times, once without a model and rewritten later.
 */
export const STORY_SESSION = 'booking-move'
export const STORY_WINDOW_TOKENS = 16_000

const LOG = [
  '2026-11-14T09:12:04Z INFO  pg_restore: processing data for table "public.bookings"',
  '2026-11-14T09:12:09Z INFO  pg_restore: 418 203 rows, 96.1 MB',
  '2026-11-14T09:12:31Z WARN  checkpoints are occurring too frequently (14 seconds apart)',
  '2026-11-14T09:12:44Z INFO  pg_restore: creating INDEX "public.bookings_berth_day_idx"',
  '2026-11-14T09:13:02Z ERROR could not create unique index: key (berth, day)=(B-17, 2024-03-31)',
].join('\n')

const ASKED: readonly (readonly [asked: string, answer: string])[] = [
  [
    'We move the booking service to PostgreSQL 17 this week. Never touch the table `payments`.',
    'Understood. I will leave `payments` alone, **whatever** a script asks for.\n\nThe plan:\n1. Restore the dump into a fresh cluster.\n2. Compare row counts.\n3. Switch the service over at night.',
  ],
  [
    'The first restore failed, here is the log. What is wrong?',
    'One duplicate stops it: berth **B-17** is booked twice on `2024-03-31`, the day the clocks changed. I would keep the older booking:\n\n```sql\ndelete from bookings b using bookings o\nwhere b.berth = o.berth and b.day = o.day and b.id > o.id;\n```',
  ],
  [
    'Keep both, but move the younger one to berth B-18.',
    'Done in the staging copy: booking `88213` now has berth B-18. The index builds.',
  ],
  [
    'How do the row counts compare?',
    'Every table but one agrees. `audit_trail` differs by 12 rows: they came in **while** the dump was taken.',
  ],
  [
    'Checkpoints are too frequent. Which setting?',
    'Raise `max_wal_size` to `8GB` for the restore and set it back afterwards; `checkpoint_timeout` can stay at 15 min.',
  ],
  [
    'Tonight at 02:00 then. What must be ready before?',
    'Three things: the read-only banner, the reverse replication to the old cluster, and somebody who can say stop.',
  ],
]

const OTHERS: readonly { id: string; channel?: string; asked: string; answer: string }[] = [
  {
    id: 'harbour-chat',
    channel: 'telegram:harbour',
    asked: 'When is the crane on quay 3 free?',
    answer: 'From noon on; the *Vesna* leaves at 11:40.',
  },
  {
    id: 'night-watch',
    channel: 'discord:port',
    asked: 'Anything on the night watch?',
    answer: 'All quiet. The next round is at 04:00.',
  },
  {
    id: 'invoices',
    asked: 'Which invoices are open?',
    answer: '14, the oldest since 3 October.',
  },
]

export const storyModel: StandInOptions = {
  script: ({ model, messages, tools }) => {
    if (model === SUMMARIES || tools.length === 0) return undefined
    const last = messages.findLast((each) => each.role === 'user')
    const text = JSON.stringify(last)
    const all = [...ASKED, ...OTHERS.map(({ asked, answer }) => [asked, answer] as const)]
    const found = all.find(([asked]) => text.includes(JSON.stringify(asked).slice(1, -1)))
    return found === undefined ? undefined : { text: found[1] }
  },
}

const TASKS = {
  tasks: [
    { content: 'Restore the dump into the new cluster', status: 'completed' },
    { content: 'Resolve the duplicate booking of berth B-17', status: 'completed' },
    { content: 'Set up reverse replication to the old cluster', status: 'in_progress' },
    { content: 'Switch over at 02:00', status: 'pending' },
  ],
}

const isRewrite = ({ by, state }: { readonly by: string; readonly state: string }) =>
  by === 'rewrite' && state === 'committed'

export async function playStory(place: Place): Promise<string> {
  const { runtime } = place
  const open = async (id: string, channel?: string) => {
    const route = channel === undefined ? {} : { route: { channel, address: id } }
    await runtime.createSession({ agent: 'main', id, ...route })
  }
  for (const { id, channel, asked } of OTHERS) {
    await open(id, channel)
    await place.ask(id, asked)
  }

  await open(STORY_SESSION)
  const session = runtime.session(sessionId(STORY_SESSION))
  const once = (key: string) => ({ source: 'story', key })
  await session.pin({ ...once('pin'), name: 'payments', text: 'Never touch the table payments.' })
  const talk = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      const [asked] = ASKED[round % ASKED.length] ?? ['']
      await place.ask(STORY_SESSION, `${asked}\n\n\`\`\`\n${`${LOG}\n`.repeat(9)}\`\`\``)
    }
  }
  const compact = async (key: string) => {
    const before = (await session.summary())?.compaction ?? null
    await session.compact(once(key))
    await until(async () => {
      const now = await session.summary()
      return now?.compaction !== before && now?.isCompacting === false
    })
  }
  await talk(4)
  await compact('first')
  await place.ask(STORY_SESSION, `use tasks ${JSON.stringify(TASKS)}\nthen\nsay Kept.`)
  // No model writes: the turn that needs the room gets a digest, and a model rewrites it later.
  const heal = place.model.faults.always('status; code=400', {
    when: ({ bodyText }) => bodyText.includes('Write the handoff under these headings'),
  })
  const isDegraded = async () =>
    (await session.compactions({ limit: 50 }))?.some((row) => row.rung === 'digest')
  for (let round = 0; round < 12 && !(await isDegraded()); round++) await talk(1)
  heal()
  await talk(3)
  await until(async () => (await session.compactions({ limit: 9 }))?.some(isRewrite) === true)
  await talk(4)
  await compact('last')
  for (const [asked] of ASKED.slice(-2)) await place.ask(STORY_SESSION, asked)
  return STORY_SESSION
}
