import type { Grammar } from './grammar.ts'

export const SPANISH: Grammar = {
  words:
    'si tienes cuando puedes quieres recuerda deja escribe responde trabaja pregunta pregúntame prefiere presupuesto el la los las un una de del al en con sin para por que y o no nunca jamás siempre solo sólo yo mi tu te me se lo es está están debe deben debes cada todo todos todas ningún ninguna antes usa utiliza evita prefiero quiero hasta mientras',
  rules: [
    // Scope
    '\\b(?:de (?:ahora|aquí|hoy) en adelante|en adelante|en lo sucesivo|a partir de (?:ahora|hoy|mañana|este)|desde ahora|en el futuro|hasta nuevo aviso|bajo ning[úu]na? \\p{L}+|en ning[úu]n (?:caso|momento)|por ning[úu]n (?:motivo|concepto)|por defecto|en todo momento|pase lo que pase|a menos que|salvo que|como norma|por norma)\\b',
    '\\b(?:mientras|hasta que) (?:no )?(?:yo )?(?:no )?(?:te|se|os)? ?(?:diga|avise|indique|confirme|apruebe)\\b|\\b(?:el resto de|toda) (?:la|esta) (?:sesión|conversación)\\b',
    // Orders that are general by their verb
    '^(?:por favor,? |y |pero |también )*(?:evita|evite|respeta|respete|procura|procure|prefiere|asegúrate|asegúrese|recuerda|recuerde|ten (?:en cuenta|presente|cuidado)|no olvides|limítate|cíñete|atente|abstente|trátame|tutéame|llámame|háblame|mantén|mantenga|considera|sigue (?:siempre )?(?:las|los|la|el|nuestr\\p{L}+)|deja de|para de)\\b',
    '\\bdej(?:a|e|ad)\\b.{2,60}?\\b(?:como est|tal (?:cual|como)|en paz|intact|sin (?:cambios|modificar|tocar)|quiet)',
    '^(?:por favor,? |y |pero )*(?:usa|use|utiliza|utilice|emplea|escribe|escriba|responde|responda|contesta|habla|trabaja|trabaje|pon|ponga|redacta|indica|muestra|muéstrame|ejecuta|prueba|redondea|nombra|guarda|documenta|haz)\\b.{0,60}?\\b(?:siempre|solo|sólo|solamente|únicamente|en (?:lugar|vez) de|nunca|en todas partes|antes de cada|después de cada|en cada|cada vez|en (?:español|inglés|francés|alemán)|sin|todos los|todas las)\\b',
    // Prohibitions
    '^(?:por favor,? |y |pero |también )*(?:nunca|jamás) (?!he |ha |han |hemos |había|fui|vi |tuve)\\p{L}+|^(?:por favor,? |y |pero )*no (?:se (?:debe|puede|permite|admite|acepta|hace|hacen|\\p{L}+a|\\p{L}+e|\\p{L}+an|\\p{L}+en)\\b.{3,}|(?:me |te |lo |la |le |les |los |las )?\\p{L}+(?:as|es|áis|éis)\\b|quiero|toque|use|borre|cambie|envíe|haga|suba|modifique|escriba|publique|incluya|añada|agregue|instale)\\b',
    '\\b(?:está|están|queda|quedan) (?:terminantemente |totalmente )?(?:prohibid|permitid|autorizad)|\\bprohibido\\b|\\bes (?:obligatorio|imprescindible|importante|esencial|fundamental) (?:que|no)?',
    '^(?:ningún|ninguna|nada|nadie|cero|sin) (?!(?:problema|duda|idea|prisa)\\b).{3,}',
    // Ask first
    '\\b(?:pregúntame|pregunta|pregunte|consúltame|consulta|avísame|avisa|espera|pídeme|pide|muéstrame|enséñame|confirma)\\b.{0,50}?\\b(?:antes|primero|mi (?:aprobación|permiso|visto|confirmación|ok)|confirmación|permiso)\\b|\\bsin (?:mi|nuestr\\p{L}+|preguntar|consultar|avisar|permiso|autorización)\\b',
    '^antes de .{2,60}?,? (?:pregunta|pregúntame|consulta|consúltame|avisa|avísame|muéstrame|pide|ejecuta|comprueba)',
    '^(?:si|cuando) (?:tienes (?:alguna )?dudas?|no (?:estás|sabes)|dudas)\\b|^(?:en caso de|ante la) duda',
    // Norms
    '\\blo que (?:yo )?te (?:cuento|digo|cuente|diga|mando|comparto)\\b.{0,40}?\\b(?:confidencial|entre nosotros|secreto|privado)\\b|\\bqueda entre nosotros\\b',
    '\\b(?:mándame|envíame|dame|prepárame|escríbeme|manda|envía|prepara)\\b.{0,50}?\\bcada (?:lunes|martes|miércoles|jueves|viernes|día|mañana|semana|mes)\\b',
    '^(?!(?:eso|esto|él|ella|ellos|ello)\\b).{0,70}?\\b(?:debe|deben|deberá|deberán|debes|deberás|tiene que|tienen que|tienes que|hay que|no puede|no pueden|no puedes|no debe|no deben)\\b',
    '^(?:cada|tod[oa]s? (?:los |las |el |la )?|ning[úu]na? ?) ?.{2,60}?\\b(?:necesita|necesitan|requiere|requieren|lleva|llevan|pasa por|va|van)\\b',
    '^(?:solo|sólo|solamente|únicamente) (?!(?:quería|pasa|ocurre|sucede|funciona|falla|es|era|hay|tengo|falta)\\b)(?:yo|\\p{L}+) .{0,20}?\\b(?:\\p{L}+o|puede|pueden|aprueba|decide|autoriza|puedo)\\b',
    '^(?:en este (?:proyecto|repo\\p{L}*)|aquí),? .{2,60}?\\b(?:nunca|siempre|solo|no)\\b|^(?:usamos|trabajamos|escribimos|desplegamos|soportamos)\\b.{0,40}?\\b(?:siempre|solo|sólo|nunca)\\b',
    '^[^,]{3,50}, siempre (?:en|con|como|a|al)\\b|^(?:las|los|el|la) .{2,40}? van (?:siempre )?(?:en|con|a|al)\\b|^(?:las|los) [^,]{2,40}? siempre (?:en|con|como)\\b',
    // Preferences
    '\\b(?:prefiero|quiero (?:que|solo|siempre|respuestas|ver (?:siempre|todos|todas|cada))|no quiero|me gustar[íi]a que|exijo|insisto en|no me gustan|no me gusta (?:que|cuando))\\b',
    // Budgets and deadlines
    '\\b(?:puedes|puede) .{0,30}?\\bhasta\\b.{0,20}?\\d|\\bcomo muy tarde\\b|^(?:escribe|redacta|responde) .{2,50}? en (?:español|inglés|francés|alemán)\\b',
    '\\b(?:presupuesto|límite|tope|plazo|fecha (?:límite|tope))\\b.{0,50}?\\d|\\b(?:como máximo|máximo|no más de|a más tardar|como mucho|al menos)\\b.{0,30}?(?:\\d|\\b(?:lunes|martes|miércoles|jueves|viernes|dos|tres|cuatro|cinco|diez)\\b)',
  ],
  others: [
    '\\b(?:me|nos|le|les) (?:dijo|dijeron|contó|comentó|pidió)\\b|\\b(?:dice|dicen|afirma|cree) que\\b|\\bsegún\\b',
    '\\b(?:ayer|antiguamente|hace (?:un|dos|tres|\\d+)|la semana pasada|el año pasado)\\b|^antes (?:nunca|siempre|no)\\b|\\b(?:estaba|estaban|era|eran|había|habían|fue|fueron|quería|tenía|redujo|venció|pasó)\\b',
    '\\bno te preocupes\\b|\\bno (?:hay|pasa nada|sé|entiendo|importa|funciona|puedo|tengo|es eso)\\b|\\bsin (?:problema|duda)\\b',
    '^(?:el|la|mi|su|los|las|este|esta|un|una) [\\p{L}-]+(?: [\\p{L}-]+){0,2}? (?:siempre|nunca|solo|casi siempre) (?:se |me |le )?\\p{L}+(?!.*\\b(?:debe|deben)\\b)',
    '^la api\\b|\\bdebe(?:n)? (?:ser (?:el|la|un|una|por)|haber|estar (?:en|roto))\\b|^(?:solo|sólo) (?:quería|pasa|ocurre|sucede)\\b',
  ],
}
