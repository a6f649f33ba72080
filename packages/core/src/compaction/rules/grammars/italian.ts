import type { Grammar } from './grammar.ts'

export const ITALIAN: Grammar = {
  words:
    'ogni mandami inviami dammi mantieni se hai quando puoi scrivi rispondi lavora chiedi avvisami ricorda il lo la i gli le l un una di del della dei delle al alla nel nella in con senza per da che e non mai sempre solo soltanto io mio mia mi ti si è sono deve devono ogni tutto tutti tutte nessun nessuno nessuna prima usa evita preferisco voglio entro finché lascia chiedimi d budget',
  rules: [
    '\\b(?:quello|ciò|tutto) che ti (?:dico|racconto|mando)\\b.{0,40}?\\b(?:riservat|confidenzial|segret|tra noi)|\\b(?:resta|rimane) tra noi\\b',
    '\\b(?:mandami|inviami|dammi|preparami|scrivimi|manda|invia|prepara)\\b.{0,50}?\\bogni (?:lunedì|martedì|mercoledì|giovedì|venerdì|giorno|mattina|settimana|mese)',
    "\\b(?:d['’]ora in (?:poi|avanti)|da (?:ora|adesso|oggi) in (?:poi|avanti)|a partire da (?:ora|oggi|adesso|domani)|in futuro|fino a nuovo ordine|in nessun caso|per nessun motivo|a nessun costo|in ogni caso|per impostazione|di default|come regola|di norma|salvo|a meno che|per tutto il resto)\\b",
    '\\b(?:finché|fino a quando|fintanto che) (?:io )?(?:non )?(?:te lo |ti |lo )?(?:dico|dica|dirò|avviso|confermo|autorizzo)\\b',
    '^(?:per favore,? |e |ma |anche )*(?:evita(?:te)?|rispetta(?:te)?|cerca di|preferisci|assicurati|ricorda(?:ti)?|tieni (?:presente|conto|a mente)|non dimenticare|limitati|attieniti|astieniti|dammi del|chiamami|mantieni|considera|tratta|segui|smetti(?:la)? di|fai attenzione|bada)\\b',
    '\\blasci(?:a|ate|are)\\b.{2,60}?\\b(?:così com|come (?:è|sono)|in pace|intatt|invariat|stare|senza)',
    '^(?:per favore,? |e |ma )*(?:usa(?:te)?|utilizza|scrivi|rispondi|parla|lavora|metti|redigi|indica|mostra(?:mi)?|esegui|testa|prova|arrotonda|nomina|salva|documenta|fai)\\b.{0,60}?\\b(?:sempre|solo|soltanto|esclusivamente|unicamente|invece (?:di|che)|al posto|mai|ovunque|prima di ogni|dopo ogni|a ogni|ogni volta|in (?:italiano|inglese|francese|tedesco)|senza|tutti i|tutte le)\\b',
    '^(?:per favore,? |e |ma |mai |anche )*(?:non (?:\\p{L}+(?:are|ere|ire|rre)|si (?:deve|può|fa|fanno|\\p{L}+a|\\p{L}+e|\\p{L}+ano|\\p{L}+ono))\\b|mai \\p{L}+|non voglio|sempre \\p{L}+)',
    '\\b(?:è|sono|resta|rimane) (?:severamente |assolutamente )?(?:vietat|proibit|consentit|permess|obbligatori)|\\bvietato\\b|\\bè (?:importante|essenziale|fondamentale|indispensabile) (?:che|non)?',
    '^(?:nessun|nessuna|nessuno|niente|nulla|zero|senza) (?!(?:problema|dubbio|idea|fretta|paura)\\b).{3,}',
    '\\b(?:chiedi(?:mi)?|chiedete(?:mi)?|consulta(?:mi)?|avvisa(?:mi)?|avverti(?:mi)?|aspetta|mostrami|conferma)\\b.{0,50}?\\b(?:prima|il mio (?:permesso|consenso|ok|benestare)|la mia (?:approvazione|conferma)|conferma|permesso)\\b|\\bsenza (?:il mio|la mia|il nostro|chieder\\p{L}*|avvisar\\p{L}*|permesso|autorizzazione|approvazione)\\b',
    '^prima di .{2,60}?,? (?:chiedi(?:mi)?|consulta(?:mi)?|avvisa(?:mi)?|mostrami|esegui|controlla|conferma)|^(?:se|quando) (?:hai (?:dei |qualche )?dubb|non (?:sei sicur|sai))|^(?:in caso di|nel) dubbio',
    '^(?!(?:ciò|questo|quello|lui|lei|esso)\\b).{2,70}?\\b(?:deve|devono|dovrà|dovranno|devi|dovrai|bisogna|occorre|non può|non possono|non puoi|vanno (?:scritt|mess|fatt|sempre|in|nel)\\p{L}*|va (?:scritt|mess|fatt|sempre|in|nel)\\p{L}*)\\b',
    '^(?:ogni|tutt[ie] (?:i |gli |le )?|ciascun\\p{L}*) ?.{2,60}?\\b(?:richiede|richiedono|ha bisogno|necessita|deve|devono|passa|passano|va|vanno)\\b',
    '^(?:solo|soltanto|solamente) (?!(?:volevo|succede|capita|quando|funziona|è|era|c)\\b)(?:io|\\p{L}+) .{0,20}?\\b(?:\\p{L}+o|può|possono|approva|decide|autorizza|posso)\\b',
    '^(?:in questo (?:progetto|repo\\p{L}*)|qui),? .{2,60}?\\b(?:mai|sempre|solo|non)\\b|^(?:usiamo|lavoriamo|scriviamo|supportiamo)\\b.{0,40}?\\b(?:sempre|solo|mai)\\b',
    '^[^,]{3,50}, sempre (?:in|con|come|a|al)\\b|^(?:le|i|gli) [^,]{2,40}? sempre (?:in|con|come|nel)\\b',
    '\\b(?:preferisco|voglio (?:che|solo|sempre|risposte|vedere (?:sempre|tutti|tutte|ogni))|non voglio|vorrei che|esigo|pretendo|non mi piacciono|non mi piace (?:che|quando))\\b',
    '\\bpuoi .{0,30}?\\bfino a\\b.{0,20}?\\d|^niente \\p{L}+',
    '\\b(?:budget|limite|tetto|scadenza|termine)\\b.{0,50}?\\d|\\b(?:al massimo|massimo|non più di|al più tardi|entro|almeno)\\b.{0,30}?(?:\\d|\\b(?:lunedì|martedì|mercoledì|giovedì|venerdì|domani|due|tre|quattro|cinque|dieci)\\b)',
  ],
  others: [
    '\\b(?:mi|ci|gli) (?:ha|hanno|aveva) (?:detto|chiesto|raccontato)\\b|\\b(?:dice|dicono|afferma|crede) che\\b|\\bsecondo (?:il|la|i|le|l)\\b',
    "\\b(?:ieri|una volta|in passato|l['’]anno scorso|la settimana scorsa)\\b|\\b(?:era|erano|aveva|avevano|è stat[oa]|sono stat[ie]|volevo|fu|tagliato)\\b|\\bpassat[oa][.!]*$",
    "\\bnon (?:preoccuparti|preoccuparvi|ti preoccupare|ho mai|abbiamo mai|ha mai|so|capisco|importa|funziona|posso|c[’']è|è)\\b|\\bnessun (?:problema|dubbio)\\b|\\bgrazie\\b",
    "^(?:il|lo|la|mio|il mio|la mia|i|gli|le|questo|questa|un|una|l['’]) ?[\\p{L}-]+(?: [\\p{L}-]+){0,2}? (?:non (?:si )?\\p{L}+ mai|\\p{L}+ sempre|\\p{L}+ solo)\\b(?!.*\\b(?:deve|devono)\\b)",
    "^l['’]api\\b|\\bdev(?:e|ono) (?:essere (?:il|la|un|una|per)|esserci|aver)\\b|^(?:succede|capita|volevo)\\b",
  ],
}
