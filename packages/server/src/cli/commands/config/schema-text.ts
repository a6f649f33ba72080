import { buildJsonSchema } from '../../../host/config/schema/walk.ts'

export function schemaText(): string {
  return `${JSON.stringify(buildJsonSchema(), undefined, 2)}\n`
}
