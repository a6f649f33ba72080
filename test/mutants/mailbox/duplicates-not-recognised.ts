import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const duplicatesNotRecognised: Mutant = {
  name: 'duplicates-not-recognised',
  story: 'The key of a message is not remembered.',
  plant: (sound) =>
    plantRule(
      sound,
      'admit',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, { intake: () => undefined }), request, stamp),
    ),
}
