export const FRENCH_CUES: string = `
always:toujour*,jamais,chaque fois,à chaque,systema*,aucun cas,aucun pretext*,par defaut,partout,excepti*,nulle part,surtout,imperat*,obligatoire*,absolum*,tous les cas
every:tout,toute*,tous,chaque,rien,personn*,aucun*,quoi que
only:seule*,uniquem*,seul,seuls,que sur,que dans,que les,au lieu,plutot,à la place,et non
dont:ne pas,on ne,arrete de,cesse de,interdiction,merci de ne,evit*,ne doi*,ne dev*,ne peu*,touche pas
not:ne,n,pas,ni,sans,plus de
henceforth:desorma*,dorenav*,à partir,à compter,à l avenir,pour la suite,nouvel ordre,ce projet,le reste,jusqu à ce
unless:sauf,à moins,sinon,tant que
when:si,si tu,quand tu,quand,lorsqu*,des que,avant,avant d*,en cas,le doute,d abord
must:doit,doivent,dois,devez,il faut,faut,faudra*,est à,sont à,necessi*,exige*,obligatoire,reste,restent,s ecri*,se fait,passe par,passent par,va dans,vont dans,ait,soit,soient,peut,peuvent,droit
forbidden:interdit*,defendu,proscri*,intouch*,tel quel,telle quelle,tels quels,telles quelles,gele,gelee,fige*,prive,lecture seule,tabou,hors de questio*,bas les pattes,tranqui*,entre nous
want:j aimerai*,je veux,je voudrai*,je souhait*,nous voulons,je ne veux,je deteste,je n aime,ce serait bien,assure*,veill*,fais en sorte,rappelle toi,souviens toi,oublie*,en tete,note que,attenti*,consign*,merci de,priere de,pense a,pense à,essaie de,on utilise,nous utiliso*,on ecrit,on garde,tutoie*,tutoy*,vouvo*,appelle moi,s appelle,notre style
keep:garde*,laisse*,reste,restez,traite*,limite toi,limit*,conserv*,tiens,sois,soyez,privile*,parle*,nomme*,signe*,arrondi*
use:utilis*,ecri*,repond*,redige*,mention*,envoie
ask:demand*,previen*,preven*,averti*,dis moi,dis le,mon accord,mon aval,accord,feu vert,valid*,appro*,mon ok,relire,la questio*,m en parler,moi d abord
limit:pas plus de,au plus,plafond,depass*,depens*,au moins,pas plus
than:plus de,moins de,plus que,jusqu à,par,au total,entre
due:date limite,echeanc*,delai,au plus tard,d ici,pret,prete,prets,fini,termine,livre*,à rendre,avant le,pour le
form:francai*,anglais,alleman*,espagno*,ton,langue,orthogr*,tabulat*,espaces,puces,majuscu*,minuscu*,guillem*,reponse*,court*,bref,unites
past:été,etait,etaient,avait,avais,ai,avons,avez,ont,as,hier,deja,passe*,dernier*,fallait,voulai*,pensais,travaillait,echoue,tombe,a,m a,il y a,dit,derange*
happens:marche*,fonctio*,plante,arrive,plaint,renvoi*,affiche,coute,semble,bout,demarre,redemar*,accepte,casse,panne,tourne
i:je,j
they:il,elle,ils,elles,lui,leur,collegu*,chef,patron,frere,soeur,ami,gens,utilisa*,selon,d apres,manuel,bail,medecin,mon,ma,quelqu
it:ca,cela,c,ce,cette
maybe:pourquo*,comment,quel*,qui,combien,est ce,est il,as tu,peux tu,qu est,peut etre,crois,pense que,sans doute,probabl*,sais,compr*,aurai*,serait,si j,espere,souvent,parfois,parfait,bien,d accord,ok,desole,bonjour,merci,pas grave,inquiet*,beaucou*,comme toujour*
once:mainten*,encore,aujourd,cette fois,juste,l instant,moment,deuxiem*,ligne,suivant*,prochai*,derniers,nouveau,passons,longtem*
do:ajoute,remplace,corrige,mets a jour,voir,lance,renomme,verifie,regarde,ouvre,montre*,trouve,expliqu*,supprim*,relance,tradui*,resume,change,essaie,continu*,va,fais,cree,deplace,copie,lis,compare,install*,cherche,execute,efface
thing:mots,caracte*,lignes,commentaires,message*,noms,date,dates,prix,montant*,nombres,branche,tableau*,depend*,bibliot*,phrase*
should:devr*
be:est,sont,etre,es
skip:s il te plait,s il vous plait,stp,svp,et,mais,aussi
word:le,la,les,l,un,une,des,de,du,d,ou,dans,en,sur,au,à,pour,que,qu,se,tu,te,t,me,moi,on,plus,fichier*,dossier,peux,limite de
`
