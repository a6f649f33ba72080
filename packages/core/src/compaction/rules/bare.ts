/**
 * Whether a sentence only points at something said elsewhere, such as "Remember that." or "Merk dir
 * das.". Among the rules, long after, it says nothing.
 */
export function isBare(sentence: string): boolean {
  const text = sentence
    .toLowerCase()
    .normalize('NFD')
    .replace(/(?<=[a-z])[\u0300-\u036f]+/g, '')
  const words = text.normalize('NFC').match(/[\p{L}\p{N}]+/gu) ?? []
  return (
    words.some((word) => POINTER.test(word)) &&
    words.every((word) => POINTER.test(word) || EMPTY.test(word))
  )
}

/** That, it, or a verb that needs no object. In scripts without spaces, the whole sentence. */
const POINTER =
  /^(?:th(?:at|is|it|ese|ose|em)|it|das|dies|es|daran|dran|ca|cela|l|en|y|es[ot]o?|lo|(?:tien|ricord|dimentic|recuerd)\p{L}*l[oi]|d?is[st]o|qu(?:esto|ello)|dat|dit|het|eraan|этом?|забудь|(?:이|그)[걸것]을?|기억해|잊지|(?:[请請]|一定要?|务必)?(?:[记記][住得下]|[别別]忘|不要忘)[了记記]?[这這那]?[个個一]?[点點]?|(?:[こそ]れ|このこと)?[をは]?(?:覚えて(?:おいて)?|忘れないで)(?:ください)?ね?)$/u

/** Verbs that ask to remember or to follow another sentence, and the words around them. */
const EMPTY =
  /^(?:please|just|always|never|do|don|t|no[tn]?|and|too|also|again|way|now|on|from|remember|forget|note|mind|keep|bear|make|take|write|down|stick|follow|in|an?|of|to|for|later|all|me|you|i|want|must|sure|bitte|dir|sich|sie|immer|nicht|nie|auch|gut|wieder|im|kopf|so|(?:merk|vergiss|vergess|behalt|denk|notier|souven|souvien|oubli|retien|reten|rappel|pens|gard|recuerd|olvid|esquec|lembr|ricord|dimentic|onthoud|запомни|забы|помни)\p{L}{0,3}|toi|vous|ne?|pas|jamais|toujours|bien|te|tete|s|il|plait|de|nunca|siempre|te[nr]|tenga|cuenta|mente|p[eo]r|favore?|se|nao|sempre|tenha|em|mai|tieni|vergeet|niet|nooit|altijd|houd?|gedachten|goed|не|об|имей|в|виду|пожалуйста|всегда|никогда|꼭|줘|둬|마|마세요)$/u
