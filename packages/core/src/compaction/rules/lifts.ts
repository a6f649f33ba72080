/** Revokes an earlier rule. */
export const LIFTS: readonly RegExp[] = [
  /\b(?:you (?:can|may) (?:now|again)|(?:you|it['’]s|it is|that['’]s) (?:ok(?:ay)?|fine|allowed|free) (?:now )?to|now (?:you (?:can|may)|allowed)|no longer (?:applies|needed|necessary|holds|a rule|forbidden|off[- ]limits|frozen)|doesn['’]t apply any ?more|does not apply any ?more|forget (?:what i said|the rule|my rule|that rule|about (?:the|my))|ignore (?:what i said|my earlier|the earlier|my previous)|scratch that|drop the rule|rule is (?:off|lifted|gone)|i changed my mind|(?:is|are) (?:allowed|open|unfrozen|lifted) (?:again|now))\b/,
  /\b(?:du (?:darfst|kannst) (?:jetzt|wieder|nun)|gilt nicht mehr|vergiss (?:die regel|was ich)|ist wieder erlaubt|tu peux (?:maintenant|de nouveau)|vous pouvez (?:maintenant|de nouveau)|ne s['’]applique plus|ya puedes|ya no (?:aplica|vale)|agora (?:pode|você pode)|não vale mais|ora puoi|mag nu wel|geldt niet meer)(?!\p{L})/u,
  /(?:теперь можно|больше не действует|现在可以|不再适用|もう(?:いい|使ってもいい)|이제 (?:해도|사용해도))/u,
]
