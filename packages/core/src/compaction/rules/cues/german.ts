export const GERMAN_CUES: string = `
always:immer,nie,niemals,stets,jedes mal,jedesma*,grundsa*,generel*,prinzip*,ausnahm*,durchg*,uberall,keinesf*,keinen fall,jeden fall,keinen umstand*,unbedin*,zwingen*
every:alle,allen,aller,alles,jede,jeder,jedes,jeden,jedem,samtlic*,jeglich*,nichts,niemand*,keiner,gesamte*
only:nur,nur noch,ausschl*,ledigli*,allein,statt,anstatt,anstell*
dont:nicht mehr,hor auf,lass das,darf nicht,durfen nicht,darfst nicht,darf kein*,durfen kein*,verzich*,vermeid*,sollst nicht,nicht an,nicht ohne
not:nicht,kein,keine,keinen,keinem,keinerl*,ohne,nix
henceforth:ab jetzt,ab sofort,von jetzt an,von nun an,ab heute,ab morgen,kunftig,zukunft*,fortan,bis auf weitere*,diesem projekt,dieses projekt,bis ich
unless:es sei denn,ausser,sonst,egal,solange
when:wenn,falls,sobald,bevor,ehe,vor jede*,nach jede*,bei jede*,im zweifel,zuerst,vorher,erst,unsiche*
must:muss,mussen,musst,soll,sollen,sollst,ist zu,sind zu,gehor*,brauch*,benotig*,bekomm*,erhalt,bleib*,gilt,gelten,pflicht,kommt,kommen,notig,wird,werden,darf,durfen,darfst
forbidden:verbote*,untersa*,finger weg,hande weg,unanget*,unveran*,unberuh*,wie er,wie sie,gesperr*,eingefr*,vertrau*,geheim,schreibgeschutzt,in ruhe,zu suchen,verlore*,kompati*,nur lesen,fern,unter uns
want:ich mochte,ich will,hatte gern*,wir wollen,wunsch*,bevorzu*,ich mag,mir ist,mir ware,wichtig,achte*,stell sicher,stelle sicher,sorg*,denk dran,denk daran,denke daran,merk*,vergiss nicht,beacht*,lieber,am liebste*,gern*,fur spater,ich hasse,wir verwend*,wir nutzen,wir schreib*,wir arbeite*,heisst,duz*,siez*,unser stil,an unsere
keep:halt,halte*,bleib,lass,lasst,nenn,nenne,behand*,begrenz*,beschra*,respekt*,sei,fass dich,sprich,ruhr,sag
use:verwend*,nutz*,schreib*,antworte*,arbeite*,gib,mach*,angeben,fass,pushe,losche
ask:frag*,nachfra*,ruckfra*,ruckspr*,absprac*,abstimm*,zustimm*,erlaubn*,genehmi*,freig*,frei,einvers*,mein ok*,grunes licht,beschei*,sag mir,melde dich,bestati*,zeigst du,zeig mir vorher,vorlege*,gefragt,gegenle*,meinen tisch,uber mich,an mich,mit mir,warn*
limit:nicht mehr als,hochste*,bis zu,mindest*,grenze,obergre*,ausgebe*,ubersch*,rahmen,liegt bei
than:mehr als,weniger als,unter,uber,kosten,pro,insgesa*,langer als,innerha*
due:frist,abgabe,termin,spatest*,fertig,fallig,bis zum,bis,bis ende
form:deutsch,englisc*,franzos*,stil,sprache,schreibweise,einruck*,leerzei*,stich*,kleinsc*,anfuhru*,antwort*,kurz*,knapp,formlic*,hoflich,anglizi*,abkurz*,netto,einheit*,metrisc*
past:war,waren,hat,habe,haben,hatte*,hast,wurde*,gestern,bereits,schon,letzte*,fruher,damals,gab,ging,kam,lief,dachte,wollte,meinte,sagte,gesagt,gesehen,verstan*,abgelau*,bin,nachges*
happens:funktio*,lauft,geht,klappt,schlagt,sturzt,startet,passier*,kostet,steht,scheint,sieht,meckert,erlaubt,zeigt,dauert,kocht,fehlt,liegt,kaputt,rot,langsam,spat,gibt es,nutzt,es gibt
i:ich,mir,mich
they:er,sie,ihr,ihm,man,chef*,kolleg*,bruder,schwest*,vater,mutter,freund,leute,nutzer,laut,doku*,handbuc*,artikel,vertrag,arzt,jemand,mein
it:es,das,dies,diese*
maybe:was,warum,wieso,wie,wer,wo,wann,welche*,ob,hast du,kannst du,ist es,viellei*,wohl,glaube,denke,wahrsch*,ware,wurde ich,konnte,doch,wahr,weiss,ahnung,hoffe,oft,manchma*,danke,prima,gut,okay,ok,sorge*,hallo,klar,keine ahnung,keine sorge*,kein problem,macht nichts,wie immer,fehler,erfolg,vergess*
once:jetzt,heute,nochmal,noch einmal,diesmal,gerade,gleich,zeile,zweite*,nachst*,weiter,ausnahmsweise,leider,zusamme*,um
do:andere,fuge,erganze,ersetze,korrigier*,benenn*,pruf*,schau*,offne,zeig*,such*,erklar*,fuhr*,starte,erstell*,lies,vergleich*,entfern*,aktualisier*,losche die,losch die,losche bitte die,ubersetz*
thing:zeichen,zeilen,seiten,komment*,nachric*,namen,preise,betrage,zahlen,zweig,tabelle*,quellen,system,satz*,absatz*,worter,komma,datum*
should:sollte*
be:ist,sind,sein
skip:bitte,und,aber,also,auch
word:der,die,den,dem,des,ein,eine,einen,in,im,auf,an,am,mit,von,zu,zum,fur,aus,nach,als,so,hier,dass,etwas,meine,noch,datei*,ordner,du,dir,dich,wir,ins,das budget,vor,bei
`
