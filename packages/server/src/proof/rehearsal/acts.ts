import {
  bloated,
  grown,
  noSpace,
  paid,
  pins,
  stubborn,
  undone,
  untorn,
} from './scenes/compaction.ts'
import { death, poison } from './scenes/deaths.ts'
import { carried, deleted, erased, images } from './scenes/erasure.ts'
import { lost, replies, twice } from './scenes/lines.ts'
import { between, bound, huge, lanes, notified, stops, twins, withdrawn } from './scenes/mailbox.ts'
import { stall } from './scenes/stall.ts'
import { jumpedClock, oldPicture } from './scenes/together.ts'
import type { Scene } from './stage/stage.ts'

/**
 * What is played on the stage, act by act: within an act beside each other, in sessions of their
 * own. What happens to a whole process has an act to itself.
 */
export const ACTS: readonly (readonly Scene[])[] = [
  [
    ...[withdrawn, stops, twins, lanes, between, notified, bound, huge],
    ...[pins, grown, paid, untorn, undone, noSpace, stubborn, bloated],
    ...[erased, images, carried, deleted, lost, twice, replies],
  ],
  [oldPicture],
  [jumpedClock],
  [death],
  [poison],
  [stall],
]
