export const PORTUGUESE_CUES: string = `
always:sempre,nunca,jamais,toda vez,cada vez,todo momento,os casos,caso algum,nenhum caso,hipotes*,jeito nenhum,forma alguma,por padrao,em geral,regra geral,excec*,estrita*,obrigatoriamente,sem falta
every:tudo,todo,toda,todos,todas,cada,nada,ninguem,nenhum*,qualque*,quaisqu*
only:só,so,somente,apenas,em vez,em lugar,ao inves,no lugar,e não
dont:nao *e,nao *a,nao *es,nao *as,nao me *e,nao me *a,nao pode*,nao deve*,nao se *e,nao se *a,pare de,deixe de,que nao,evit*,procure nao,nada de,nem pense
not:nao,nem,sem
henceforth:de agora em diante,a partir,em diante,pra frente,para frente,por diante,doravan*,futuro,segunda ordem,neste projeto,este projeto,o resto,enquant*,o contrar*
unless:salvo,a menos,exceto,ate que
when:se,quando,sempre que,antes,antes de,depois de,assim que,em caso,caso,duvida,primeir*
must:deve,devem,dever*,tem que,tem de,têm que,temos que,precisa*,e preciso,requer*,obrigatori*,vai,vao,fica,ficam,passa por,passam por,leva,levam,vem,vêm,pode,podem,posso
forbidden:proibid*,intocav*,como esta,como estao,sigilo*,privado,leitura,vetado,longe,em paz,entre nos,compati*,mexe
want:prefir*,quero,queremo*,gostari*,desejo,espero que,preciso que,odeio,agradec*,certifi*,garant*,assegur*,lembr*,em mente,em conta,esqueca,norma,procure,tente,cuid*,atencao,trabalhamos,nosso estilo,combina*,me trate,me chame,me chamar,chamar de,se chama,melhor,respeit*,cumpra
keep:mante*,deixe,deixa,limite se,conserv*,seja,atenha*,fique,trate,assine,fale,arredon*,espere,aguarde
use:use,usar,utili*,escrev*,respond*,trabalh*,mencion*,documen*,rode,adicion*
ask:pergunt*,avise*,avisar,me diga,diga,me conte,aval,meu ok,consent*,sinal verde,me mostr*,comigo,peca
money:reais
limit:teto,orcamen*,ultrapa*,exced*,passar de,gastar,gaste,pelo menos
than:mais de,menos de,mais que,por,entre,abaixo
due:prazo,data limite,tardar,pront*,termina*,entreg*,ate
form:portugu*,ingles,frances,alemao,tom,idioma,lingua,recuo,espacos,topicos,maiuscu*,minuscu*,aspas,respost*,curt*,giria*,imposto*,unidade*
past:foi,foram,era,eram,estava*,havia,tinha*,disse,ontem,ja,passad*,queria,tive,houve,fiz,vi,caiu,entendi,consegu*,*aram,*eram,*iram,*ava,*avam,*avamos,*ou,*ei,esqueci*,usamos
happens:funcion*,falha*,acontec*,ocorre,reinici*,custa,parece,retorna,imprime,reclama,ferve,permite,cheio,chega,demora,ha,há
i:eu,sei,tenho,encontro,estou,entendo
they:ele,ela,eles,elas,seu,sua,colega,chefe,irmao,amigo,gente,usuario*,segundo,conform*,artigo,medico,alguem,diz,dizem,meu
it:isso,isto,esse,essa,este
maybe:nao se preocupe,o que,por que,como,qual,quais,quem,onde,quanto*,voce pode,pode ver,talvez,acho,penso,provave*,deve ter *ido,deve estar,teria,tivesse,seria,poderia,nao sei,as vezes,obrigad*,perfeit*,otimo,bem,ok,ola,preocup*,nao importa,muito,como sempre,erro*
once:agora,outra vez,de novo,novamen*,hoje,desta vez,momento,linha,seguint*,proxim*,ultim*,vamos,ainda
do:adicione,corrija,troque,ver,publiqu*,renomei*,olhe,veja,abra,mostre,encontr*,expliqu*,apague,remova,execute,traduza,resuma,mude,altere,modifiq*,mande,teste,continu*,va,crie,mova,copie,leia,compare,instale,procure,consert*
thing:frase*,palavra*,caracte*,linhas,comenta*,mensage*,nomes,variave*,datas,precos,valores,numeros,ramo,tabelas,fonte*,relator*,depend*,bibliot*
be:é,está,estao,estão,são,ser,estar
skip:por favor,e,mas,tambem
word:o,a,os,as,um,do,de,ou,em,no,na,nos,nas,com,para,que,arquivo*,pasta,banco,dados,voce,me,minha,eu posso
`
