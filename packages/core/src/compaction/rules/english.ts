/**
 * Standing instructions in English. A sentence is one of three things: an order without a subject
 * ("keep it short"), a norm with one ("all prices must include VAT"), or neither. An order is a
 * standing instruction only if it is general: a task for now ("rename the variable") has none of
 * the words that make it so.
 */
export function isEnglishRule(sentence: string): boolean {
  const text = sentence.replaceAll('’', "'")
  return isOrderOrNorm(text) && !PHRASES.some((phrase) => phrase.test(text))
}

function isOrderOrNorm(text: string): boolean {
  if (ASKED.test(text) && !ASKED_ALWAYS.test(text)) return false
  if (SET_RULES.some((rule) => rule.test(text))) return true
  const [lead, order] = withoutLead(text)
  const condition = CONDITION.exec(order)?.[0] ?? ''
  // The rule follows the condition: "if you are unsure, stop and ask".
  const main = order.slice(condition.length)
  if (GENERAL_CONDITION.test(condition) && ORDER.test(main)) return true
  return isOrder(main, lead) || (lead && UNIVERSAL.test(main)) || isNorm(main)
}

const GENERAL_CONDITION =
  /^(?:(?:if|when|whenever|before|after|unless|once|in case) (?:you|any|every|each|all|anyone|anything|someone)|in doubt|when in doubt|if in doubt|if unsure)\b/
/** A request for now, also where the question mark is missing. */
const ASKED = /^(?:\S+ ){0,2}?(?:can|could|would|will) you\b/
const ASKED_ALWAYS = /\b(?:from now on|always|never|in (?:the )?future)\b/

const CONDITION = /^(?:if|when|whenever|before|after|unless|once|in case|for) [^,]{2,120}, /

const POLITE =
  /^(?:please|pls|plz|and|but|also|so|ok|okay|btw|well|yes|no wait|one (?:more )?thing|important|rules?|note|notes|reminder|attention|fyi|p\.?s\.?|oh|hey|just|again|really|seriously|kindly)\b[,:.!-]*\s*/
const LEADS =
  /^(?:it(?:'s| is) (?:very |really )?(?:important|essential|crucial) (?:that you |that we |to )|i(?:'d| would)? (?:like|want|need|expect|ask|prefer) (?:you |us )(?:to )?|you (?:must|should|shall|have to|need to|are to|will|may|can|'re to) |you(?:'re| are) (?:not allowed|to) (?:to )?|we (?:must|should|shall|have to|need to) |make (?:very |absolutely )?sure (?:that )?(?:you |we |to )?|be sure (?:that you |to )|see to it that (?:you )?|try (?:to )?|remember(?: to| that you (?:must|should))?:? |keep in mind(?: that)?:? |ensure (?:that )?(?:you )?|let's (?:agree (?:that )?(?:you |we )?)?|we agreed (?:that )?(?:you |we )?|by default,? |in general,? |generally,? |(?:in|for|on) this (?:project|repo\w*|team|codebase|company|session|job),? |around here,? |it would be (?:great|nice|good|best) if you (?:could |would )?|whatever (?:you do|happens),? |no matter what,? |(?:just )?so you know(?: for later)?[:,]? |for later[:,] |be careful (?:to |that you )|(?:until|unless) i (?:say|tell you) (?:otherwise|so|different\w*),? |in (?:the )?future,? |from now on,? |going forward,? |until further notice,? |as a (?:general )?rule,? |at all times,? |for the rest of [^,]{1,40}, )/

/** Without politeness and lead-ins; whether one of them made it an order. */
function withoutLead(text: string): [isDirected: boolean, rest: string] {
  let rest = text
  let isDirected = false
  for (let turn = 0; turn < 6; turn++) {
    const polite = POLITE.exec(rest)
    const lead = polite === null ? LEADS.exec(rest) : null
    const found = polite ?? lead
    if (found === null || found[0] === '') break
    isDirected ||= lead !== null
    rest = rest.slice(found[0].length)
  }
  return [isDirected, rest]
}

const MANNER =
  'use|keep|write|answer|reply|respond|format|name|put|prefer|choose|stick|stay|treat|address|call|speak|talk|document|sign|quote|cite|mark|log|store|include|follow|respect|limit|wait|ask|check|confirm|consult|get|let|do|make|take|leave|send|share|book|buy|pay|spend|order|schedule|commit|push|merge|deploy|release|publish|work|mention|show|tell|test|run|start|finish|round|convert|translate|back|encrypt|verify|double|avoid|refrain|update|add|touch|change|edit|delete|remove|rename|read|open|close|contact|email|mail|phone|notify|warn|inform|report|copy|move|install|upgrade|import|export|print|return|throw|handle|assume|guess|invent|wake|give|go|be|have|turn|stop'
const ORDER = new RegExp(
  `^(?:not |never |always |only |(?:do not|don't|dont)(?: ever| you (?:dare|ever))? )*(?:to )?(?:${MANNER})\\b`,
)
/** Words that make an order general. */
const GENERAL =
  /\b(?:always|never|ever|only|every|each|everything|all|any|anything|nothing|no|not|none|nobody|without|until|unless|instead|rather than|over|throughout|everywhere|from now on|whenever|at most|no more than|max|maximum|under|below|within|permanently|forever|for good|accordingly|short|brief|briefly|confidential|secret|untouched|alone|as (?:it|they) (?:is|are)|frozen|away|official|to the|formally|me (?:before|first)|before (?:you|it|any|i|we|the|merging|deploying|sending|publishing|committing)|first|please stick)\b/
/** Orders for now; "all" and "before" do not make them rules. */
const TASK =
  /^(?:fix|add|show|list|find|run|update|check|remove|delete|rename|open|close|print|translate|convert|make|tell|give|get|copy|move|read|test|import|export|return|start|finish|change|edit|install|upgrade|send|go|have|take|merge|commit|push|do|write|put|include|book|buy|order|share|report)\b/
const STRONG =
  /\b(?:always|never|ever|only|every time|each time|from now on|whenever|without (?:asking|my|our|prior|approval|review|consent|permission)|unless|until i|until we|instead of|rather than|throughout|everywhere|at most|no more than|maximum|max|under|at all times|in all|for all|for every|for each|in every|me (?:before|first)|before it goes|before i|not on|not in|not to|approval|as (?:it|they) (?:is|are)|all|everything|no changes)\b/

function isOrder(text: string, isDirected: boolean): boolean {
  if (/^(?:never|always)[, ]/.test(text)) return !PARTICIPLE.test(text)
  if (/^(?:do not|don't|dont|avoid|refrain from|stop \w+ing|no more|not to|not) /.test(text))
    return true
  if (/^only (?:ever )?[a-z]+ /.test(text)) return ORDER.test(text)
  if (!ORDER.test(text)) return false
  if (isDirected && /\b(?:always|never|only|all|every|each|no|not)\b/.test(text)) return true
  if (SHOWING.test(text)) return STANDING.test(text)
  return TASK.test(text) ? STRONG.test(text) && !NOW.test(text) : GENERAL.test(text)
}

/** "Show me all" asks for everything now. */
const SHOWING =
  /^(?:show|list|find|print|give|tell|get|open|read|count|check) (?:me |us )?(?:the |all |every|only )/
const STANDING =
  /\b(?:always|never|every time|each time|from now on|whenever|before|first|without|unless|until)\b/
const PARTICIPLE =
  /^(?:never|always),? (?:mind|been|had|seen|heard|thought|tried|worked|got|was|were|did|went|understood|knew|liked|wanted|wondered|noticed|happened|said|\w+ed) /
/** About the present: "all of these", "in line 12", "this file". */
const NOW =
  /\b(?:of these|of those|in line \d|this (?:file|test|line|function|page|bug|error|one)|the (?:failing|last|first|second|third|current|attached|following)|above|below:|now|yesterday|today)\b/

/** "No" is also Spanish. */
const ROMANCE = /\b(?:el|la|los|las|que|un|una|de|en|me|se|lo|es|al|del|para|con)\b/
const UNIVERSAL =
  /^(?:any|anything|anyone|each|every|everything|everyone|all|no|nothing|nobody|no one|none|only) /
const DEONTIC =
  /\b(?:must|has to|have to|needs? to|is to|are to|may only|may not|must not|mustn't|should always|should never|should only|should not|shouldn't|can only|cannot|can't|can not|is not to|are not to|is never to|needs? (?:my|approval|to be)|requires? (?:my|approval)|goes? (?:live|out|in|to|through)|is (?:off[- ]limits|forbidden|prohibited|not allowed|frozen|read-only|confidential)|are (?:off[- ]limits|forbidden|prohibited|not allowed|frozen|read-only|confidential)|is allowed to|are allowed to|allowed)\b/
/** With a subject that means everything, one of these is enough. */
const BOUND =
  /\b(?:may|without|before|until|unless|needs?|requires?|goes|belongs?|stays?|remains?|gets?|ever|please)\b/
/** A guess or a fact in the form of a norm. */
const EPISTEMIC =
  /\b(?:(?:must|should|can|could|may|might|can't|cannot|shouldn't) (?:not )?(?:have (?:been|\w+ed|got|gone|had|said|done)|be (?:a |an |the |on |because|why|\w+ing\b|joking|wrong|broken|related|missing|something|somewhere|nice|fun|great|fine|hard|easy|possible|right|enough|there|here|in (?:the|a) |at )|matter|mean|see|hear|find|remember|believe|imagine|tell|recall|understand|think|say|know)|(?:it|there|that|this|he|she|they) (?:must|should|shouldn't|may|can't|cannot|can|could|might)(?: not)? |have to (?:leave|go|say|admit|be|run|catch|stop)|(?:has|have|had|was|were) (?:answered|failed|replied|worked|been))\b/
const NOBODY_MAY = /^(?:nobody|no one|none of|nothing|only) .{0,40}?\b(?:may|must|should|can) \w+/
const WISH = /\b(?:i|we)(?:'d|'ll| would| will)?(?: really| also| just)? (?:need|have) to\b/g
const FIRST_PERSON_RULE =
  /^(?:i|we) (?:(?:never|always|only|don't|do not) (?:want|use|support|target|speak|trust|fly|eat|drink|accept|pay|travel|work|commit|push|deploy|merge|write|release|touch|edit|delete|rebase|squash|sign|ship|store|log|share|send|book|buy|name|publish|hire|allow|tolerate)|insist|require (?:that|all|every)|(?:strongly |really |always |much )?prefer (?!not to |to (?:think|forget|wait)|the (?:first|second|third|last|other|new|old|previous|one|blue|red|version)|this|that|your)|want (?:all|every|each|no|only)|can(?:'t|not) (?:use|spend|pay|share|ship|change|touch|break|exceed|miss|accept|afford|have any))\b/

function isNorm(sentence: string): boolean {
  // "I need to cancel" is a wish.
  const text = sentence.replaceAll(WISH, ' ')
  if (FIRST_PERSON_RULE.test(text))
    return !/\b(?:yesterday|last|ago|used to|back then)\b/.test(text)
  if (/^(?:i|he|she|it|they|who|that|this|there) /.test(text)) return false
  if (/^no [\w-]+(?:[ ,]+[\w-]+){0,6}[.!]*$/.test(text)) return !ROMANCE.test(text)
  if (NOBODY_MAY.test(text)) return true
  if (EPISTEMIC.test(text)) return false
  if (UNIVERSAL.test(text)) return DEONTIC.test(text) || BOUND.test(text)
  return DEONTIC.test(text)
}

/** Phrases that make a rule anywhere in the sentence. */
const SET_RULES: readonly RegExp[] = [
  /\b(?:from (?:now|here|today|tomorrow|monday) on|going forward|henceforth|until further notice|under no (?:circumstances?|condition)|on no account|off[- ]limits|hands off|stay away from|keep away from|is a no-go|without (?:asking|checking with|telling) (?:me|us))\b/,
  /\b(?:each|every) time you\b|\bwhenever you\b|\bfor the (?:rest|remainder) of (?:this|the)\b|\bfor (?:all|every) (?:future|further|following)\b/,
  /\b(?:ask|check with|consult|tell|warn|notify|confirm with|run it by|wait for) (?:me|us|my)\b.{0,30}\b(?:before|first|prior|approval|go-ahead|ok)\b/,
  /^(?:(?:our|my|the) )?(?:rules?|policy|constraint|requirement|style|convention|tone)(?: \d{1,2})?: /,
  /\b(?:as of|effective|starting) (?:now|today|tomorrow|monday|next week|next month|immediately)\b/,
  /\b(?:only|not|nothing|never|none|no)\b.{0,60}?\b(?:with|without) (?:my|our) (?:\w+ )?(?:approval|consent|ok|okay|permission|signature|sign-off|go-ahead)\b/,
  /^(?!(?:it|he|she|they|the|that|this|we|i)\b)[\w ]{3,40}? (?:over|above|below|under|beyond|more than) [$€£]? ?\d[\d.,]*(?: ?[\w€$]+)? (?:needs?|requires?|gets?|goes?|must)\b/,
  /^(?:the|our|my|all) [\w -]{1,40} stays? .{1,40}?\b(?:whatever|no matter|until)\b/,
  /^(?!(?:the|it|they|we|you|these|those|there|he|she|i|things|trains|people) )[a-z-]+s(?: [a-z]+)? are (?:always|never|only) (?!late|delayed|right|wrong|broken|closed|busy|open)\w+(?:ed|en|wn|ne|t)\b/,
  /\b(?:budget|limit|cap|ceiling|maximum|max|deadline|due date|cut-?off|spending limit)\b.{0,40}?(?:\bis\b|\bare\b|:|=|\bof\b).{0,40}?(?:\d|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|tomorrow|tonight|noon|midnight)/,
  /\b(?:you|we) have (?:until|till) \b/,
  /\b(?:must|has to|have to|needs? to|should) (?:be |have )?(?:\w+ ){0,4}?(?:by|before|until|no later than) (?:\d|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec|tomorrow|tonight|noon|midnight|the end|end of|next|eod)/,
  /(?:^(?:\S+ ){0,2}?|\b(?:keep|stay|use|spend|limit|must|should|may|want|need|be|please|pay|book|buy)\b.{0,40}?)\b(?:at most|no more than|not more than|max\.?|maximum of|less than|fewer than|under|below|within|over|at least|no later than|not later than|up to)\b.{0,12}?(?:[$€£¥]? ?\d[\d.,]*|\b(?:one|two|three|four|five|six|ten|twelve|twenty)\b)/,
  /\b(?:remember|keep in mind|bear in mind)(?: that)?:? (?:i|we|my|the|our|she|he|they|nobody|no)\b.{0,60}?\b(?:allergic|vegetarian|vegan|hates?|dislikes?|likes?|loves?|prefers?|must|may|can't|cannot|never|always|only|not|no)\b/,
  /^(?:please,? )?(?:call|address) me\b/,
  /^(?:please,? )?(?:answer|reply|respond|write|speak|talk)(?: to me)? (?:only |always |everything )?in (?:the |my )?(?:english|german|french|spanish|italian|portuguese|dutch|russian|polish|japanese|chinese|plain|short|full|complete|bullet|first person|second person|third person)\b/,
  /^(?:please )?(?:limit|restrict|confine) yourself\b/,
  /^(?:please )?(?:prefer|favou?r) (?!that|this|it\b)\w+/,
  /^(?:please )?keep (?:the|your|a|all) (?:tone|style|language|wording|voice|replies|answers|texts?|copy|commits?|functions?|names?|sentences|emails?)\b/,
  /\b(?:send|give|post|mail|email|write|prepare|need|want|expect)\b.{0,50}?\b(?:every|each) (?:day|morning|evening|night|week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday|hour)\b/,
  /\b(?:what|everything|anything|whatever) i (?:tell|told|say|said|share|send|sent)\b.{0,40}?\b(?:stays?|remains?|is) (?:between us|confidential|private|secret)\b|\b(?:stays?|keep (?:it|this|that)) (?:strictly )?between (?:us|you and me)\b/,
  /\b(?:stays?|must stay|should stay) between [\d.,]+ and [\d.,]+/,
  /^you have (?:a total of |up to |at most |only )?[$€£]?\d[\d.,]* .{0,40}?\b(?:for|to spend|in total|altogether|until|left)\b/,
  /^(?:nobody|no one|none) (?:but|except|other than) [\w ]{2,30}? (?:\w+s|may|can)\b(?! about)/,
  /\b(?:so|hence|therefore),? (?:please )?(?:no|never|don't|do not|only|always|keep|use|avoid) \w+/,
  /^(?:if|when|whenever) (?:the|a|an) [^,]{2,80}, (?:please )?(?:abort|stop|cancel|ask|tell|warn|notify|report|skip)\b/,
  /\b(?:off the table|out of bounds|non-negotiable|not negotiable|not an option|out of the question|no later than|at the latest)\b/,
  /\b(?:boss|client|customer|management|legal|team|ceo|cto) (?:wants?|insists? on|requires?|demands?) (?:no|only|all|every|that)\b/,
  /^[a-z-]+(?: [a-z-]+){0,3}, (?:not|never) [a-z-]+(?: [a-z-]+){0,2}[.!]*$/,
  /^(?!(?:it|he|she|they|i|we|you|that|this)\b)[\w -]{3,40} stays? (?:out of|away from|below|under|off|inside|within)\b/,
  /^(?:please )?(?:reserve|save) .{2,40} for (?:the )?\w+/,
  /^we (?:don't|do not) (?:do|deploy|merge|ship|release|commit|push|log|add|hire|support)\b.{3,}/,
  /^we agreed (?:on|that|to) .{3,60}?, so\b/,
  /^it(?:'s| is) (?:very |really |absolutely )?(?:important|essential|crucial|vital|critical|mandatory|imperative)(?: to (?:me|us))? (?:that|to)\b/,
  /^there (?:should|must|may|can|shall) (?:never be|not be|be (?:no|nothing|only))\b/,
  /\b(?:belongs?|goes?|go|live|lives) (?:only )?(?:in|into|under|to) .{2,60}?(?:, (?:and )?(?:nowhere|never|not)\b|\band (?:nowhere|never|not)\b)/,
  /\b(?:unless|until) (?:i|we) (?:say|tell you|ask|decide|approve|confirm|give)\b|\bas long as it(?:'s| is)\b/,
  /^(?:please,? )?(?:speak|talk|write|answer|reply) (?:only )?(?:english|german|french|spanish|italian|portuguese|dutch|russian|polish|japanese|chinese)\b/,
  /^(?:you|we) (?:may|can) (?:only |spend |use )?.{0,40}?\b(?:up to|at most|no more than|not more than)\b|\bnot more\.?$/,
  /^let me (?:review|see|approve|check|confirm|read)\b.{2,60}\bbefore\b/,
  /\bas a (?:general )?rule\b|^in (?:the )?future\b|\bat all times\b|\bstick (?:to|with)\b|\byou(?:'re| are) not (?:allowed|permitted|supposed) to\b/,
  /\bit (?:must|has to|needs to) (?:work|run|fit|pass|stay|remain|compile|support|handle|be (?:under|below|in|finished|done|ready))\b/,
]

/** Set phrases, facts and reports of others. */
const PHRASES: readonly RegExp[] = [
  /^(?:thanks|thank you|great|cool|perfect|nice)[,!.] .*\bi\b/,
  /^(?:wait|hold on|hang on|sorry|hmm|oops),? (?:that|this|it|what|why|no|i|is|did)\b/,
  /^(?:users?|customers?|visitors?|clients?|members|people) (?:may|can) (?:not |only )?\w+/,
  /^(?:\S+ ){0,2}?(?:never ?mind|(?:don't|dont|do not) (?:worry|mind|bother(?! (?:me|us|my))|sweat|panic|get me wrong|know|think|see|understand|remember|care|have|need|like|believe|recall|feel|you think)|no (?:problem|worries|idea|rush|hurry|thanks|thank you|wonder|doubt|luck|matter)|why (?:don't|not)|as always|not sure|not yet|not really|not that|not the)\b/,
  /^(?:i|he|she|they|it|that|this|who|my [\w ]+|the [\w ]+|users?|people|customers) (?:\w+ )?(?:never|always) (?!want|use\b|commit|push|deploy|merge|write|release|touch|edit|delete|rebase|squash|sign|test|ship|store|log|share|send|book|pay|buy|eat|fly|name)\w+/,
  /\b(?:ha(?:s|ve|d)|was|were|am|'ve) (?:never|always)\b|\b(?:is|are) always (?:the|a|so|too|like)\b/,
  /\b(?:docs?|documentation|readme|manual|article|spec|errors?|logs?|linter|compiler|message|warning|page|blog|book|tutorial|output|stack ?overflow|wikipedia|model|teacher|movie|song|paper|site|website)\b.{0,30}?\b(?:says?|said|states?|claims?|tells?|told|warns?|reads?|shows?|complains?|mentions?|mentioned|reports?|recommends?|suggests?)\b|\baccording to\b/,
  /^(?:if|what if|suppose|imagine|assuming|in case|when i|when we|when it|because|since|although|even though)\b[^,]*$/,
  /^(?:i|we) (?:don't|do not|dont|didn't|couldn't|wouldn't|haven't|should have|shouldn't have|must have|used to|am not|was)\b(?! want| use| accept| allow| share| store| do (?!it|that|this)| deploy| merge| ship| release| commit| push| log| support)(?!.*,\s*(?:so |and |but )*(?:never|always|do not|don't|please))/,
  /^(?:i|you) (?:can't|cannot|can) (?:see|find|remember|believe|imagine|know|recall|tell|understand|think|ignore)\b/,
  /\b(?:used to|back then|yesterday|last (?:week|month|year|time)|years ago|in the old days)\b/,
  /\b(?:takes|took|has been|had|costs|fails|failed|runs|ran|lasted|lasts|leaves|was|were)\b.{0,30}\b(?:at most|at least|no more than|less than|fewer than|under|below|within|before|in \d{4})\b/,
  /\b(?:doctor|teacher|boss|manager|friend|mother|father|brother|sister|colleague|he|she|they|someone) (?:said|told|says|thinks|thought|claims)\b|^(?:he|she|they) /,
  /^there (?:is|are|was|were|has|have)\b/,
  /^(?:that's|this is|it's|it is) (?!important|essential|crucial|forbidden|off|not allowed)/,
  /^(?:only|all|any|every|no|nobody|none|each)\b.{0,40}\b(?:failed|answered|passed|worked|was|were|did|went|came|arrived|left|broke)\b/,
]
