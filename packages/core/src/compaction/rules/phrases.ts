/**
 * Typical phrases of rules in languages other than English, and phrases that only resemble one. All
 * in lower case. A sentence is tried against every language that it has a word of, because people
 * mix languages.
 */

/**
 * Patterns of one language, tried only if one of its words occurs, because compiling them is slow.
 */
interface Language {
  readonly words: ReadonlySet<string>
  readonly patterns: readonly RegExp[]
}

const language = (words: string, patterns: readonly RegExp[]): Language => ({
  words: new Set(words.split(' ')),
  patterns,
})

/**
 * Common forms of rules in languages with Latin letters; each pattern contains one of the words.
 */
const LATIN: readonly Language[] = [
  // All of something must, none of it may; not without my consent.
  language(
    'alle jede jeder jedes jeden sämtliche niemand keiner toutes tous toute tout chaque aucun aucune personne rien todas todos toda todo cada ningún ninguna nadie todas tutti tutte ogni nessuno alle elke niemand ohne sans sin sem senza zonder du bleibt bleiben',
    [
      /^(?:alle|jede[rsn]?|sämtliche|niemand|keiner) .{2,60}?(?<!\p{L})(?:müssen|muss|dürfen|darf|sollen|soll|(?:gehen|geht|laufen|läuft|werden|wird) (?:zuerst|nur|erst|immer|nie|an mich|über mich|ausschließlich))(?!\p{L})/u,
      /(?<!\p{L})du (?:sollst|musst) .{0,40}?(?:vor|bei|nach) (?:jede[mrn]?|allen)(?!\p{L})/u,
      /(?<!\p{L})bleib(?:t|en) (?:bitte )?(?:unverändert|unangetastet|unberührt|geheim|vertraulich|gesperrt|tabu|wie (?:er|sie|es) )/u,
      /^(?:tou(?:te)?s les|tout(?:e)? |chaque|aucune?|personne|rien) .{2,60}?(?<!\p{L})(?:doit|doivent|ne peut|ne peuvent|ne doit)(?!\p{L})/u,
      /^(?:tod[oa]s (?:los|las|os|as)|cada|ningún|ninguna|nadie|nada) .{2,60}?(?<!\p{L})(?:deben?|puede|pueden|tienen? que|devem?|podem?)(?!\p{L})/u,
      /^(?:tutt[ie] (?:i|gli|le)|ogni|nessuno) .{2,60}?(?<!\p{L})(?:deve|devono|può|possono)(?!\p{L})/u,
      /^(?:alle|elke|niemand) .{2,60}?(?<!\p{L})(?:moet|moeten|mag|mogen)(?!\p{L})/u,
      /(?<!\p{L})(?:nada|rien|nichts|nie|niente|niets|no|não|non|ne|n|geen|keine?n?|aucune?|nunca|jamais|nooit|niet|nicht)(?!\p{L}).{0,60}?(?<!\p{L})(?:ohne (?:meine?n?|unsere?n?|rückfrage|zu fragen)|sans (?:mon|ma|notre|me demander)|sin (?:mi|nuestra?|preguntar|consultar)|sem (?:a )?(?:minha|meu|perguntar)|senza (?:il mio|la mia|chiedere)|zonder (?:mijn|te vragen))/u,
    ],
  ),
  // The verb first and then a word that makes it general: an order in German, French, Spanish, …
  language('immer stets nie niemals nur toujours jamais siempre nunca sempre altijd nooit', [
    /^(?:bitte |por favor,? |s['’]il (?:te|vous) plaît,? )?(?!(?:er|sie|es|ich|wir|ihr|das|dies|man|c['’]est|il|elle|on|ils|él|ella|ele|ela|lui|lei|esto|eso|este|hij|zij|het|dat|ça|cela|was?|wie|war|ist|hat|habe?|está|es|fue|est|était|a|warum|porque|pourquoi)(?!\p{L}))\p{L}+(?:-\p{L}+)?(?: mir| mich| moi| me)? (?:immer|stets|nie|niemals|nur noch|toujours|jamais|siempre|nunca|sempre|altijd|nooit)(?!\p{L})/u,
  ]),
  // Dutch
  language('nooit altijd vanaf voortaan geen blijf niet alleen vraag', [
    /^(?:alsjeblieft,? |en |maar )*(?:nooit|altijd|vanaf nu|voortaan|in geen geval|blijf van)\b/u,
    /\b(?:gebruik|verander|verwijder|raak|stuur|schrijf)\b.{0,60}?\b(?:niet|nooit|geen|alleen|altijd)\b/u,
    /\b(?:vraag (?:het )?(?:mij|me)|vraag eerst)\b/u,
  ]),
  // Polish, Turkish, Swedish
  language('nigdy zawsze od żadnym zapytaj asla her bundan bana aldrig alltid från fråga', [
    /(?<!\p{L})(?:nigdy|zawsze|od teraz|pod żadnym pozorem|zapytaj mnie|asla|her zaman|bundan sonra|bana sor|aldrig|alltid|från och med nu|fråga mig)(?!\p{L})/u,
  ]),
]

/** For other scripts: short patterns that any other text fails quickly. */
const OTHER_SCRIPTS: readonly RegExp[] = [
  // Russian and Ukrainian
  /^(?:пожалуйста,? |и |но )*(?:никогда |больше )?не \p{L}+(?:й|йте|ь|ьте|и|ите)(?!\p{L})/u,
  /^(?:пожалуйста,? |и |но )*всегда \p{L}+(?:й|йте|ь|ьте|и|ите)(?!\p{L})/u,
  /(?<!\p{L})(?:никому|ничего|никогда) не \p{L}+(?:й|йте|ь|ьте|и|ите)(?!\p{L})/u,
  /(?<!\p{L})(?:ни в коем случае|отныне|с этого момента|впредь|спрашивай\p{L}*|спроси\p{L}* меня|запрещено|нельзя|не больше \d|не более \d|бюджет \d|крайний срок|завжди|ніколи не)(?!\p{L})/u,
  // Chinese, Japanese, Korean
  /(?:永远不要|绝不|绝对不要|千万不要|(?:^|请|，)不要(?!担心|紧|客气)|不得|禁止|不许|不准|始终|务必|从现在起|从现在开始|今后|以后都|必须|先问我|先征求|预算(?:是|为|不)|截止|最多|不超过|永遠不要|從現在起)/u,
  /(?:(?:絶対に|必ず|常に).{0,60}(?:ください|下さい|こと|ように|しない|しろ|ないで|なさい|して|よう)|決して|今後は|これからは|してはいけない|しないで(?:ください)?|禁止|触らないで|使わないで|変更しないで|削除しないで|前に(?:必ず)?(?:確認|聞いて|相談)|予算は|締め切りは|以内に|までに(?:必ず|完了|提出))/u,
  /(?:(?:절대|항상|반드시)(?!.*다[.!]?$)|앞으로는|지금부터|하지 ?마(?:세요|라)?|금지|먼저 물어|예산은|마감은|이내로)/u,
]
const OTHER_LETTERS = /[\u0370-\u1fff\u2e80-\ud7af]/

/** Expects a sentence in lower case. */
export function isPutAsRule(text: string): boolean {
  if (OTHER_LETTERS.test(text) && OTHER_SCRIPTS.some((pattern) => pattern.test(text))) return true
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  return LATIN.some(
    (each) =>
      words.some((word) => each.words.has(word)) &&
      each.patterns.some((pattern) => pattern.test(text)),
  )
}

/** Phrases that resemble a rule but are not. */
export const NO_RULE_PHRASES: readonly RegExp[] = [
  /(?:\b(?:mach dir keine sorgen|nicht wahr sein|hab(?:e|en)? (?:\p{L}+ )?nie|keine sorge|kein problem|keine ahnung|ich weiß nicht|war (?:schon )?immer|ist (?:schon )?immer|wie immer|hat (?:noch )?nie|habe (?:noch )?nie|war nie|immer noch|nicht schlimm|pas de problème|pas grave|je ne (?:sais|comprends|vois|pense|suis|peux)|ce n['’]est pas|n['’]est[- ]ce pas|il n['’]y a pas|ça ne (?:marche|fonctionne)|comme toujours|no hay problema|no (?:sé|entiendo|funciona|importa)|como siempre|nunca (?:he|ha|han|hemos|había|fui|tuve|vi)|nunca (?:fui|vi|tive|estive)|non (?:so|importa|funziona)|geen (?:probleem|idee)|zoals altijd)\b)/u,
  /^nunca (?:me |te |se |lo |la )?\p{L}+(?:ó|aron|ieron|aba|aban|ía|ían)(?!\p{L})/u,
  /(?:не (?:знаю|понимаю|работает|беспокойся|проблема)|как всегда|всегда (?:был|была|было|были)|никогда не (?:был|видел|слышал|понимал|думал)|没关系|不要(?:担心|紧|客气)|不知道|心配しないで|気にしないで|わから(?:ない|ません)|걱정하지|괜찮)/u,
]

/** Revokes an earlier rule. */
export const LIFTS: readonly RegExp[] = [
  /\b(?:you (?:can|may) (?:now|again)|(?:you|it['’]s|it is|that['’]s) (?:ok(?:ay)?|fine|allowed|free) (?:now )?to|now (?:you (?:can|may)|allowed)|no longer (?:applies|needed|necessary|holds|a rule|forbidden|off[- ]limits|frozen)|doesn['’]t apply any ?more|does not apply any ?more|forget (?:what i said|the rule|my rule|that rule|about (?:the|my))|ignore (?:what i said|my earlier|the earlier|my previous)|scratch that|drop the rule|rule is (?:off|lifted|gone)|i changed my mind|(?:is|are) (?:allowed|open|unfrozen|lifted) (?:again|now))\b/,
  /\b(?:du (?:darfst|kannst) (?:jetzt|wieder|nun)|gilt nicht mehr|vergiss (?:die regel|was ich)|ist wieder erlaubt|tu peux (?:maintenant|de nouveau)|vous pouvez (?:maintenant|de nouveau)|ne s['’]applique plus|ya puedes|ya no (?:aplica|vale)|agora (?:pode|você pode)|não vale mais|ora puoi|mag nu wel|geldt niet meer)(?!\p{L})/u,
  /(?:теперь можно|больше не действует|现在可以|不再适用|もう(?:いい|使ってもいい)|이제 (?:해도|사용해도))/u,
]
