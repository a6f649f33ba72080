/** `@throughline/core/tokens`: token counts of messages, estimated, calibrated or exact. */
export {
  type Calibration,
  calibrated,
  observe,
  predictNext,
  UNCALIBRATED,
} from './calibration.ts'
export { messageCounter } from './count.ts'
export { estimateMessage, estimatePart, estimateText, estimateTools } from './estimate.ts'
export { exactCounter, type TokenCounter } from './exact.ts'
export { familyOf, type ModelFamily } from './family.ts'
export { type Measured, measure, tokensBetween } from './measure.ts'
