export const ITALIAN_CUES: string = `
always:sempre,mai,ogni volta,ogni caso,nessun caso,nessun motivo,nessuna circost*,di default,in general*,di norma,eccezio*,ovunque,dappert*,rigoros*,obbligatoriamente,tassati*,assolut*,qualunque cosa
every:tutto,tutta,tutti,tutte,ogni,niente,nulla,nessun*,qualsia*,qualunq*,qualcos*
only:solo,soltant*,solamen*,esclusi*,unicame*,invece,al posto,anziche,piuttos*,e non
dont:non *are,non *ere,non *ire,non *rre,non *arlo,non mi *are,non si *a,non si *ano,non si *e,non dev*,non va,non vanno,non puo,non poss*,smett*,evit*,cerca di non,guai,che non
not:non,senza,niente
henceforth:d ora in poi,d ora in avanti,da ora,da adesso,da oggi,da domani,a partire,in futuro,in avanti,nuovo ordine,questo progett*,il resto,fino a quando
unless:salvo,a meno,tranne,finche,altrime*
when:se,quando,ogni volta che,prima,prima di,dopo aver,non appena,in caso,dubbio
must:deve,devono,devi,bisogna,occorr*,serve,servono,necessi*,richied*,obbligatori*,va,vanno,resta,restano,rimane,rimango*,si scriv*,si usa*,si fa,passa per,passano per,passano da,ha bisogno,sia,siano,può,possono
forbidden:vietat*,proibit*,intocca*,cosi com*,come sono,riserva*,segret*,lettura,si tocca,le mani,alla larga,in pace,tra noi,invaria*
want:vogli*,vorrei,piacere*,desider*,aspetto,odio,gradire*,apprezz*,ti chiedo,meglio,assicur*,accerta*,ricord*,tieni present*,tieni conto,dimenti*,norma,cerca di,atten*,in modo,usiamo,lavoria*,nostro stile,dammi del,diamoci,chiamam*,si chiama,attieni*
keep:mantien*,tieni,lascia*,limit*,conserv*,sii,resta,rimani,tratta,firma,parla,arroton*,aspetta,attendi
use:usa,scriv*,rispond*,lavora*,aggiung*
ask:chied*,avvis*,avvert*,dimmi,dimmelo,dirmelo,permess*,mio ok,consens*,benesta*,conferm*,via libera,mostrami prima,mostrar*,sapere,con me,fermati
limit:non piu di,massim*,tetto,super*,sfor*,spend*,almeno,in più,in piu
than:piu di,meno di,al minuto,per,in totale,tra,sotto
due:scadenz*,data limite,piu tardi,entro,pront*,finit*,termina*,consegn*,non oltre
form:italian*,inglese,frances*,tedesco,tono,lingua,rientr*,spazi,elenc*,caratte*,maiusco*,minusco*,virgole*,apici,rispost*,cort*,semplic*,iva,unità
past:stato,stata,stati,era,erano,aveva*,ho,ha,hanno,abbiamo,hai,ieri,già,scors*,volevo,disse,*ava,*avano,*avamo,aver,sono *to,passata,capito,caduto
happens:funzion*,fallisc*,succede,costa,sembra,restitu*,stampa,lamenta,bolle,consent*,pieno,arriva,mostra,rotto,riavvia,c è,blocca
i:io,so,trovo,sto,posso,capisco
they:lui,lei,loro,suo,sua,colleg*,capo,fratell*,amico,gente,utenti,secondo,medico,qualcun*,dice,dicono,mio
it:quest*,quello,ciò
maybe:cosa,perche,come,quale,quali,chi,dove,quant*,puoi,potre*,hai chiesto,forse,magari,credo,penso,probabi*,deve aver,avess*,sarebbe,avremmo,non so,a volte,spesso,grazie,perfett*,ottimo,bene,ok,ciao,preoccu*,non importa,molto,come sempre
once:adesso,di nuovo,ancora,oggi,questa volta,per ora,momento,riga,prossim*,ultim*,passiam*,capitol*
do:aggiungi,correggi,sostituisci,vedere,pubblic*,corregg*,rinomin*,control*,guarda,apri,mostra*,trova,spiega,cancell*,elimina,esegui,traduci,riassum*,cambia,modific*,invia,prova,continu*,vai,crea,sposta,copia,leggi,confron*,install*,cerca,aggiorn*
thing:fras*,parole,righe,comment*,messagg*,nomi,date,prezzi,importi,numeri,ramo,tabelle,font*,dipende*,librer*
should:dovr*
be:è,sono,essere
skip:per favore,e,ma,anche
word:il,lo,la,i,gli,le,l,un,una,di,del,dei,d,o,in,nel,con,che,a,al,su,sul,file,cartell*,tu,ti,mi,piu,io approvo
`
