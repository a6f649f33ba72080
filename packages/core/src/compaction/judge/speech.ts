/**
 * How a text speaks: about a conversation, or to a person in it. A summary reports on the user in
 * the third person, or under the requested headings. A model that continued the conversation
 * instead speaks to the user: it greets, advises, asks, offers help. Only the writer's own words
 * count: quotations, code and link targets are removed first.
 */
export interface Speech {
  readonly words: number
  /** Mentions of the user, the agent or the conversation in the third person. */
  readonly reports: number
  /** Words that speak to a reader: you, your and their like. */
  readonly addresses: number
  /** Announcements of the writer's own next step: "let me look", "I'll add". */
  readonly announces: number
  /** Opens as a reply does: thanks, praise, an apology, "I notice that you …". */
  readonly opensAsReply: boolean
  /** Closes with an offer or a question to the reader. */
  readonly closesAsReply: boolean
  /** Begins in the middle of a list or of a sentence. */
  readonly startsMidway: boolean
  /** Titles of sections, in lower case. */
  readonly headings: readonly string[]
}

const CHARACTERS_MAX = 60_000
const EDGE_CHARACTERS = 400

export function readSpeech(text: string): Speech {
  const own = withoutQuotations(text.slice(0, CHARACTERS_MAX)).trim()
  // A model that opens with a heading may still reply below it.
  const body = own.replace(/^(?:#{1,6} [^\n]{0,100}\n\s*)+/, '')
  const opening = body.slice(0, EDGE_CHARACTERS).replace(/^[\s*_>"'“]+/, '')
  const closing = own.slice(-EDGE_CHARACTERS)
  return {
    words: countWords(own),
    reports: count(own, REPORTS),
    addresses: count(own, ADDRESSES),
    announces: count(own, ANNOUNCES),
    opensAsReply: OPENINGS.some((pattern) => pattern.test(opening)),
    closesAsReply: CLOSINGS.some((pattern) => pattern.test(closing)),
    startsMidway: MIDWAY.test(body),
    headings: headingsOf(text),
  }
}

/** Titles as Markdown headings, bold lines and numbered titles that end in a colon. */
function headingsOf(text: string): readonly string[] {
  return text
    .slice(0, CHARACTERS_MAX)
    .split('\n')
    .flatMap((line) => {
      const found = HEADING.exec(line.trim())
      const title = found?.[1] ?? found?.[2] ?? found?.[3]
      return title === undefined ? [] : [title.replace(/[:：*\s]+$/, '').toLowerCase()]
    })
}

const HEADING =
  /^(?:#{1,6} (.{2,100})|(?:\d{1,2}[.)] )?\*\*([^*]{2,100})\*\*[:：]?|(?:\d{1,2}[.)] )?([\p{L}][^.:!?]{2,60}):)$/u

const QUOTATIONS = [
  /```[^`]{0,20000}```/g,
  /`[^`\n]{1,400}`/g,
  /"[^"\n]{1,800}"/g,
  /“[^”\n]{1,800}”/g,
  /«[^»\n]{1,800}»/g,
  /„[^“”\n]{1,800}[“”]/g,
  /「[^」\n]{1,800}」/g,
  /^[ \t]{0,8}>[^\n]{0,2000}$/gm,
]

export function withoutQuotations(text: string): string {
  return QUOTATIONS.reduce((rest, pattern) => rest.replace(pattern, ' … '), text)
}

export function countWords(text: string): number {
  return count(text, /[\p{L}\p{N}_]+/gu) + count(text, /[\p{Script=Han}\p{Script=Hiragana}]/gu) / 2
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

// `\b` works only for Latin letters, so other scripts do without it.
const REPORTS = new RegExp(
  [
    String.raw`\b(?:the |this )?(?:users?|customer|client|caller|human|assistant|agent|operator)(?:'s|’s)?\b`,
    String.raw`\b(?:the|this|our|previous|earlier) (?:conversation|session|discussion|chat|exchange|transcript|dialogue)\b`,
    String.raw`\b(?:Nutzer(?:in|s)?|Benutzer(?:in|s)?|Anwender(?:in|s)?|Kunden?|Kundin|Assistent(?:in|en)?|Gespräch(?:s|e)?|Unterhaltung|Sitzung)\b`,
    String.raw`\b(?:utilisat(?:eur|rice)|client|assistant|conversation|échange)\b`,
    String.raw`\b(?:usuari[oa]|cliente|asistente|assistente|utente|conversaci[oó]n|conversaç[aã]o|conversazione|sessão|sesión)\b`,
    String.raw`\b(?:gebruiker|klant|gesprek|użytkownik\p{L}{0,4}|rozmow\p{L}{0,3}|kullanıcı\p{L}{0,4}|användaren)\b`,
    `(?:пользовател|клиент|ассистент|агент|разговор|беседа|диалог)`,
    `(?:用户|使用者|客户|助手|对话|會話|会话|对话|ユーザー|利用者|アシスタント|会話|사용자|고객|어시스턴트|대화|المستخدم|المحادثة|משתמש|उपयोगकर्ता)`,
  ].join('|'),
  'giu',
)

// Case matters: `Ihnen` addresses a person, `ihnen` refers to several.
const ADDRESSES = new RegExp(
  [
    String.raw`\b(?:[Yy]ou|[Yy]our|[Yy]ours|[Yy]ourself|[Yy]ou['’](?:re|ve|ll|d))\b`,
    String.raw`\b(?:[Dd]ir|[Dd]ich|[Dd]eine?[rnms]?|Ihnen|Ihre?[rnms]?)\b`,
    String.raw`\b(?:[Vv]ous|[Vv]otre|[Vv]os|[Tt]oi)\b`,
    String.raw`\b(?:[Uu]sted(?:es)?|contigo|[Tt]us|tuo|tua|tuoi|jouw|jij|[Uu]w)\b`,
    String.raw`(?<!\p{L})(?:[Vv]ocês?|tú|[Вв]ы|[Вв]ам|[Вв]ас|вами|[Вв]аш[аеиу]?|вашего|ваших|[Тт]ы|тебе|тебя|твой|твоя)(?!\p{L})`,
    `(?:您|你|あなた|당신|ください|でしょうか|ましょうか|하세요|시겠어요|드릴까요)`,
  ].join('|'),
  'gu',
)

const ANNOUNCES =
  /\b(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i need to|i should|now i|we need to|we should|ich werde|ich schaue|je vais|voy a|vou)\b/giu

const OPENINGS = [
  /^(?:thank(?:s| you)\b|you['’]?re (?:very |most )?welcome|my pleasure|no problem|of course|certainly|sure(?:[,!.]| thing)|absolutely|great (?:question|choice|idea|to)|good (?:question|morning|idea)|hello\b|hi\b|hey\b|welcome\b|congratulations|enjoy\b|safe travels)/i,
  /^(?:that['’]s|that is|that sounds|it sounds|sounds|what a|this is) (?:\w+ ){0,3}(?:great|wonderful|fantastic|amazing|awesome|good|nice|exciting|interesting|lovely|perfect|understandable|like)\b/i,
  /^i(?:['’]m| am) (?:\w+ ){0,2}(?:glad|happy|sorry|thrilled|delighted|excited|pleased|here to|not able|unable|ready to)\b/i,
  /^i (?:notice|appreciate|understand|see|realize|realise|hear|apologi[sz]e|hope|need to|want to|should (?:clarify|be|point|note)|think (?:there|you)|believe you|don['’]t (?:see|have|think|actually)|can(?:not|['’]t)? (?:help|see|certainly|definitely)|would be (?:happy|glad)|recommend|suggest)\b/i,
  /^(?:let me|allow me to|before (?:i|we|you) |could you|can you|would you|do you|did you|are you|have you|what (?:would|do|can|are|kind)|how (?:can|may|would|about)|please (?:provide|share|let|clarify|tell|go ahead|confirm))\b/i,
  /^(?:it|there) (?:looks|seems|appears) (?:like|that|to)\b[^.\n]{0,60}\byour?\b/i,
  /^(?:your (?:message|request|question|last|order|account)|here (?:are|is) (?:some|a few|the (?:information|details|updated|steps)|how|what you))\b/i,
  /^(?:danke|vielen dank|gerne|natürlich|selbstverständlich|klar[,!]|gute frage|hallo|schön, dass|das klingt|das freut|ich sehe, dass|mir fällt auf|entschuldig|möchten sie|möchtest du|kannst du|könntest du)/i,
  /^(?:merci|bien sûr|avec plaisir|bonjour|bonne question|je (?:vois|remarque|comprends|suis ravi|vous)|voulez-vous|pouvez-vous|gracias|claro|por supuesto|hola|buena pregunta|entiendo|veo que|quieres|puedes|obrigad|olá|com certeza|grazie|certo|ciao)/i,
  /^(?:спасибо|конечно|здравствуйте|привет|отлично|я вижу|хорошо|хотите|谢谢|感谢|好的|当然|您好|你好|很高兴|我注意到|请问|ありがとう|もちろん|はい、|承知|こんにちは|감사합니다|물론|안녕하세요|네,)/i,
]

const CLOSINGS = [
  /\b(?:let me know|feel free|don['’]t hesitate|reach out|happy to help|glad to help|hope (?:this|that|you)|i['’]m here|good luck|safe travels|have a (?:great|good|nice|wonderful)|enjoy (?:your|the|it)|looking forward)\b[^?\n]{0,200}[.!)\s\p{Emoji_Presentation}]*$/iu,
  /\b(?:would you (?:like|prefer|want)|do you (?:want|have|need|think|prefer)|do any of|shall (?:i|we)|should i\b|can i\b|could you|can you|may i|what would (?:you|be)|what (?:do|are|is|kind|else)|how (?:does|do|would|can|about)|is (?:there|that|this)|are (?:you|there)|did you|have you|which (?:of|one|option|would)|where would|when would|want me to|ready to|anything else)\b[^?\n]{0,240}\?[\s*_)\p{Emoji_Presentation}]*$/iu,
  /\bplease (?:clarify|confirm|provide|share|let me|tell me|specify|paste|send|go ahead)\b[^\n]{0,200}$/i,
  /(?:möchten sie|möchtest du|soll ich|wollen sie|willst du|kann ich (?:ihnen|dir|noch)|was meinst du|voulez-vous|souhaitez-vous|dois-je|puis-je|quieres que|quiere que|te gustaría|le gustaría|puedo ayudar|você gostaria|posso ajudar|vuoi che|хотите|могу ли я|чем ещё|需要我|您想|请问|吗？|どうでしょう|ますか？|ましょうか|할까요|드릴까요)[^\n]{0,200}$/iu,
  /(?:lassen sie (?:es )?mich wissen|lass (?:es )?mich wissen|melde dich|gib mir bescheid|n['’]hésitez pas|faites-moi savoir|no dudes en|házmelo saber|não hesite|fammi sapere|дайте знать|обращайтесь|请告诉我|随时告诉|お知らせください|알려 ?주세요)[^\n]{0,200}$/iu,
]

const MIDWAY =
  /^(?:(?:[2-9]|[1-9]\d)[.)] |(?:also|additionally|furthermore|moreover|finally|lastly|however|and|but|so|then)[, ]|[\p{Ll}][\p{Ll}]*[ ,])/u

const TURN = /^(?:\[(?:user|human)\]:?|(?:user|human):)/i
const REPLY = /^(?:\[(?:assistant|ai|agent|model)\]:?|(?:assistant|ai|agent|model):)/i

/**
 * The text up to the first turn that its writer invented: some models continue below the summary
 * with "[USER]: …" and "[ASSISTANT]: …". Labels inside a list stay.
 */
export function withoutInventedTurns(text: string): string {
  const lines = text.split('\n')
  const isTurn = (line: string) => TURN.test(line) || REPLY.test(line)
  const first = lines.findIndex(isTurn)
  if (first === -1) return text
  const rest = lines.slice(first)
  const isDialogue = rest.some((line) => TURN.test(line)) && rest.some((line) => REPLY.test(line))
  return isDialogue ? lines.slice(0, first).join('\n').trimEnd() : text
}
