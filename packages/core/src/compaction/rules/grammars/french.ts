import type { Grammar } from './grammar.ts'

export const FRENCH: Grammar = {
  words:
    'le la les l un une des du de d et tu je j on ne n pas jamais toujours plus que qui dans en au aux pour sur avec sans avant mon ma mes notre nos doit doivent est sont évite évitez laisse laissez utilise utilisez désormais il faut merci seul seule seuls aucun aucune',
  rules: [
    // Scope
    "\\b(?:désormais|dorénavant|à l['’]avenir|à partir (?:de (?:maintenant|demain|lundi|là)|d['’]aujourd|de ce (?:moment|jour))|en aucun cas|sous aucun prétexte|en toutes circonstances|jusqu['’]à nouvel ordre|sauf (?:si|indication|avis|mention|demande)|par défaut|en permanence|systématiquement|quoi qu['’]il arrive)\\b",
    "\\btant que je n\\b|\\bjusqu['’]à ce que je\\b|\\bpour (?:le reste|toute la durée) (?:de|du)\\b",
    // Orders that are general by their verb
    "^(?:s['’]il (?:te|vous) plaît,? |et |mais |surtout,? |merci de |prière de )*(?:évite[rz]?|respecte[rz]?|veille[rz]? à|privilégie[rz]?|préfère|assure[- ]toi|assurez[- ]vous|rappelle[- ]toi|souviens[- ]toi|n['’]oublie[rz]?|garde[rz]? (?:à l['’]esprit|en tête)|limite[- ]toi|contente[- ]toi|tiens[- ]toi|abstiens[- ]toi|tutoie|vouvoie|appelle[- ]moi|considère[rz]?|traite[rz]?|conserve[rz]?|reste[rz]?|suis|fais (?:attention|en sorte)|cesse[rz]?|arrête[rz]? de)\\b",
    "\\blaisse[rz]?\\b.{2,60}?\\b(?:tels? quels?|telles? quelles?|comme (?:il|elle|ils|elles|c['’])|intacte?s?|tranquilles?|de côté|en l['’]état)\\b",
    "^(?:s['’]il (?:te|vous) plaît,? |et |mais )*(?:utilise[rz]?|emploie|écri[ts]|écrivez|réponds|répondez|rédige[rz]?|parle[rz]?|travaille[rz]?|mets|mettez|garde[rz]?|donne[rz]?|indique[rz]?|arrondi[st]|lance[rz]?|montre[rz]?|teste[rz]?|nomme[rz]?|formate[rz]?)\\b.{0,60}?\\b(?:toujours|uniquement|seulement|exclusivement|plutôt|au lieu|partout|avant chaque|après chaque|à chaque|jamais|en (?:français|anglais|allemand|espagnol)|sans|tous les|toutes les|chaque)\\b",
    // Prohibitions
    "^(?:s['’]il (?:te|vous) plaît,? |et |mais |surtout,? |merci de |prière de )*(?:ne|n['’])\\b.{1,60}?\\b(?:jamais|pas|plus|rien|aucune?)\\b",
    "^(?:pas|plus|point) (?:de |d['’])(?!(?:problème|souci|soucis|panique|chance|quoi|stress|doute|soucis)\\b)(?!nouvelles[ .!]*$).{3,}|^(?:aucune?|zéro) (?!(?:idée|problème|souci|chance|doute)\\b)",
    "\\b(?:il est|c['’]est|sont|est) (?:strictement |formellement )?(?:interdite?s?|défendu|exclu|proscrite?s?|impératif|obligatoire|hors de question)\\b|\\binterdiction\\b",
    "\\btu n['’]as pas (?:le droit|l['’]autorisation)\\b|\\btu n['’]es pas autorisé|\\btu (?:dois|devras|ne dois|ne peux|peux (?:seulement|uniquement)|devrais toujours)\\b",
    '\\b(?:il (?:faut|ne faut|faudra)|il est (?:important|essentiel|crucial|indispensable) (?:de|que))\\b',
    // Ask first
    "\\b(?:demande[rz]?|préviens|prévenez|consulte[rz]?|avertis|pose[rz]?|attends|montre[rz]?)\\b.{0,40}?\\b(?:avant|d['’]abord|la question|mon (?:accord|feu vert|avis)|ma validation)\\b",
    "^avant (?:de|d['’]|chaque|toute?|que tu)\\b.{2,60}?,|\\bsans (?:mon|ma|notre|me|nous|l['’]accord|l['’]aval|autorisation|validation)\\b",
    "^(?:quand|si|lorsque) tu (?:n['’]es pas|as (?:un|des|le moindre)|hésites|doutes|ne sais pas)\\b|^en cas de doute",
    // Norms
    '\\b(?:reste|restent|demeure)\\b.{0,20}?\\b(?:entre nous|confidentie\\p{L}*|secre\\p{L}*)|^garde[rz]? (?:un|une|le|la|ton) (?:ton|style|langage|langue)\\b',
    '\\b(?:envoie|donne|prépare|fais|écris|envoyez|donnez)\\b.{0,50}?\\b(?:chaque|tous les) (?:lundi|mardi|mercredi|jeudi|vendredi|jour|matin|soir|semaine|mois)',
    '^(?!(?:ça|cela|ce|il|elle|ils|elles)\\b).{2,70}?\\b(?:doit|doivent|devra|devront|ne peut|ne peuvent)\\b',
    '^(?:chaque|tou(?:te)?s les|toute?|aucune?) .{2,60}?\\b(?:nécessite|exige|requiert|a besoin|doit|doivent|passe|passent)\\b',
    '^on ne \\p{L}+ (?:pas|jamais|rien|plus)\\b.{2,}|^on (?:utilise|écrit|déploie|travaille|garde|supporte)\\b.{0,40}?\\b(?:toujours|uniquement|seulement|que|jamais)\\b|^ici,? on\\b.{2,60}?\\b(?:jamais|toujours|pas|que)\\b',
    '^(?:seule?s?|uniquement|personne|rien) .{1,60}?\\b(?:peut|peuvent|valide|décide|approuve|autorise|ne|fusionne|déploie)\\b',
    '^(?:les|toutes les|tous les|le|la) [^,]{2,50}? (?:toujours|uniquement|exclusivement|jamais) (?:au|en|avec|dans|à|sous)\\b',
    // Preferences
    "\\bje (?:préfère|veux (?:que|toujours|voir|un|une|des)|ne veux (?:pas (?!te |vous |savoir |déranger )|plus|aucun|jamais|voir)|souhaite|tiens à|déteste|n['’]aime pas|refuse)\\b|\\bj['’](?:aimerais|exige|insiste|apprécierais)\\b",
    // Budgets and deadlines
    "\\btu peux .{0,30}?jusqu['’]à .{0,20}?\\d|\\b(?:au plus tard|dernier délai)\\b|\\b(?:format|en) \\p{L}+, (?:toujours|partout)",
    "\\b(?:budget|plafond|limite|délai|échéance|date limite)\\b.{0,40}?\\d|\\b(?:au maximum|maximum|au plus|pas plus de|au plus tard|au moins|d['’]ici)\\b.{0,30}?(?:\\d|\\b(?:lundi|mardi|mercredi|jeudi|vendredi|demain|deux|trois|quatre|cinq|dix)\\b)|\\b(?:deux|trois|quatre|cinq|dix|\\d+) \\p{L}+ (?:au plus|au maximum|maximum)\\b",
  ],
  others: [
    "\\bm['’]a (?:dit|demandé|conseillé)\\b|\\b(?:a|ont|avait) dit\\b|\\b(?:dit|disent|affirme|prétend|pense) qu(?:e|['’])|\\b(?:selon|d['’]après)\\b",
    "\\b(?:hier|autrefois|à l['’]époque|l['’]an dernier|la semaine dernière)\\b|^avant, |\\b(?:était|étaient|avait|avaient|fut|a été|ont été|travaillait|faisait)\\b|\\bpassée?s?[.!]*$",
    "^(?:je|j|nous|il|elle|on|ils) ?n['’](?:ai|avons|a|ont|avait) (?:jamais|pas|rien|plus)\\b",
    "\\bne (?:t['’]|vous )(?:inquiète|inquiétez|en fais)|\\bje ne (?:sais|comprends|vois|pense|suis|peux|crois|voulais)\\b|\\bce n['’]est\\b|\\bil n['’]y a\\b|^(?:ça|cela|ceci) n",
    "^(?:le|la|les|l['’]|mon|ma|mes|son|sa|ce|cette|il|elle|ils) ?[\\p{L}'’-]+(?: [\\p{L}'’-]+){0,3}? (?:ne|n['’])\\s?(?!doi|peu|devr)\\p{L}+ (?:se )?\\p{L}*\\s?(?:jamais|pas)\\b",
    "^(?:mon|ma|mes|son|sa|le|la|l['’]) ?[\\p{L}'’-]+ (?:se )?\\p{L}+ toujours (?!au |en |avec |sous )|^(?:l['’]|la |le )(?:api|serveur|fonction|fichier|système|service)\\b(?!.*\\b(?:doit|doivent|ne peut)\\b)",
    '\\bje voulais\\b|\\bseulement voir\\b',
  ],
}
