export const ENGLISH_CUES: string = `
always:always,never,nevr,ever,every time,each time,at all times,exception*,throughout,everywhere,permanently,consistently,by default,in general,as a rule,in all cases,on no account,under no,under any,whatever,no matter
every:every*,each,all,any,anything,anyone,anybody,nothing,nobody,no one,none
only:only,solely,nothing but,nothing else,nowhere,instead,instead of,rather than,in favo*
dont:do not,dont,may not,must not,mustnt,should not,shouldnt,is not to,are not to,not to be,not allowed,you cant,you cannot,we cant,we cannot,make no,you dare,try not,refrain,avoid*,stop *ing,dont bother,never use
not:no,not,nor,zero,without
henceforth:from now,forward,from here,from today,from tomorrow,as of,starting today,starting now,from this point,in future,in the future,for the rest,further notice,this project,this repo*,this session,this codebase,the whole,until i,till i,for later,for the time being,goes for
unless:unless,otherwise,as long as
when:if,when,whenever,before,prior to,after you,once you,while you,in case,any time,as soon as,in doubt,not sure,unsure
must:goes in*,goes to,goes through,go to,go in*,must,must have,have to,has to,shall,requir*,is to,are to,got to,gotta,mandatory,belong*,stays,remains,may only,be *ed,be written,be kept,be done,up to me
forbidden:forbidden,prohibited,banned,off limits,off the table,out of bounds,hands off,keep out,stay away,stay out,clear of,away from,alone,untouched,unchanged,frozen,locked,taboo,no go,read only,readonly,acceptable,as is,as it is,as they are,negotiable,yourself,keep working
want:i want,i dont want,i do not want,we want,we dont want,i never want,i d,id rather,id like,i would,i expect,i insist,i need you,hates,i hate,cant stand,blind,make sure,be sure,ensure,see to it,remember that,remember ,remember to,in mind,note that,forget to,guideline*,lets agree,lets keep,lets stick,we agreed,would be great,would be nice,appreciate*,careful,take care,try to,our style,i only,we only,we never,we always,we dont,we do not,spelled,pronouns,i go by,important that
keep:keep,treat,stick,leave,limit,stay,call me,address me,skip,hold off,wait for,adhere,follow,respect,assume,reserve,restrict,aim for,include,omit,sign,prefix,cite,round,protect,preserve,be,speak
use:use,respond,using,write,answer,reply,put,name,format,store,save,work,mention,document,squash,include,start with,end with,talk,mark,tag,label,link,quote,drop,run,test,commit,send me,post,add,update,report,give,make
ask:a review,reviewed,reviewer*,without asking,without review,ask,ask me,ask first,check with,check in with,run it by,clear it with,consent,sign off,signs off,signoff,my ok*,my yes,yes from,ok from,go ahead,green light,let me,tell me,warn me,notify,ping me,heads up,double check,stop and,wait for my,by me,past me,through me,me first,i decide
limit:no more than,not more than,at most,at the most,up to,exceed*,cap,the limit,at least,or less,or fewer,tops,go over,ceiling,spend*,hard cap,quota
than:more than,under,below,over,above,within,less than,fewer than,per,per second,per day,longer than,between,expensive
due:you have until,until,due,later than,latest,on time,ready,finished,done,have until,by,ship,delivered,launch*
form:spelling,tone,english,german,french,spanish,italian,dutch,language,units,metric,spaces,bullet*,sentence*,uppercase,lowercase,answers,replies,short,british,american,plain,contractions,net
past:was,were,had,did,didnt,wasnt,has been,have been,said,told,forgot,found,got,went,saw,came,ran,took,gave,broke,lost,left,wrote,thought,ago,already,yet,last,yesterday,earlier,has,have,ive,i ve,we ve,havent,hasnt,used to,seen,heard
ed:*ed
happens:fails,failing,crashes,crashing,works,working,happens,happening,returns,complains,takes,prints,starts,shows,looks,seems,appears,breaks,runs,restarts,says,reads,claims,mentions,expects,allows,comes,gets,sleeps,costs,means,leaves,likes,uses,prefers,adds,broken,slow,missing,full,is open,are open,down,doesnt,isnt,dont have,dont know,dont exist,keeps
i:i,im,i m,i ll
they:he,she,they,his,her,their,him,people,users,boss,brother,manager,colleague,friend,vendor,doctor,book,compiler,according,apparently,sign says,policy,company,someone,other,old,log
it:it,this,that,there,these,those,thats
maybe:we are getting,we dont need,let me know what,what,why,how,which,who,where,does,do you,will,whether,did you
maybe:maybe,perhaps,think,guess,suppose,wonder*,know,sure,understand,must be a,must be the,must be joking,must have been,must have *ed,must have left,should have,could have,would,might,cant be,can not be,probably,hope,imagine,forget,often,sometimes,usually,must be on,has to be the,thanks,thank,great,ok,okay,nice,good,fine,worry,mind,matter,sorry,hi,no problem,never mind,dont worry,do not worry,no idea,as always,no hurry,wrong,well,success
once:now,again,today,this time,just once,this once,once more,next,the second,third,at the moment,right now,currently,still,line,just,so far,this one,attached,temporary,screenshot,let s look,lets look,move on
do:fix,rename,check,look,see,open,show,find,explain,delete,run the,translate,summari*,change,send,try,merge,continue,go,make the,create,build,deploy,update the,remove,move,copy,read,list,print,help,implement,refactor,install,restart,compare,draft,generate,describe,push,pull,revert,convert,replace,set,take,can you,could you,add a,write a,write the,give me,stop the,use the second,run it
thing:commit messages,lines,comments,docstring*,commits,numbers,names,headings,tables,examples,variables,functions,library,libraries,semicolon*,quotes,amounts,prices,dates,words,characters,columns,currency,licensed
should:we need,we need to,we should,i need,we have to,needs to,should be,have to be,should,need,needs,need to,supposed to,ought
be:is,are,be,its,it s,is *ed,are *ed,is written,are written,are kept
skip:please,pls,and,but,so,also,ok,hey,hi,just
word:the,a,an,of,to,in,on,at,for,with,from,or,as,into,out,than,too,one,two,three,here,about,new,file,files,code,tests,some,you,your,me,my,we,our,us,off,may,can,not yet
`
