import { wordsOf } from '#core/store/search/words'
import { COMMON } from './common-words.ts'

/**
 * Notes that claim a gap: "I have no record of the deploy", "I never received the sign-off",
 * "another session of myself did it", "idle, nothing came in". Once stored, such a note makes an
 * agent deny forever what its own transcript contains, so the claim is checked first.
 *
 * A claim denies a memory, a message or an action of the agent itself, in any of the languages
 * below. Denials about others ("the customer never received the parcel") or the world are not
 * claims.
 */
export interface Claim {
  /** Words of the thing that is claimed to be missing. */
  readonly words: readonly string[]
  /** The note claims that nothing came at all; any message refutes it. */
  readonly isIdle: boolean
}

export function findClaim(text: string): Claim | null {
  const folded = text.slice(0, TEXT_MAX).normalize('NFC').replaceAll('’', "'")
  let rest = folded
  const found = readClaims().filter(({ pattern, of }) => {
    const match = pattern.exec(folded)
    if (match === null || (of === 'agent' && !isOfTheAgent(folded, match))) return false
    const [whole, ...between] = match
    rest = rest.replace(whole, () => ` ${between.join(' ')} `)
    return true
  })
  if (found.length === 0) return null
  const telling = wordsOf(rest).filter((word) => isTelling(word) && !COMMON.has(word))
  return { words: [...new Set(telling)], isIdle: found.some(({ of }) => of === 'idle') }
}

/** In a script without spaces, two characters count as a word. */
function isTelling(word: string): boolean {
  return word.length > 2 || /^\P{ASCII}{2}$/u.test(word)
}

/** Whether a text mentions the thing: both of two words, or most of more. */
export function mentions(words: readonly string[], text: string): boolean {
  const found = new Set(wordsOf(text))
  const needed = Math.ceil(words.length * 0.6)
  return needed > 0 && words.filter((word) => found.has(word)).length >= needed
}

const TEXT_MAX = 2_000
const CLAUSE_CHARACTERS_MAX = 120

const FIRST_PERSON =
  /(?<!\p{L})(?:i|we|me|us|my|our|myself|this (?:agent|session)|ich|wir|mir|mich|uns|meine?\p{L}?|je|j|m|nous|moi|mon|ma|mes|yo|nosotros|me|nos|mí?|mis|eu|nós|mim|meu|minha|io|noi|mi|ci|ik|wij|mij|mijn|ons|я|мы|мне|нам|меня|нас|мо[йяёи]\p{L}?)(?!\p{L})|[我私僕]|自分|(?:저|나)(?:는|에게|한테)|제가|내가/iu

/** Where a clause begins: after punctuation or a conjunction. */
const CLAUSE =
  /[.;:!?,()\n。，、；：！？—–]|\b(?:but|and|that|because|so|dass|weil|aber|und|que|mais|pero|mas|che|ma|dat|maar|что|но)\b/giu

/** An instruction is not a report of the past. */
const RULE =
  /(?<!\p{L})(?:must|should|shall|may|soll|darf|muss|dois|doit|debo|debe|devo|deve|mag|moet|должен|должна|нельзя)(?!\p{L})|应该|必须|不要/iu

const IMPERSONAL = /^(?:there (?:is|was|are|were)|there's|es gibt|es gab|il|er is|c'è)?$/i

/** Whether its clause has the agent as subject, or no subject at all. */
function isOfTheAgent(text: string, match: RegExpExecArray): boolean {
  const before = text.slice(Math.max(0, match.index - CLAUSE_CHARACTERS_MAX), match.index)
  const [last = ''] = before.split(CLAUSE).slice(-1)
  const clause = FIRST_PERSON.test(match[0]) ? `${last} I` : last
  if (RULE.test(clause) || RULE.test(match[0])) return false
  // In Japanese a particle marks the subject.
  const isUnmarked = /\p{sc=Hiragana}/u.test(clause) && !/[はが]/.test(clause)
  return IMPERSONAL.test(clause.trim()) || isUnmarked || FIRST_PERSON.test(clause)
}

/** Whom the denial is about: the agent, whatever the subject is, or any message at all. */
function claim(source: string, of: 'agent' | 'any' | 'idle' = 'agent') {
  const isUnspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Hangul}]/u.test(source)
  const pattern = new RegExp(isUnspaced ? source : `(?<!\\p{L})(?:${source})`, 'iu')
  return { pattern, of }
}

const END = '(?!\\p{L})'
const WORD = '\\p{L}+ '
/** The denied thing may be between the parts of a claim, and is captured there. */
const GAP = `((?:${WORD}){0,8})`

let claims: ReturnType<typeof makeClaims> | undefined

/** Made at the first note: these patterns take ten milliseconds, and most commands need none. */
function readClaims(): ReturnType<typeof makeClaims> {
  claims ??= makeClaims()
  return claims
}

// Linear: every gap is a bounded number of words or characters.
const makeClaims = () => [
  // English
  claim(
    `(?:no|without(?: a| any)?) (?:${WORD})?(?:records?|memory|memories|recollection|knowledge|trace|information|notes?|mention) (?:of|about|on|regarding|that)${END}`,
  ),
  claim(
    `no (?:${WORD}){0,2}(?:messages?|replies|reply|answers?|responses?|confirmations?|results?|approvals?|sign-offs?|requests?|tasks?|mail|work|traffic|activity) (?:from|by|came|(?:has |have |had )?reached|arrived|received|pending|waiting|in my|was|were|has|have|to (?:do|process|report))${END}`,
  ),
  claim(
    `(?:do|does|did|can|could|would)(?: not|n't) (?:${WORD})?(?:remember|recall|recollect|know (?:of|about|anything)|have (?:any |a |the )?(?:records?|memory|memories|recollection|knowledge|information|trace|mention)|(?:see|find) (?:any|a) (?:records?|messages?|mention|trace|notes?))${END}`,
  ),
  claim(`(?:cannot|can't|couldn't|could not) (?:${WORD})?(?:remember|recall|recollect)${END}`),
  claim(
    `(?:(?:did|have|had|has)(?: not|n't)|never|haven't|hadn't|didn't)(?: yet| ever| even| actually)? (?:receive|received|get|got|gotten|hear|heard|see|saw|seen|read|been (?:told|sent|given|asked|informed|notified|shown|contacted))${END}`,
  ),
  claim(
    `(?:was|were|am|are|been|is)(?: not|n't| never)(?: ever| yet| even)? (?:told|informed|notified|asked|given|sent|shown|contacted|aware)${END}`,
  ),
  claim(
    `(?:was|were|been)(?: not|n't| never)(?: ever)? (?:mentioned|discussed|brought up)${END}`,
    'any',
  ),
  claim(
    `(?:was|were|been)(?: not|n't| never)(?: ever)? (?:received|delivered|sent)(?! (?:by|to) (?!me|us))${END}`,
    'any',
  ),
  claim(`never (?:heard|told|informed|mentioned|discussed)${END}`),
  claim(
    `(?:never|not|n't) (?:${WORD})?(?:reach|reached|arrived?(?: here)?|come? (?:in|through)|came (?:in|through))(?: to)? (?:me|us|here|my|in this (?:session|conversation|chat))${END}`,
    'any',
  ),
  claim(
    `(?:never|n't|not|nobody|no one|no-one)(?: ever| has| had| even)* (?:tell|told|send|sent|give|gave|given|ask|asked|inform|informed|notify|notified|mention|mentioned|reply|replied|answer|answered|show|showed)(?: back)?(?: to| it to| this to)? (?:me|us)${END}`,
    'any',
  ),
  claim(`(?:not|un)[ -]?aware of${END}`),
  claim(
    `(?:not|n't|never|missing|absent|gone|lost) (?:in|part of|from) (?:my|the|our) (?:memory|records?|transcript|history|context|logs?|notes|inbox|mailbox)${END}`,
    'any',
  ),
  claim(
    `(?:lost|lack|missing) (?:all |any |my |the )*(?:memory|memories|recollection|record|knowledge) of${END}`,
  ),
  claim(
    `(?:an?other|(?:an? |some |the )?(?:parallel|different|separate|second|other|sibling|duplicate|phantom))(?: parallel| separate)? (?:sessions?|instances?|cop(?:y|ies)|versions?|clones?|process(?:es)?|threads?) of (?:me|myself|mine|us)${END}`,
    'any',
  ),
  claim(`(?:was|were)(?: not|n't) me${END}`, 'any'),
  claim(
    `(?:i|we|this (?:agent|session)) ?(?:am|was|were|'m|is|have been|had been|has been|stayed|sat|remained) (?:${WORD})?idle${END}|(?<=^|status: )idle${END}`,
    'idle',
  ),
  claim(
    `nothing (?:${WORD}){0,2}(?:came in|arrived|received|was (?:said|sent|asked|received)|is pending|pending|waiting|to (?:do|process|report|act on))${END}`,
  ),
  // German
  claim(
    `kein(?:e|en|erlei)? (?:${WORD})?(?:Aufzeichnung|Erinnerung|Notiz|Kenntnis|Information|Spur|Nachricht|Antwort|Rückmeldung|Bestätigung|Hinweis|Eintrag|Einträge|Erwähnung|Freigabe)(?:en|e)? (?:zu|zum|zur|über|von|vom|an|für|dass|darüber|bekommen|erhalten)${END}`,
  ),
  claim(
    `(?:erinner\\p{L}+|entsinne) (?:ich )?mich ${GAP}(?:nicht|nie|kaum)${END}|mich ${GAP}nicht (?:mehr )?(?:erinnern|entsinnen)${END}`,
  ),
  claim(`weiß (?:ich )?(?:nichts|nicht) (?:von|vom|über|mehr)${END}`),
  claim(
    `(?:habe|hab|haben|hatte|wurde|wurden) ${GAP}(?:nie|niemals|nicht|nichts|keine?n?) ${GAP}(?:erhalten|bekommen|gesehen|gehört|gelesen|empfangen|informiert|gefragt)${END}`,
  ),
  claim(
    `(?:mir|uns) ${GAP}(?:nie|niemals|nicht|nichts|keine?n?|niemand) ${GAP}(?:gesagt|mitgeteilt|geschickt|gesendet|bekannt|erzählt|zugestellt)${END}|niemand hat (?:mir|uns)${END}`,
  ),
  claim(`wurden? (?:nie|nicht|niemals) (?:${WORD})?(?:erwähnt|besprochen|zugestellt)${END}`, 'any'),
  claim(
    `nicht (?:in|Teil) (?:meine\\p{L}|de[rmns]) (?:Gedächtnis|Protokoll|Verlauf|Kontext|Aufzeichnungen|Notizen)\\p{L}?${END}`,
    'any',
  ),
  claim(
    `(?:andere|parallele|zweite)\\p{L}? (?:${WORD})?(?:Sitzung|Instanz|Session|Kopie) von mir${END}`,
    'any',
  ),
  claim(
    `(?:ich|wir) (?:bin|war|waren) (?:${WORD})?(?:untätig|im Leerlauf)${END}|(?:bin|war) ich (?:${WORD})?(?:untätig|im Leerlauf)${END}`,
    'idle',
  ),
  // French
  claim(
    `(?:aucune?|pas de|nulle) (?:trace|souvenir|mention|enregistrement|information|message|note|réponse|confirmation|connaissance)s? (?:de |du |des |d'|sur |à |concernant |que )`,
  ),
  claim(
    `ne (?:me |m')?(?:souviens|rappelle|sais rien|connais)(?: pas| plus| rien)*(?: de| du| des)?${END}`,
  ),
  claim(
    `n'(?:ai|avons) (?:${WORD})?(?:jamais|pas|rien)(?: ${WORD.trim()})? (?:reçu|vu|lu|entendu|eu|été informée?|trouvé)${END}`,
  ),
  claim(
    `(?:ne|n') ?(?:m'|nous )(?:a|ont)(?: jamais| pas| rien)?(?: été)? (?:dit|informée?s?|envoyée?s?|transmise?s?|mentionnée?s?|parlé|signalée?s?|communiquée?s?)${END}`,
    'any',
  ),
  claim(
    `n'(?:a|ont) (?:jamais|pas) été (?:mentionné|discuté|reçu|évoqué|abordé)(?:e|s|es)?${END}`,
    'any',
  ),
  claim(
    `autre (?:${WORD})?(?:session|instance|copie) (?:${WORD})?(?:de|d') ?moi(?:-même)?${END}`,
    'any',
  ),
  claim(
    `(?:j'étais|je suis|j'ai été|je suis resté) (?:${WORD})?(?:inacti(?:f|ve)|au repos)${END}`,
    'idle',
  ),
  // Spanish
  claim(
    `(?:ning[uú]n|ninguna|sin|no (?:hay|tengo|consta|encuentro|existe)) (?:${WORD})?(?:registros?|recuerdos?|constancia|rastro|menci[oó]n|informaci[oó]n|memoria|mensajes?|notas?|conocimiento|respuestas?) (?:de|del|sobre|acerca)${END}`,
  ),
  claim(
    `no (?:me |lo )?(?:recuerdo|acuerdo|sé nada|conozco)(?: nada)?(?: de| del| que| haber| sobre)?${END}`,
  ),
  claim(
    `(?:nunca|jam[aá]s|no) (?:he |hemos |había )?(?:recibí|recibido|recibimos|vi|visto|oído|leído)${END}`,
  ),
  claim(
    `(?:nunca|jam[aá]s|no|nadie) (?:me|nos) (?:ha |han )?(?:dij|dich|inform|env[ií]|mencion|cont|avis|ped|pid|pregunt|lleg)\\p{L}*`,
    'any',
  ),
  claim(
    `otra (?:${WORD})?(?:sesión|instancia|copia) (?:${WORD})?(?:de mí|mía)(?: mismo)?${END}`,
    'any',
  ),
  claim(`(?:estuve|estoy|estaba) (?:${WORD})?inactiv[oa]${END}`, 'idle'),
  // Portuguese
  claim(
    `(?:nenhuma?|sem|não (?:há|tenho|consta|encontro)) (?:${WORD})?(?:registr?os?|memória|lembrança|menção|informação|mensagens|mensagem|rastro|notas?|conhecimento) (?:de|do|da|dos|das|sobre)${END}`,
  ),
  claim(`não (?:me )?(?:lembro|recordo|sei nada|conheço)(?: de| do| da| nada)?${END}`),
  claim(`(?:nunca|jamais|não) (?:recebi|recebemos|vi|li|ouvi|soube)${END}`),
  claim(
    `(?:nunca|jamais|não|ninguém) (?:me|nos) (?:disse|inform|envi|mencion|cont|avis|ped|pergunt|fal)\\p{L}*`,
    'any',
  ),
  claim(`outra (?:${WORD})?(?:sessão|instância|cópia) (?:${WORD})?(?:de mim|minha)${END}`, 'any'),
  // Italian
  claim(
    `nessun[ao]? (?:${WORD})?(?:traccia|ricordo|registrazione|menzione|informazione|messaggio|nota|memoria) (?:di|del|della|dei|dell|su|sul|sulla|da)${END}`,
  ),
  claim(`non (?:mi )?(?:ricordo|rammento|so nulla|conosco)(?: di| del| della)?${END}`),
  claim(
    `non (?:ho|abbiamo)(?: mai)? (?:ricevuto|visto|letto|sentito|(?:${WORD})?(?:traccia|memoria|ricordo|notizia|informazioni))${END}`,
  ),
  claim(
    `(?:non|nessuno) (?:mi|ci) (?:ha|hanno|è|sono)(?: mai)?(?: stat\\p{L})? (?:dett|inform|inviat|menzion|comunic|chiest)\\p{L}*`,
    'any',
  ),
  claim(`altra (?:${WORD})?(?:sessione|istanza|copia) (?:${WORD})?di me${END}`, 'any'),
  // Dutch
  claim(
    `geen (?:${WORD})?(?:herinnering|aantekening|bericht|spoor|melding|informatie|kennis|antwoord)(?:en)? (?:van|over|aan)${END}`,
  ),
  claim(`(?:herinner|weet) (?:ik )?(?:me |mij )?${GAP}(?:niet|niets|geen)${END}`),
  claim(
    `(?:heb|hebben) ${GAP}(?:nooit|niet|niets|geen) ${GAP}(?:ontvangen|gekregen|gezien|gehoord|gelezen)${END}`,
  ),
  claim(
    `niemand heeft (?:mij|me|ons)${END}|andere (?:${WORD})?(?:sessie|instantie) van (?:mij|mezelf)${END}`,
    'any',
  ),
  // Russian
  claim(
    `нет (?:\\p{L}+ )?(?:запис|воспоминан|сведени|упоминан|сообщени|информаци|данны)\\p{L}* (?:о|об|про|от|насчёт)${END}`,
  ),
  claim(`не (?:помню|припомню|припоминаю|знаю (?:о|об|про))${END}`),
  claim(`не (?:получ|вид|слыш|чит)\\p{L}*(?:л|ла|ли)${END}`),
  claim(
    `(?:мне|нам) (?:${WORD}){0,3}не (?:сообщ|говор|сказ|присыл|присла|перед|упомин)\\p{L}*`,
    'any',
  ),
  claim(
    `друг\\p{L}* (?:${WORD})?(?:сесси|экземпляр|копи)\\p{L}* (?:меня|самого меня)${END}`,
    'any',
  ),
  // Chinese, Japanese, Korean: no spaces, so the whole clause is searched for the agent or another
  // subject.
  claim(
    '(?:没有?|沒有?|从未|从来没有|未曾|并未|不)(?:再|被)?(?:收到|看到|听说|告知|记得|想起|知道|听过|记住)过?',
  ),
  claim('(?:没有?|沒有?)(?:任何)?(?:关于|關於)?(.{0,24}?)的?(?:记录|記錄|记忆|印象|消息|信息)'),
  claim('(?:另一个|另外一个|平行)的?(?:会话|实例|我)(?:的我|自己)?', 'any'),
  claim(
    '(?:記録|記憶|覚え|履歴|メモ)(?:は|が|も|に)?(?:一切|全く|まったく|何も)?(?:ない|ありません|ございません|無い|残っていない|残っていません)',
    'any',
  ),
  claim('(?:受け取って|受信して|聞いて|知らされて|見て|覚えて)い?(?:ない|ません)'),
  claim('別の(?:並行)?(?:セッション|インスタンス)の(?:私|自分)', 'any'),
  claim('(?:기록|기억|메시지)(?:이|가|은|는|도)? ?(?:전혀 )?(?:없|나지 않|하지 못)\\p{L}*', 'any'),
  claim('(?:받|듣|보)지 못\\p{L}*'),

  // Everything else: a denial and a word of memory or receipt in one clause.
  ...[
    {
      no: "not|\\p{L}{1,6}n't|cannot|no|never|nothing|unable to",
      known:
        'remember|recall|recollect\\p{L}*|aware|informed|notified|idea (?:about|of|that)|knowledge of|knew|know (?:about|of|anything)|receive\\p{L}*|been (?:told|sent|given|shown|asked|contacted)|present when|(?:record|trace|mention|memory) of|the transcript',
    },
    {
      no: 'nicht|nie|niemals|nichts|keine?\\p{L}{0,2}',
      known:
        'bekannt|informiert|Informationen|Information|erinner\\p{L}*|Erinnerung\\p{L}*|Kenntnis|erhalten|bekommen|empfangen|angekommen|gehört|wusste|Gedächtnis|Verlauf|Protokoll',
      either: true,
    },
    {
      no: "ne|n'|pas|jamais|rien|aucune?",
      known:
        'souvien\\p{L}*|rappell\\p{L}*|connaissance|au courant|informée?|reçue?s?|mémoire|souvenirs?|historique|trace',
    },
    {
      no: 'no|nunca|jam[aá]s|nada|ning\\p{L}+|sin',
      known:
        'consta|al tanto|enterad\\p{L}|informad\\p{L}|recuerd\\p{L}+|recib\\p{L}+|memoria|registro|constancia|supe|sabía|conocimiento',
    },
    {
      no: 'não|nunca|jamais|nada|nenhum\\p{L}?|sem',
      known:
        'informad\\p{L}|sabia|soube|ciente|lembr\\p{L}+|record\\p{L}+|receb\\p{L}+|memória|registr?o|conhecimento',
    },
    {
      no: 'non|mai|nulla|niente|nessun\\p{L}?',
      known:
        'al corrente|informat\\p{L}|ricord\\p{L}+|ricevut\\p{L}|memoria|traccia|sapevo|consapevole|conoscenza',
    },
    {
      no: 'niet|niets|nooit|geen',
      known: 'wist|bekend|geïnformeerd|ontvangen|herinner\\p{L}*|op de hoogte|gekregen|geheugen',
      either: true,
    },
    {
      no: 'не|ничего|никогда|нет',
      known:
        'извест\\p{L}+|зна[юле]\\p{L}*|помн\\p{L}+|получ\\p{L}+|памят\\p{L}+|запис\\p{L}+|в курсе|уведом\\p{L}+|информир\\p{L}+',
      either: true,
    },
  ].flatMap(({ no, known, either }) => [
    claim(`(?:${no}) ?${GAP}(?:${known})${END}`),
    ...(either ? [claim(`(?:${known}) ${GAP}(?:${no})${END}`)] : []),
  ]),
  claim(
    "(?:my|our) (?:memory|history|transcript|records?|inbox|mailbox|notes|logs?) (?:\\p{L}+ ){0,3}?(?:not|n't|no|nothing|never|empty|blank)(?: contain| hold| show| mention| include)?(?!\\p{L})",
  ),
  claim("(?:does|do|did)n't (?:contain|hold|show|mention|include)(?!\\p{L})"),
  claim('неизвестно'),
  claim('(?:聞いた|見た|受け取った)ことが?(?:ない|ありません)'),
]
