import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { byHand } from '../../../../../../test/support/sqlite-place.ts'
import { screens } from '../../../../../../test/terminal/screens.ts'

const { folder, path, screen } = screens()
const LATE = Date.UTC(2026, 11, 1)

/** Rows of our own tables, changed as no process does. */
const DAMAGES: Readonly<Record<string, string | (() => void)>> = {
  'a changed letter': `drop trigger entry_changes_by_erasure_only;
    update entry set body = replace(body, 'GRANITE', 'GRANITO') where id & 2147483647 = 2`,
  'a process of another host': `insert into runner values ('far', 'elsewhere', 77, ${LATE}, 1, 30000, null)`,
  'a changed process': `insert into runner values ('far', 'elsewhere', 77, ${LATE}, 1, 1, zeroblob(32))`,
  'a running compaction': `insert into operation values ('left', 1, 'model', 'manual', 'asked', 1, 37, 20, 37, 'running', '{}', 1794847300000, null, null, null);
    update session set operation = 'left', seal = null`,
  'messages that were taken in': `update session set delivered = json_set(delivered, '$.user', 99), seal = null`,
  'a turn that was left': `update session set turn_state = 'running', work = 1, runner = null, holder = null, seal = null`,
  'an erasure that was left': `update session set state = 'erasing', seal = null`,
  'a session of another agent': `update session set agent = 'nobody', seal = null`,
  'a changed message': `update mail set tokens = 7, seal = zeroblob(32) where id & 2147483647 = 1`,
  'a changed session': `update session set policy = 'queue', seal = zeroblob(32)`,
  'answers that wait or were given up': `insert into reply select 900, 3, 'telegram', '7', 'a', null, 'waiting', 0, null, 0, 1794847300000, '', 0, null;
    insert into reply select 901, 3, 'discord', '7', 'b', null, 'dead', 3, null, 0, 1794847400000, '', 0, null`,
  'no tables': 'drop table reply',
  'files that others can read': () => {
    for (const name of ['throughline.db', 'throughline.db.anchor'])
      chmodSync(join(folder, name), 0o640)
  },
  'no evidence': () => {
    for (const name of ['anchor', 'commits']) rmSync(`${path}.${name}`, { force: true })
  },
}

it.each(Object.entries(DAMAGES))('tells and mends %s', async (_, damage) => {
  if (typeof damage === 'string') byHand(path, damage)
  else damage()
  const told = await screen(
    'doctor STORE ; doctor --json STORE ; doctor --fix STORE ; doctor STORE',
  )
  // A mode is told with the time of its file.
  const plain = told.replaceAll(
    /since":1\d{12}(?:\.\d+)?|since \d{4}-\S+(?=\n.*\(mode)/g,
    'since NOW',
  )
  expect(plain).toMatchSnapshot()
})
