import { wordsOf } from '#core/store/search/words'

/** Stop words, in the languages in which claims are recognized. */
export const COMMON: ReadonlySet<string> = new Set(
  wordsOf(
    // English
    'the a an and or but any all some this that these those there here was were are is been being ' +
      'have has had not with without from for about into over under than then when where which who ' +
      'whom what why how can could should would will may might must does did done our your their ' +
      'his her its my mine yours user agent session conversation earlier before previous previously ' +
      'record memory transcript history context note notes remember recall told said mentioned know ' +
      'never nothing nobody received reached message messages ever yet still even just also anything ' +
      'myself another instance idle status since made did pending me us we it they he she them ' +
      // German
      'ich wir mir mich uns der die das den dem des ein eine einen einem einer und oder aber nicht ' +
      'nie kein keine keinen habe haben hatte wurde wurden bin war ist sind von vom zu zum zur über ' +
      'für mit bei aus auf an im in dass weil wie noch schon nachricht nutzer sitzung etwas niemand erzählt gesagt mitgeteilt bekommen erhalten ' +
      // French
      'je nous moi mon mes le la les un une des du de et ou mais ne pas jamais rien ai avons été ' +
      'suis que qui sur pour avec dans aucun aucune trace message utilisateur session cela ce cette ' +
      // Spanish, Portuguese, Italian
      'yo me nos mi mis el los las lo una uno unos del al y o pero no nunca nada he hemos haber que ' +
      'sobre para con en por sin usuario sesión mensaje eu meu minha os as um uma do da dos das e ou ' +
      'mas não nada nem em com por sobre mensagem sessão io mio mia il gli un lo di del della dei ' +
      'delle e ma non mai nulla ho abbiamo che su per con messaggio sessione utente ricevuto ' +
      // Dutch
      'ik wij mij mijn ons het een van en of maar niet nooit geen heb hebben dat over voor met bericht ' +
      'sessie gebruiker ' +
      // Russian
      'я мы мне нам меня нас мой и или но не никогда ничего никто нет о об про от для с в на у что ' +
      'это эта этот сообщение сообщения пользователь сессия был была было',
  ),
)
