import { openaiResponsesFormat } from '../formats/openai-responses/openai-responses.ts'
import { checkOpenaiResponses } from './check-openai-responses.ts'
import { type ProviderDialect, writeWith } from './provider-dialect.ts'

export const openaiResponsesDialect: ProviderDialect = {
  name: 'openai-responses',
  write: (messages) => writeWith(openaiResponsesFormat, 'input', messages),
  check: checkOpenaiResponses,
}
