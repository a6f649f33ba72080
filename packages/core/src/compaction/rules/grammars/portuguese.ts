import type { Grammar } from './grammar.ts'

export const PORTUGUESE: Grammar = {
  words:
    'se tiver quando pode escreva responda trabalhe pergunte prefira orçamento lembre o os a as um uma de do da dos das no na nos nas em com sem para por que e não nunca jamais sempre só somente apenas eu meu minha me se é está estão deve devem cada todo todos todas nenhum nenhuma antes até use evite prefiro quero tudo enquanto você',
  rules: [
    '\\bo que (?:eu )?(?:te|lhe) (?:conto|digo|contar|disser|mando)\\b.{0,40}?\\b(?:confidencial|entre nós|segredo|sigiloso)\\b|\\bfica entre nós\\b',
    '\\b(?:mande|envie|prepare|escreva|me dê|faça)\\b.{0,50}?\\b(?:toda|todo|cada|todas as|todos os) (?:segunda|terça|quarta|quinta|sexta|dia|dias|manhã|semana|mês)',
    '\\b(?:de agora em diante|daqui (?:em diante|para a frente|pra frente)|a partir de (?:agora|hoje|amanhã|já)|no futuro|até segunda ordem|em (?:hipótese|circunstância) (?:alguma|nenhuma)|em nenhum(?:a)? (?:caso|hipótese|momento|circunstância)|sob nenhuma|de jeito nenhum|por padrão|o tempo todo|a menos que|salvo se|a não ser que|como regra|em todo momento)\\b',
    '\\b(?:enquanto|até que?) (?:eu )?(?:não )?(?:te |lhe )?(?:disser|diga|avisar|avise|confirmar|mandar|autorizar)\\b|\\bpelo resto d',
    '^(?:por favor,? |e |mas |também )*(?:evite|evita|respeite|respeita|procure|prefira|certifique-se|garanta|lembre(?:-se)?|tenha (?:em mente|cuidado)|não (?:se )?esqueça|limite-se|atenha-se|abstenha-se|trate|chame-me|me chame|mantenha|mantém|considere|siga|pare de)\\b',
    '\\bdeix(?:e|a|em)\\b.{2,60}?\\b(?:como está|como estão|em paz|intact|sem (?:mudanças|alterar|mexer)|do jeito que|quiet)',
    '^(?:por favor,? |e |mas )*(?:use|usa|utilize|escreva|escreve|responda|responde|fale|trabalhe|coloque|redija|indique|mostre|rode|execute|teste|arredonde|nomeie|guarde|documente|faça)\\b.{0,60}?\\b(?:sempre|só|somente|apenas|unicamente|em vez de|ao invés de|nunca|em todo lugar|antes de cada|depois de cada|em cada|toda vez|em (?:português|inglês|espanhol)|sem|todos os|todas as)\\b',
    '^(?:por favor,? |e |mas |também |você )*(?:sempre \\p{L}+(?:e|a|r)\\b|(?:nunca|jamais) (?!vi |tive |fui |ouvi |pensei |houve )\\p{L}+|não (?!(?:sei|há|tem|é|foi|está|entendo|funciona|importa|posso|consigo|quero saber)\\b)(?:me |se |o |a )?\\p{L}+(?:e|a|em|am)\\b.{2,})',
    '\\b(?:é|está|fica|são) (?:terminantemente |expressamente )?(?:proibid|permitid|vedad|obrigatóri)|\\bé (?:importante|essencial|fundamental|imprescindível) (?:que|não)?',
    '^(?:nenhum|nenhuma|nada|ninguém|zero|sem) (?!(?:problema|problemas|dúvida|ideia|pressa|chance)\\b).{3,}',
    '\\b(?:pergunte|me pergunte|pergunta|consulte|me consulte|avise|me avise|espere|peça|me mostre|mostre|confirme)\\b.{0,50}?\\b(?:antes|primeiro|minha (?:aprovação|permissão|confirmação)|confirmação|permissão)\\b|\\bsem (?:a )?(?:minha|meu|nossa|perguntar|consultar|avisar|permissão|autorização)\\b',
    '^antes de .{2,60}?,? (?:pergunte|me pergunte|consulte|avise|me avise|mostre|peça|rode|confirme)|^(?:se|quando) (?:tiver|tiveres|você tiver|não (?:tiver|souber|estiver)|estiver em) .{0,20}?(?:dúvida|certeza|como)|^(?:em caso de|na) dúvida',
    '^(?!(?:isso|isto|ele|ela|eles)\\b).{2,70}?\\b(?:deve|devem|deverá|deverão|tem que|têm que|tem de|precisa estar|precisam|precisa ser|não pode|não podem|não deve|não devem)\\b',
    '^(?:cada|tod[oa]s? (?:os |as |o |a )?) ?.{2,60}?\\b(?:precisa|precisam|requer|requerem|exige|deve|devem|passa por|vai)\\b',
    '^(?:só|somente|apenas) (?!(?:queria|acontece|ocorre|funciona|falha|é|era|há|tenho|falta)\\b)(?:eu|\\p{L}+) .{0,20}?\\b(?:\\p{L}+o|pode|podem|aprova|decide|autoriza|posso)\\b',
    '^(?:neste (?:projeto|repo\\p{L}*)|aqui),? .{2,60}?\\b(?:nunca|sempre|só|não)\\b|^(?:usamos|trabalhamos|escrevemos|suportamos)\\b.{0,40}?\\b(?:sempre|só|apenas|nunca)\\b',
    '^[^,]{3,50}, sempre (?:em|com|como|no|na)\\b|^(?:as|os) [^,]{2,40}? (?:sempre|devem ser|vão) (?:em|com|como|no|na)\\b',
    '\\b(?:prefiro|quero (?:que|só|sempre|respostas|ver (?:sempre|todos|todas|cada))|não quero|gostaria que|exijo|insisto|não gosto (?:de|que|quando))\\b',
    '\\bpode .{0,30}?\\baté\\b.{0,20}?\\d|^nada de \\p{L}+',
    '\\b(?:orçamento|limite|teto|prazo|data limite)\\b.{0,50}?\\d|\\b(?:no máximo|máximo|não mais (?:de|que)|o mais tardar|pelo menos|até)\\b.{0,30}?(?:\\d|\\b(?:segunda|terça|quarta|quinta|sexta|dois|três|quatro|cinco|dez)\\b)',
  ],
  others: [
    '\\b(?:me|nos|lhe) (?:disse|disseram|contou|falou|pediu)\\b|\\b(?:diz|dizem|afirma|acha) que\\b|\\b(?:segundo|de acordo com|conforme) (?:o|a|os|as)\\b',
    '\\b(?:ontem|antigamente|há (?:um|dois|três|\\d+)|semana passada|ano passado)\\b|^antes (?:nunca|sempre|não|a gente)\\b|\\b(?:estava|estavam|era|eram|tinha|tinham|foi|foram|queria|havia|cortado|passou|acabou)\\b',
    '\\bnão (?:se preocupe|te preocupes|há|tem problema|sei|entendo|importa|funciona|posso|consigo|era)\\b|\\bsem (?:problema|problemas|dúvida)\\b|\\bobrigad[oa]\\b',
    '^(?:o|a|meu|minha|seu|sua|os|as|este|esta|um|uma) [\\p{L}-]+(?: [\\p{L}-]+){0,2}? (?:sempre|nunca|só) (?:se |me )?\\p{L}+(?!.*\\b(?:deve|devem)\\b)',
    '^a api\\b|\\bdeve(?:m)? (?:ser (?:o|a|um|uma|por)|ter sido|haver)\\b|^(?:só|somente) (?:queria|acontece|ocorre)\\b|\\bnunca (?:vi|tive|fui|ouvi)\\b',
  ],
}
