import type { Grammar } from './grammar.ts'

export const GERMAN: Grammar = {
  words:
    'antworte abgabe schreib vertraulich der die das den dem ein eine einen einer einem und du ich wir mich mir dir bitte nicht nichts kein keine keinen nie niemals immer stets nur auf für mit von bei vor bis zu im in am an ab als ohne alle jede jeder jedes jeden unsere meine wird werden ist sind darf dürfen muss müssen soll sollen achte vermeide verzichte halte',
  rules: [
    // Scope
    '\\b(?:ab (?:jetzt|sofort|heute|morgen|nun)|von (?:jetzt|nun|heute) an|künftig|zukünftig|in zukunft|fortan|fürderhin|bis auf weiteres|bis auf widerruf|unter keinen umständen|auf (?:gar )?keinen fall|keinesfalls|niemals|ausnahmslos|durchgehend|grundsätzlich|prinzipiell|standardmäßig)\\b',
    '\\b(?:solange|bis) ich (?:dir |euch |es |dir es )?(?:nichts anderes|nicht|das gegenteil|etwas anderes|anders)',
    '\\b(?:sofern|wenn) nicht anders\\b|\\bes sei denn\\b',
    // Orders that are general by their verb
    '^(?:\\S+ ){0,2}?(?:bitte )?(?:vermeide|verzichte|unterlasse?|meide|beachte|respektiere|bevorzuge|behandle|achte (?:bitte )?(?:immer |stets )?(?:darauf|auf)|halte dich|haltet euch|stell\\p{L}* sicher|sorge? (?:bitte )?dafür|denk\\p{L}* (?:bitte )?(?:immer )?(?:daran|dran)|vergiss (?:bitte )?nicht|merk\\p{L}* dir|duze?|sieze?|nenne? mich|sprich mich|beschränke? dich|orientiere? dich|richte dich|bleib\\p{L}* (?:bitte )?(?:bei|im|auf|unter))\\b',
    '\\blass\\p{L}*\\b.{2,60}?\\b(?:unverändert|unangetastet|unberührt|in (?:ruhe|frieden)|so,? wie|wie (?:sie|er|es) (?:sind|ist)|liegen|stehen)\\b',
    '^(?:bitte )?(?:nutze?|verwende?|benutze?|nimm|schreib\\p{L}*|antworte|arbeite|formuliere|halte?|gib|mach\\p{L}*|führ\\p{L}*|zeig\\p{L}*|lege?|speicher\\p{L}*|committe|fass dich|fasse dich)\\b.{0,60}?\\b(?:immer|stets|nur|kein\\p{L}*|ausschließlich|statt|anstatt|anstelle|kurz|kürzer|jeweils|überall|vor jedem|vor jeder|nach jedem|nach jeder|bei jedem|bei jeder|in allen|für alle|auf (?:deutsch|englisch|französisch)|knapp|prägnant|sachlich|höflich|ohne)\\b',
    '^(?:bitte )?\\p{L}+(?:e|st|t)?\\b.{0,40}?\\b(?:niemals|keinesfalls|auf keinen fall)\\b',
    '\\b(?:fasst|antwortest|schreibst|arbeitest|nutzt|verwendest|fragst|machst|löschst|änderst|pushst|committest) du\\b.{0,60}?\\b(?:nur|immer|nie|nicht|kein\\p{L}*|kürzer|kurz|stets)\\b',
    '\\bdu (?:arbeitest|nutzt|verwendest|schreibst|antwortest|fragst|machst|darfst|sollst|musst)\\b.{0,60}?\\b(?:nur|immer|nie|niemals|nichts?|kein\\p{L}*|stets|vorher|ausschließlich)\\b',
    // Ask first
    '\\b(?:frag|frage|fragt|sprich|klär|kläre|melde|warte|informier\\p{L}*|konsultier\\p{L}*|hol\\p{L}*)\\b.{0,60}?\\b(?:vorher|bevor|zuerst|erst|rücksprache|lieber|freigabe|zustimmung|erlaubnis|okay)\\b',
    '\\b(?:bevor|ehe) du\\b|\\bvor jede[mr]\\b.{2,60}?\\b(?:gefragt|informiert|frag\\p{L}*|prüf\\p{L}*|lauf\\p{L}*|test\\p{L}*|zeig\\p{L}*|sicher\\p{L}*)',
    '^vor (?:dem|der|jede\\p{L}*)\\b.{2,60}?\\b(?:du|frag\\p{L}*|hol\\p{L}*|prüf\\p{L}*|zeig\\p{L}*|freigabe|okay)\\b',
    '^(?:wenn|falls) du (?:dir )?(?:unsicher|nicht sicher|zweifel|fragen)|^im zweifel',
    // Without a verb
    '^(?:bitte )?(?:kein|keine|keinen|keinerlei|nichts)\\b(?! (?:problem|ahnung|sorge|sorgen|idee|zeit|lust|chance|angst|wunder|stress|eile|frage|thema|panik|plan|ursache|davon|mehr zu))(?!.*\\b(?:ist|sind|war|waren|hat|haben|hatte|wurde|wurden|geht|ging|hilft|half|gibt|gab)\\b)',
    '^(?!(?:der|die|das|er|sie|es|ich|wir|mein|meine|unser|unsere|warum|wieso|wer|was)\\b)[\\p{L}-]+(?: [\\p{L}-]+){0,4}? (?:immer|stets|nur|ausschließlich|grundsätzlich) (?:auf|in|im|mit|als|ohne|netto|brutto|nach|per|über|\\p{L}+ \\p{L}+en$|\\p{L}+en$)',
    // Norms
    '\\b\\p{L}+st du (?:nie|niemals|immer|nur|stets|nichts?)\\b|^(?!(?:ich|wir|du|er|sie|das|der|die)\\b)[\\p{L}-]+ (?:brauchen|benötigen) ',
    '\\bbleib(?:t|en)\\b.{0,20}?\\b(?:unter uns|vertraulich|geheim|intern)\\b|^(?:bitte )?sprich .{2,40} an[.!]*$',
    '\\b(?:brauche|möchte|will|schick\\p{L}*|sende?|gib|mach)\\b.{0,40}?\\bjede[nsr]? (?:\\p{L}+tag|mittwoch|tag|morgen|abend|woche|monat|stunde)\\b',
    '^(?:alle|jede[rsn]?|sämtliche|niemand|keiner|nur) .{2,80}?\\b(?:müssen|muss|dürfen|darf|sollen|soll|brauchen|braucht|benötigt|benötigen|entscheide\\p{L}*|genehmigt?|gibt|gebe|freigeben)\\b',
    '\\b(?:dürfen|darf|müssen|muss|sollen|soll)\\b.{0,80}?\\b(?:nichts?|nie|niemals|kein\\p{L}*|nur|immer|spätestens|höchstens|fertig|vorher|anonymisiert|bis)\\b',
    '\\bgehör(?:t|en) (?:nicht|nie|niemals|nur|ausschließlich|immer|in|ins)\\b',
    '\\b(?:wird|werden)\\b.{0,40}?\\b(?:nichts?|nie|niemals|nur|kein\\p{L}*|immer|ausschließlich|grundsätzlich)\\b.{0,40}?\\p{L}+(?:t|en)[.!]*$',
    '^wir (?:verwenden|nutzen|benutzen|schreiben|deployen|committen|arbeiten|machen|unterstützen|akzeptieren|erlauben|speichern|duzen|siezen)\\b.{0,60}?\\b(?:nur|immer|nie|niemals|nichts?|kein\\p{L}*|grundsätzlich|ausschließlich|stets)\\b',
    '\\b(?:nicht erlaubt|nicht gestattet|untersagt|verboten|tabu|unzulässig|pflicht|zwingend)\\b',
    '\\bdu hast (?:kein|keine|keinen|nicht)\\b.{0,20}?\\b(?:recht|erlaubnis|zugriff)',
    // Preferences
    '^ich (?:bevorzuge|ziehe .{2,60} vor|wünsche mir|lege wert|bestehe|hätte (?:es )?(?:gern|lieber)|mag (?:es )?(?:lieber|kein\\p{L}*)|(?:möchte|will) .{0,40}?\\b(?:kein\\p{L}*|nicht|immer|nur|nie|jede\\p{L}*|gefragt|informiert|vorher)\\b)',
    // Budgets and deadlines
    '\\b(?:nicht (?:mehr )?drin|nicht verhandelbar|hat (?:immer )?(?:vorrang|priorität))\\b|\\b(?:darfst|kannst) .{0,30}?\\b(?:bis zu|höchstens|maximal)\\b.{0,20}?\\d',
    '\\b(?:budget|limit|obergrenze|frist|abgabe\\p{L}*|stichtag|deadline)\\b.{0,50}?\\d',
    '\\b(?:höchstens|maximal|nicht mehr als|mindestens|spätestens|bis zu)\\b.{0,30}?(?:\\d|\\b(?:ein|zwei|drei|vier|fünf|sechs|zehn)\\p{L}*|\\p{L}+tag\\b|mittwoch|morgen)',
  ],
  others: [
    '\\b(?:hat|haben|hatte|hab) (?:mir|uns|ihm|ihr|er|sie)?\\s*(?:\\p{L}+ ){0,3}(?:gesagt|erzählt|gemeint|geschrieben)\\b|\\bmir gesagt\\b|\\b(?:sagt|sagte|meint|meinte|behauptet|schreibt), ?',
    '\\b(?:laut|gemäß|zufolge)\\b|\\bdoku\\p{L}* (?:sagt|steht)\\b',
    '\\b(?:früher|damals|gestern|vorgestern|letzte[nrs]? (?:woche|monat|jahr|mal)|leider|bereits|schon (?:fertig|vorbei|abgelaufen)|noch nie)\\b',
    '^(?:er|sie|es|das|dies|der|die|mein|meine|unser|unsere|sein|ihr) (?:[\\p{L}-]+ ){0,3}?\\p{L}+t (?:\\p{L}+ )?(?:immer|nie|niemals|nur|nicht|kein\\p{L}*|höchstens|maximal)\\b',
    '\\b(?:war|waren|wurde|wurden|hatte|hatten|konnte|wollte|gab)\\b(?!.*\\b(?:darfst|sollst|musst|bitte)\\b)',
    '^(?:danke|ok|okay|super|gut),? .*\\bich\\b',
    '\\b(?:ich habe?|wir haben|hab ich|keine sorge|kein problem|keine ahnung|mach dir)\\b',
    '\\bdie (?:api|schnittstelle|funktion|datei) (?:erlaubt|akzeptiert|liefert|gibt|muss laut|darf laut)',
  ],
}
