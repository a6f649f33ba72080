import { isStandIn, looksRandom } from './randomness.ts'
import type { Secret } from './secret.ts'

/**
 * Secrets recognized by their position: before the host of a URL, in a header, after a flag of a
 * known program. Linear: from every such position a bounded number of characters is read, or a run
 * that cannot fail.
 */
export function findByPosition(text: string): readonly Secret[] {
  return [...findInUrls(text), ...findInHeaders(text), ...findInCommands(text)]
}

// Greedy to the last @ before the path, so that a password may contain one. A character that ends a
// host distinguishes it from a port.
const USER_INFO =
  /([^\s:@/?#"'`<>\\]{0,128})(?::([^\s/?#"'`<>\\]{1,256}|(?!\d{1,5}[/?#])[^\s@"'`<>\\]{1,128}))?@/y

function findInUrls(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    USER_INFO.lastIndex = at + 3
    const match = USER_INFO.exec(text)
    if (match === null) continue
    const [whole, user = '', password] = match
    const end = at + 3 + whole.length - 1
    if (password === undefined) {
      if (looksRandom(user)) secrets.push({ kind: 'url', from: at + 3, to: end })
    } else if (!isStandIn(password)) {
      secrets.push({ kind: 'url', from: end - password.length, to: end })
    }
  }
  return secrets
}

const HEADERS =
  /(?<![A-Za-z])(authorization|cookie)\\{0,3}["'`]?\]?\s{0,4}[:=]\s{0,4}(?:[a-z]?\\{0,3}["'`])?/gi
const CREDENTIALS =
  /((?:bearer|basic|token|apikey|bot|key|negotiate|ntlm|ssws) {1,4})?([^\s"'`\\,;()[\]]{6,})/iy
const COOKIES = /([\w.-]{1,64}=)([^"'`\r\n\\]{3,})/y

function findInHeaders(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  HEADERS.lastIndex = 0
  for (let hit = HEADERS.exec(text); hit !== null; hit = HEADERS.exec(text)) {
    const isCookie = hit[1]?.toLowerCase() === 'cookie'
    const pattern = isCookie ? COOKIES : CREDENTIALS
    pattern.lastIndex = HEADERS.lastIndex
    const [, scheme, value] = pattern.exec(text) ?? []
    if (value === undefined || isStandIn(value)) continue
    // Code contains `authorization: header`; without a scheme only a machine-made value is a
    // credential.
    const isCredential = scheme === undefined ? looksRandom(value) : /[\d=]/.test(value)
    if (!isCookie && !isCredential) continue
    secrets.push({
      kind: isCookie ? 'cookie' : 'authorization',
      from: pattern.lastIndex - value.length,
      to: pattern.lastIndex,
    })
    HEADERS.lastIndex = pattern.lastIndex
  }
  return secrets
}

const COMMANDS =
  /\b(?:mysql|mariadb|sshpass|docker login|podman login|redis-cli|curl|IDENTIFIED BY|rclone (?:obscure|reveal|config (?:create|update|password)|[a-z]+))/g
const MYSQL_PASSWORD = /[^\n|;&]{0,200}? -p(['"]?)([^\s'"-][^\s'"]{0,200})\1/y
const LOGIN_PASSWORD = /[^\n|;&]{0,200}? -p {0,4}(['"]?)([^\s'"-][^\s'"]{0,200})\1/y
const RCLONE_FIELD =
  /[^\n|;&]{0,300}?[ ,](?:pass(?:word)?2?|client_secret|secret_access_key|token)[ =](['"]?)([^\s'",-][^\s'",]{0,200})\1/y
// A remote that is written in the command: `:sftp,host=h,pass=…:folder`.
const RCLONE_REMOTE =
  /[^\n|;&]{0,300}?,(?:pass(?:word)?2?|client_secret|secret_access_key|token)=(['"]?)([^\s'",:-][^\s'",:]{0,200})\1/y
const FLAGS: Readonly<Record<string, RegExp>> = {
  mysql: MYSQL_PASSWORD,
  mariadb: MYSQL_PASSWORD,
  sshpass: / {1,4}-p {0,4}(['"]?)([^\s'"-][^\s'"]{0,200})\1/y,
  'docker login': LOGIN_PASSWORD,
  'podman login': LOGIN_PASSWORD,
  'redis-cli': /[^\n|;&]{0,200}? -a {1,4}(['"]?)([^\s'"-][^\s'"]{0,200})\1/y,
  curl: /[^\n|;]{0,300}? (?:-u|--user|--proxy-user)[ =]{0,4}(['"]?)[^\s:'"]{1,64}:([^\s'"]{1,200})\1/y,
  'rclone obscure': / {1,4}(['"]?)([^\s'"-][^\s'"]{0,200})\1/y,
  'rclone reveal': / {1,4}(['"]?)([^\s'"-][^\s'"]{0,200})\1/y,
  'rclone config create': RCLONE_FIELD,
  'rclone config update': RCLONE_FIELD,
  'rclone config password': RCLONE_FIELD,
  'IDENTIFIED BY': / {1,4}(['"])([^\n'"]{1,200})\1/y,
}

function findInCommands(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  COMMANDS.lastIndex = 0
  for (let hit = COMMANDS.exec(text); hit !== null; hit = COMMANDS.exec(text)) {
    const pattern = FLAGS[hit[0]] ?? RCLONE_REMOTE
    pattern.lastIndex = COMMANDS.lastIndex
    const match = pattern.exec(text)
    const value = match?.[2]
    if (match === null || value === undefined || isStandIn(value)) continue
    const to = pattern.lastIndex - (match[1] ?? '').length
    secrets.push({ kind: 'password', from: to - value.length, to })
    COMMANDS.lastIndex = pattern.lastIndex
  }
  return secrets
}
