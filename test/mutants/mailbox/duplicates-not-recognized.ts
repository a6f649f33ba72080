import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const duplicatesNotRecognized: Mutant = {
  name: 'duplicates-not-recognized',
  story: 'The key of a message is not remembered.',
  plant: (sound) =>
    plantRule(
      sound,
      'admit',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, { intake: () => undefined }), request, stamp),
    ),
}
