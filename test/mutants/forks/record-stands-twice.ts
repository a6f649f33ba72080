import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const recordStandsTwice: Mutant = {
  name: 'record-stands-twice',
  story: 'A program that repeats its request records the same turn again.',
  plant: (sound) =>
    plantRule(
      sound,
      'recordEntries',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, { intake: () => undefined }), request, stamp),
    ),
}
