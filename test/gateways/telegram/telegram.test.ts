import { describeChatPlatform } from '../contract.ts'
import { openTelegramPlace } from './place.ts'

describeChatPlatform('Telegram', ({ tokensPerSecond, ...terms } = {}) =>
  openTelegramPlace({
    ...terms,
    ...(tokensPerSecond !== undefined && {
      model: { speed: { outputTokensPerSecond: tokensPerSecond } },
    }),
  }),
)
