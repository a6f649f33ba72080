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
 * The scenes of a rehearsal, act by act. Scenes of one act run concurrently, each in its own
 * sessions. A scene that affects a whole process has an act to itself.
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
