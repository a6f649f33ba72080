/** Bounds that are the same for every session. */
export const MAIL_BYTES_MAX = 4 * 1024 * 1024
export const BLOB_BYTES_MAX = 32 * 1024 * 1024
/** The most that another program may record in one commit. */
export const RECORD_BYTES_MAX = 32 * 1024 * 1024
export const DELIVERY_MAX = 256
/** Reserved for the line that tells the model how many more messages wait. */
export const WAITING_NOTE_TOKENS = 20
export const ERASE_MAX = 1_000
export const ADOPT_MAX = 1_000
/** Waiting schedules per session, notes per agent and scope, access tokens per store. */
export const SCHEDULES_MAX = 200
export const NOTES_MAX = 500
export const NOTE_BYTES_MAX = 8 * 1024
export const TOKENS_MAX = 500
export const TITLE_MAX = 200
export const LIST_MAX = 1_000
export const REWRITES_MAX = 3
export const TURN_ATTEMPTS_MAX = 3
