import { isStandIn, isWordy, looksRandom } from './randomness.ts'
import type { Secret } from './secret.ts'
import { bareValue, quotedValue } from './value.ts'

/**
 * Passwords in a sentence: "my password is …", "das Passwort für die Datenbank lautet …", "密码是…".
 * Most sentences about passwords contain none, so the value must look like one; a plain word counts
 * only after a possessive ("my password") and at the end of the sentence.
 *
 * Linear: around every name a bounded number of characters is read.
 */
const NAMES =
  /pass(?:word|phrase|code|wort|e\b|ord\b)|\bpwd?\b|\bpin\b|kennwort|contrase[ñn]a|\bsenha|palavra-passe|wachtwoord|has[łl]o\b|l[öo]senord|adgangskode|\bparola|şifre|парол[ья]|密[码碼]|口令|パスワード|暗証番号|비밀번호|암호|(?:api|access|secret)[ -]?key\b|\btoken\b/giu

/** `for the staging server`, then the word between name and value. */
const COPULA =
  /(?:[\])*_"'”’]{0,3} (?:for|of|on|to|at|in|für|von|vom|zu|zum|der|des|para|de|del|du|da|do|di|per|voor|van|do|til|till|для|от|к) [^\n.,;:=]{1,60}?)?[*_"'”’]{0,3}(?:\s{0,3}(?:[:=：]|是|は|が|은|는|이|가|—|–)| (?:is|was|are|será|will be|should be|has been (?:set|changed) to|'s|ist|war|lautet|heißt|heisst|es|era|est|était|sera|è|é|foi|jest|to|är|var|er|это|был|теперь)(?=[\s:"'“«„‘`]))(?: (?:now|currently|still|set to|changed to|reset to|just|simply|nun|jetzt|nur|ahora|maintenant|ora|agora|nu|теперь|this|that|following|folgendes?|:))?[:：]?\s{0,3}/iuy

const MINE =
  /(?:^|[^\p{L}])(?:my|our|your|his|her|their|mein|unser|dein|euer|ihr|mi|nuestra|nuestro|tu|su|mon|ma|notre|votre|ton|son|mio|mia|nostra|tua|minha|nossa|sua|mijn|ons|onze|moje|nasze|min|mitt|vårt|мой|наш|твой|ваш)(?: [\p{L}\p{N}_-]{1,20}){0,3} $|(?:我|我们|你|您|私|僕|俺)[的の]\s?$|(?:내|제|우리|나의)\s?$/iu

const BEHIND_CHARACTERS_MAX = 80
const VALUE_CHARACTERS_MAX = 128
/** Scripts without spaces continue after a value. */
const OTHER_SCRIPT =
  /[“”‘’«»„「」『』，。、；：！？\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
const OPENING = '"\'`“‘«„「『'
const CLOSING: Readonly<Record<string, string>> = {
  '“': '”',
  '‘': '’',
  '«': '»',
  '„': '“',
  '「': '」',
  '『': '』',
}

export function findInProse(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  for (let hit = NAMES.exec(text); hit !== null; hit = NAMES.exec(text)) {
    const to = NAMES.lastIndex
    COPULA.lastIndex = to
    const copula = COPULA.exec(text)?.[0]
    // Fields with a sign are assignments; those know only English names.
    if (
      copula === undefined ||
      (/[:=]/.test(copula) &&
        /pass(?!wort|ord|e\b)|pwd?|key|token/i.test(hit[0]) &&
        !/ \p{L}/u.test(copula))
    )
      continue
    const said = valueAt(text, COPULA.lastIndex)
    if (said === undefined) continue
    const before = text.slice(Math.max(0, hit.index - BEHIND_CHARACTERS_MAX), hit.index)
    const isKey = /key|token/i.test(hit[0])
    if (isKey ? !isKeyIn(said) : !isPasswordIn(said, MINE.test(before))) continue
    secrets.push({ kind: isKey ? 'credential' : 'password', from: said.from, to: said.to })
    NAMES.lastIndex = said.to
  }
  return secrets
}

interface Said {
  readonly value: string
  readonly from: number
  readonly to: number
  readonly isQuoted: boolean
  /** The sentence ends here. */
  readonly isLast: boolean
}

function valueAt(text: string, at: number): Said | undefined {
  const sign = text.charAt(at)
  const isQuoted = sign !== '' && OPENING.includes(sign)
  const value = isQuoted ? quotedAt(text, at + 1, sign) : bareAt(text, at)
  if (value === undefined || value.length < 3) return undefined
  const from = isQuoted ? at + 1 : at
  const to = from + value.length
  const isLast =
    OTHER_SCRIPT.test(text.charAt(to)) ||
    /^["'”’)]?(?:$|[\n\r.,;!?。，、]|\s{1,3}(?:and|und|y|et|e|i|og|och|и|but|aber|for|für)\b)/.test(
      text.slice(to, to + 8),
    )
  return { value, from, to, isQuoted, isLast }
}

function quotedAt(text: string, from: number, sign: string): string | undefined {
  const closing = CLOSING[sign]
  if (closing === undefined) return quotedValue(text, from, sign)
  const [line = ''] = text.slice(from, from + VALUE_CHARACTERS_MAX).split('\n', 1)
  const end = line.indexOf(closing)
  return end <= 0 ? undefined : line.slice(0, end)
}

function bareAt(text: string, from: number): string | undefined {
  const near = text.slice(from, from + VALUE_CHARACTERS_MAX)
  const end = near.search(OTHER_SCRIPT)
  const value = bareValue(end === -1 ? near : near.slice(0, end), 0)
  return value?.replace(/[.,;:?*_]+$/, '')
}

function isKeyIn({ value }: Said): boolean {
  return !isStandIn(value) && /^[\w+/=.~-]+$/.test(value) && looksRandom(value)
}

// Methods, sizes and states of passwords; in every language the next word is mostly one of these.
const ABOUT =
  /^(?:base\d\d|sha-?\d*|md\d|utf-?\d+|aes.*|bcrypt.*|argon2\w*|pbkdf2.*|scrypt|plaintext|plain-text|case-sensitive|\d+\+?-?(?:char\w*|bit\w*|byte\w*|day\w*|digit\w*|letter\w*)?|\d+-\d+|\d+%|\w+'(?:s|t|re|ll))$/iu
const STATES =
  /^(?:not|never|no|the|a|an|too|very|so|being|been|already|also|only|always|still|required|needed|wrong|right|correct|incorrect|valid|invalid|missing|empty|blank|set|unset|unknown|known|expired|weak|strong|safe|secure|insecure|secret|optional|mandatory|hashed|encrypted|stored|saved|sent|used|reset|changed|updated|unchanged|rotated|leaked|compromised|visible|hidden|masked|here|there|below|above|attached|stolen|lost|gone|fine|ok|okay|good|bad|old|new|same|different|working|broken|case|your|my|what|that|this|in|on|at|under|for|falsch|richtig|korrekt|abgelaufen|leer|gesetzt|unbekannt|sicher|unsicher|schwach|stark|nicht|kein|noch|schon|zu|incorrecta|correcta|vacía|segura|débil|fuerte|caducada|obligatoria|incorrect|correct|vide|expiré|faible|fort|requis|oublié|sbagliata|corretta|scaduta|errada|correta|vencida|onjuist|juist|verlopen|leeg|неверный|верный|истёк|пустой|слабый|надёжный|нужен|не)$/iu

function isPasswordIn({ value, isQuoted, isLast }: Said, isMine: boolean): boolean {
  if (isStandIn(value) || ABOUT.test(value) || !/[\p{L}\p{N}]/u.test(value)) {
    return isMine && /^\d{4,}$/.test(value) && isLast
  }
  if (/\s/.test(value)) return isMine && value.split(/\s+/).length <= 12
  if (/^(?:[\w$]+(?:\.|->|::))+[\w$]+(?:\(|$)|^(?:\.{0,2}|~)\/|:\/\/|[(){}<>|]/.test(value))
    return false
  const isMixed = /\p{L}/u.test(value) && /[\d!@#$%^&*+=~?§€]/.test(value)
  if (isMixed) return isQuoted || isLast || isMine || !isWordy(value)
  if (!/^\p{L}+$/u.test(value)) return false
  return isMine && (isQuoted || isLast) && !STATES.test(value)
}
