/**
 * Rules that people jot down in a few words without a verb: "tabs not spaces", "plain text only",
 * "bis Freitag". One table serves all languages, because such notes have hardly any grammar: a
 * word that limits, and nothing that reports. A remark has a verb ("the tests are red"), a subject
 * ("it printed plain text"), or says how something ended ("no errors").
 *
 * Expects a sentence in lower case.
 */
export function isTerseRule(text: string): boolean {
  if (wordsOf(text) > WORDS_MAX) return false
  if (FACT.test(text)) return !ASKS.test(text)
  if (REPORT.test(text) || OUTCOME.test(text)) return false
  return LIMITS.some((limit) => limit.test(text))
}

const WORDS_MAX = 9

function wordsOf(text: string): number {
  return text.trim().split(/\s+/).length
}

/** Any of the words, as a whole word; `\b` works only for unaccented Latin letters. */
function words(...lists: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${lists.join('|')})(?![\\p{L}\\p{N}_])`, 'u')
}

/** Facts that hold from now on: who the person is, a deadline, what must not change. */
const FACT = words(
  "^(?:i'm|i am) (?:allergic|intolerant|vegan|vegetarian|diabetic|colou?r ?blind|deaf|left-handed)",
  "^we(?:'ll)? (?:ship|launch|release|go live|deliver) (?:on|by|in) ",
  '(?:stays?|remains?|bleib(?:t|en)|restent?|quedan?|restano?|blijft|keep .{2,40}) (?:as (?:it )?is|as they are|untouched|unchanged|alive|frozen|wie (?:er|sie|es) (?:ist|sind)|unverändert|intacts?|telle? quelle?|igual(?:es)?|zoals)',
)
const ASKS = /^(?:will|does|do|can|should|if|why|how|when)(?: |$)/

const SUBJECTS =
  '^(?:and |but |so |ok |hm+ )?(?:i|it|he|she|they|you|there|this|that|these|those|who|what|why|where|when|which|how|was|wer|wo|wie|warum|ich|es|er|sie|je|il|elle|quel|quelle|qui|où|yo|qué|cuál|che|quale|qual|het|wat|я|он|она|это|что)'
const VERBS = [
  "is|are|am|was|were|been|isn't|aren't|wasn't|has|have|had|does|did|doesn't|didn't|can|could|will|would|seems?|looks?|works?|fails?|gets?|got|goes|went|comes?|came|says?|said|takes?|took|runs|ran|saw|wrote|broke|lost|found|made|left|needs|uses|gave",
  'ist|sind|war|waren|hat|haben|habe|wird|wurde|kam|geht|ging|läuft|lief|steht|gibt|kostet|funktioniert|scheint',
  'est|sont|était|ont|fait|marche|a été|a échoué|es|está|están|son|era|fue|hay|tiene|funciona|è|sono|ha|funziona|é|são|tem|foi',
  'zijn|heeft|werkt|staat|работает|был|было|была|есть',
  '(?!licen[sc]|relat|bas|need|allow|requir|support|typ|host|limit)\\p{L}{3,}ed',
]
/** "The linter complains": a thing that does something. */
const DOING = '^(?:the|my|our|your|his|her|their|users|people) (?:\\S+ )?\\p{L}+s \\S.*'
const REPORT = words(SUBJECTS, DOING, ...VERBS)

/** "No errors", "alles gut": how something ended, said without a verb too. */
const OUTCOME = words(
  'err?or\\p{L}*|fehler\\p{L}*|fouten|erreurs?|erros?|problem\\p{L}*|success|erfolg|succès|éxito|successo|luck|idea|ahnung|output|results?|response|news|warnings?|thanks|ошиб\\p{L}*',
  'good|fine|ok|okay|done|green|red|passing|clear|ready|failing|broken|missing|gone|left|gut|klar|fertig|weg|bien|listo|bene|fatto|goed|klaar|yet|sure|really|again|now|heute|jetzt',
)

const LANGUAGES =
  'engl\\p{L}+|ingl\\p{L}+|anglais|engels|german|deutsch|duits|tedesco|alem\\p{L}+|fr[ae]n\\p{L}+|span\\p{L}+|esp\\p{L}+|ital\\p{L}+|port\\p{L}+|dutch|nederlands|russian|polish|chinese|japanese'
/** Days of the week by their endings; words before them make it a date. */
const DAYS =
  '\\p{L}+(?:day|tag|dag|ndi|rdi|edi|udi|dì|-feira)|mittwoch|(?:lun|mart|miércol|juev|viern)es|tomorrow|morgen|demain|mañana|domani|amanhã|noon|midnight|eod|\\d{1,2}(?:st|nd|rd|th|\\.)'

const LIMITS: readonly RegExp[] = [
  // One thing and not another.
  /^\S+ over \S+(?: \S+)?$/u,
  /^\S.*\S,? (?<!(?:^|\s)(?:do|does|did|should|must|may|might|shall|or|if|why|to) )(?:not|instead of|rather than|statt|anstatt|nicht|au lieu de|pas|en vez de|en lugar de|invece di|em vez de|niet|а не|вместо) \S/u,
  /, (?:no|not|keine?|pas de|sin|nada de|niente|sem|geen|nichts|ничего|без) \S/u,
  // Without something.
  words('^(?:ohne|sans|sin|senza|sem|zonder|без|geen|niente|nada de|pas de|zero) \\p{L}+'),
  // Nothing else, never more, without exception.
  words(
    'only(?! (?:one|two|three|a|\\d))|exclusively|nur|ausschließlich|seulement|uniquement|solo|sólo|solamente|únicamente|soltanto|só|somente|apenas|alleen|только',
    'max|maximum|at most|at the most|tops|maximal|höchstens|maximale?|máximo|máxima|massimo|hoogstens|максимум|strictly|cap it at',
    'everywhere|throughout|überall|partout|always$|(?:always|never) (?:net|gross|in|with|without|as|on|at|by)',
    '^(?:immer|toujours|siempre|sempre|altijd|всегда|nie|jamais|nunca|mai|nooit|никогда)',
    '^(?:everything|alles|tout|todo|tutto|tudo|всё) (?:in|as|auf|en|in het|em|на)',
    '^(?:one|a single|ein|eine|un|une|una|uno|um|uma|één) .{2,40} (?:per|pro|par|por)',
  ),
  // In which language, in which form.
  words(
    `(?:in|auf|en|em|in het) (?:${LANGUAGES})`,
    'по-(?:русски|английски|немецки)|(?:british|american|us|uk) (?:english|spelling)',
    '^(?:read[- ]?only|backwards? compatible|compatible with)',
    '^(?:short|brief|concise|terse|formal|informal|plain|simple) \\p{L}+|first, then',
  ),
  // By when.
  words(
    '^(?:deadline|due|abgabe|frist|échéance|date limite|à rendre|fecha límite|plazo|scadenza|prazo|срок)',
    'at the latest|spätestens|au plus tard|dernier délai|a más tardar|al più tardi|o mais tardar|uiterlijk|не позднее',
    `(?:by|due|until|bis|vor|pour|avant|d'ici|para el|antes del?|entro|até|voor|vóór) (?:the |le |el |zum |next )?(?:${DAYS})`,
  ),
  /请(?:用|使用|勿|不要)|只(?:用|能)|だけ(?:で|に|を)|禁止/u,
]
