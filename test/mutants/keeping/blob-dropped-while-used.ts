import type { BlobRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const blobDroppedWhileUsed: Mutant = {
  name: 'blob-dropped-while-used',
  seed: 27,
  story: 'Sweeping staged files takes those that a message uses.',
  plant: (sound) =>
    plantRule(sound, 'dropStaged', (rule) => (rows, request, stamp) => {
      const { blobs } = rows as unknown as { blobs: Map<string, BlobRow> }
      const stagedBefore = (at: number) => [...blobs.values()].filter((blob) => blob.at < at)
      return rule(rowsWith(rows, { stagedBefore }), request, stamp)
    }),
}
