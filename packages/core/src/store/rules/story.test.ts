import { expect, it } from 'vitest'
import { memoryBench } from '../../../../../test/contracts/benches/memory.ts'
import { sqliteBench } from '../../../../../test/contracts/benches/sqlite.ts'
import { tellStory } from '../../../../../test/contracts/story/tell.ts'

/** What each verb answers and changes, read line by line against the contract. */
const TOLD = String.raw`
{"registerRunner":{"kind":"done"}}
{"registerRunner":{"kind":"done"}}
{"registerRunner":{"kind":"taken"}}
{"createSession":{"kind":"created"}}
{"one":{"id":"one","agent":"ada","state":"open","birth":"created","createdAt":"now","scope":"one","origin":null,"forkedAt":0,"root":null,"owed":[],"retained":0,"fence":0,"runner":null,"holder":null,"recovered":0,"tail":0,"base":0,"seen":0,"effective":0,"covers":0,"by":null,"rewrites":0,"operation":null,"turn":0,"turnState":"idle","attempts":0,"losses":0,"openCalls":[],"mail":0,"delivered":{"user":0,"notification":0},"settled":{"user":0,"notification":0},"pending":{"control":0,"user":0,"notification":0},"replies":0,"policy":"steer","wakeAt":null,"limits":{"hardTokens":1000,"pinTokens":100,"handoffTokens":200,"inputTokens":300,"stepTokens":200,"outputTokens":200,"laneMailMax":50,"sourceMailMax":20},"pins":{},"settings":0,"tasks":0,"title":null,"titleSalt":null}}
{"audit":[1,"one","session created","o1","created",{"agent":"ada","birth":"created","scope":"one"}]}
{"createSession":{"kind":"exists"}}
{"createSession":{"kind":"route-taken","sessionId":"one"}}
{"createSession":{"kind":"limits-refused","neededTokens":1000,"hardTokens":999}}
{"startAfresh":{"kind":"route-changed","version":1}}
{"startAfresh":{"kind":"started","sessionId":"two","left":"one"}}
{"two":{"id":"two","agent":"ada","state":"open","birth":"afresh","createdAt":"now","scope":"one","origin":null,"forkedAt":0,"root":null,"owed":[],"retained":0,"fence":0,"runner":null,"holder":null,"recovered":0,"tail":0,"base":0,"seen":0,"effective":0,"covers":0,"by":null,"rewrites":0,"operation":null,"turn":0,"turnState":"idle","attempts":0,"losses":0,"openCalls":[],"mail":0,"delivered":{"user":0,"notification":0},"settled":{"user":0,"notification":0},"pending":{"control":0,"user":0,"notification":0},"replies":0,"policy":"steer","wakeAt":null,"limits":{"hardTokens":1000,"pinTokens":100,"handoffTokens":200,"inputTokens":300,"stepTokens":200,"outputTokens":200,"laneMailMax":50,"sourceMailMax":20},"pins":{},"settings":0,"tasks":0,"title":null,"titleSalt":null}}
{"audit":[2,"two","session created","o5","created",{"agent":"ada","birth":"afresh","scope":"one"}]}
{"startAfresh":{"kind":"duplicate","sessionId":"two"}}
{"pointRoute":{"kind":"pointed","version":1}}
{"audit":[3,"two","route pointed",null,null,{"agent":"ada","channel":"chat","address":"y","version":1}]}
{"pointRoute":{"kind":"route-changed","version":1}}
{"pointRoute":{"kind":"pointed","version":3}}
{"audit":[4,"one","route pointed",null,null,{"agent":"ada","channel":"chat","address":"x","version":3}]}
{"setTitle":{"kind":"done"}}
{"one":{"title":"Boats"}}
{"audit":[5,"one","settings changed",null,null,{"what":"title","titleHash":"#"}]}
{"setTitle":{"kind":"unknown"}}
{"stageBlob":{"kind":"staged"}}
{"admit m1":{"kind":"admitted","sessionId":"one","mail":1,"runner":null}}
{"one":{"mail":1,"pending":{"control":0,"user":1,"notification":0}}}
{"audit":[6,"one","message admitted",null,null,{"mail":1,"lane":"user","tokens":10}]}
{"admit m1":{"kind":"duplicate","sessionId":"one","mail":1,"runner":null}}
{"admit m1":{"kind":"conflict","sessionId":"one","mail":1}}
{"admit m2":{"kind":"admitted","sessionId":"one","mail":2,"runner":null}}
{"one":{"mail":2,"pending":{"control":0,"user":1,"notification":1}}}
{"audit":[7,"one","message admitted",null,null,{"mail":2,"lane":"notification","tokens":10}]}
{"admit m3":{"kind":"blob-missing"}}
{"admit m4":{"kind":"admitted","sessionId":"one","mail":3,"runner":null}}
{"one":{"mail":3}}
{"audit":[8,"one","message admitted",null,null,{"mail":3,"lane":"control","tokens":10}]}
{"admit m5":{"kind":"unknown"}}
{"deliver 1":{"kind":"superseded","by":"fence"}}
{"acquire":{"kind":"lost"}}
{"acquire":{"kind":"acquired","abandoned":null}}
{"one":{"fence":1,"runner":"ann","holder":"h1","recovered":1}}
{"audit":[9,"one","lease acquired",null,null,{"fence":1,"runner":"ann"}]}
{"acquire":{"kind":"fence-changed","fence":1}}
{"acquire":{"kind":"held","by":"ann","beat":"beat"}}
{"setWake":{"kind":"done"}}
{"one":{"wakeAt":500}}
{"settleControl":{"kind":"done"}}
{"audit":[10,"one","control settled",null,null,{"mail":[3],"refused":"no-room","tokensAfter":9,"limit":8}]}
{"admit m6":{"kind":"admitted","sessionId":"one","mail":4,"runner":"ann"}}
{"one":{"mail":4,"pending":{"control":0,"user":2,"notification":1}}}
{"audit":[11,"one","message admitted",null,null,{"mail":4,"lane":"user","tokens":10}]}
{"deliver 4":{"kind":"out-of-order","mail":4,"first":1}}
{"deliver 1,2":{"kind":"delivered","tail":{"number":2},"entries":[1,2],"turn":1}}
{"one":{"tail":2,"turn":1,"turnState":"running","delivered":{"user":1,"notification":2},"pending":{"control":0,"user":1,"notification":0}}}
{"entry":{"kind":"input","meta":{"lane":"user","mail":1,"blobs":[]},"number":1,"operation":"o8","fence":1,"at":"now","tokens":10,"body":"{\"parts\":[{\"text\":\"m1\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"entry":{"kind":"input","meta":{"lane":"notification","mail":2,"blobs":[],"waiting":1},"number":2,"operation":"o8","fence":1,"at":"now","tokens":10,"body":"{\"parts\":[{\"text\":\"m2\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"audit":[12,"one","turn started",null,null,{"turn":1}]}
{"audit":[13,"one","message delivered",null,null,{"mail":[1,2],"from":1,"to":2,"turn":1}]}
{"deliver 1":{"kind":"not-pending","mail":1}}
{"commitReply":{"kind":"committed","tail":{"number":3},"entry":3,"nextTurn":null}}
{"one":{"tail":3,"seen":2,"openCalls":["c1","c2"]}}
{"entry":{"kind":"assistant","meta":{"turn":1,"upto":2,"renderer":"r1","calls":["c1","c2"],"blobs":[]},"number":3,"operation":"o10","fence":1,"at":"now","tokens":7,"body":"{\"parts\":[{\"text\":\"reply\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"audit":[14,"one","step committed",null,null,{"turn":1,"upto":2,"entry":3,"calls":2}]}
{"commitReply":{"kind":"calls-open"}}
{"deliver 4":{"kind":"calls-open"}}
{"commitResults":{"kind":"other-calls","openCalls":["c1","c2"]}}
{"commitResults":{"kind":"committed","tail":{"number":5}}}
{"one":{"tail":5,"openCalls":[]}}
{"entry":{"kind":"result","meta":{"call":"c1","outcome":"ok","blobs":[]},"number":4,"operation":"o14","fence":1,"at":"now","tokens":5,"body":"{\"parts\":[{\"text\":\"result\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"entry":{"kind":"result","meta":{"call":"c2","outcome":"error","blobs":[]},"number":5,"operation":"o14","fence":1,"at":"now","tokens":5,"body":"{\"parts\":[{\"text\":\"result\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"audit":[15,"one","results committed",null,null,{"turn":1,"calls":2}]}
{"admit m7":{"kind":"admitted","sessionId":"one","mail":5,"runner":"ann"}}
{"one":{"mail":5,"pending":{"control":1,"user":1,"notification":0}}}
{"audit":[16,"one","message admitted",null,null,{"mail":5,"lane":"control","tokens":10}]}
{"withdraw":{"kind":"withdrawn"}}
{"one":{"pending":{"control":1,"user":0,"notification":0}}}
{"audit":[17,"one","message withdrawn",null,null,{"mail":4}]}
{"withdraw":{"kind":"not-pending","state":"withdrawn"}}
{"withdraw":{"kind":"unknown"}}
{"commitReply":{"kind":"turn-over","turn":1}}
{"commitReply":{"kind":"committed","tail":{"number":7},"entry":6,"nextTurn":null}}
{"one":{"tail":7,"seen":5,"turnState":"idle","settled":{"user":1,"notification":2},"pending":{"control":0,"user":0,"notification":0},"replies":2}}
{"entry":{"kind":"assistant","meta":{"turn":1,"upto":5,"renderer":"r1","calls":[],"blobs":[]},"number":6,"operation":"o17","fence":1,"at":"now","tokens":7,"body":"{\"parts\":[{\"text\":\"reply\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"entry":{"kind":"turn","meta":{"turn":1,"ended":"answered"},"number":7,"operation":"o17","fence":1,"at":"now","tokens":0,"body":"null"}}
{"audit":[18,"one","step committed",null,null,{"turn":1,"upto":5,"entry":6,"calls":0}]}
{"audit":[19,"one","turn ended",null,null,{"turn":1,"ended":"answered","entry":7}]}
{"claimReply":{"kind":"none"}}
{"claimReply":{"kind":"claimed","reply":{"sessionId":"one","number":1,"entry":6,"edge":"chat","address":"x","key":"r1","body":"{\"text\":\"r1\"}","at":"now","state":"waiting","attempt":1,"claimant":"ann","dueAt":0,"receipt":""}}}
{"settleReply":{"kind":"refused"}}
{"settleReply":{"kind":"settled","state":"waiting"}}
{"audit":[20,"one","reply settled",null,null,{"number":1,"attempt":1,"state":"waiting"}]}
{"claimReply":{"kind":"claimed","reply":{"sessionId":"one","number":1,"entry":6,"edge":"chat","address":"x","key":"r1","body":"{\"text\":\"r1\"}","at":"now","state":"waiting","attempt":2,"claimant":"ann","dueAt":77,"receipt":""}}}
{"claimReply":{"kind":"none"}}
{"settleReply":{"kind":"settled","state":"dead"}}
{"audit":[21,"one","reply settled",null,null,{"number":1,"attempt":2,"state":"dead"}]}
{"settleReply":{"kind":"refused"}}
{"pin":{"kind":"appended","tail":{"number":8}}}
{"one":{"tail":8,"pins":{"p":{"entry":8,"tokens":60}}}}
{"entry":{"kind":"pin","meta":{"name":"p","change":"set"},"number":8,"operation":"o18","fence":1,"at":"now","tokens":60,"body":"{\"parts\":[{\"text\":\"pin\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"audit":[22,"one","settings changed",null,null,{"entry":8,"what":"pin"}]}
{"pin":{"kind":"no-room","tokensAfter":120,"limit":100}}
{"pin":{"kind":"unknown-pin"}}
{"setTasks":{"kind":"appended","tail":{"number":9}}}
{"one":{"tail":9,"tasks":9}}
{"entry":{"kind":"task","meta":{},"number":9,"operation":"o21","fence":1,"at":"now","tokens":1,"body":"[]"}}
{"audit":[23,"one","settings changed",null,null,{"entry":9,"what":"tasks"}]}
{"changeSettings":{"kind":"appended","tail":{"number":10}}}
{"one":{"tail":10,"policy":"queue","limits":{"hardTokens":1000,"pinTokens":90,"handoffTokens":200,"inputTokens":300,"stepTokens":200,"outputTokens":200,"laneMailMax":50,"sourceMailMax":20},"settings":10}}
{"entry":{"kind":"settings","meta":{"limits":{"hardTokens":1000,"pinTokens":90,"handoffTokens":200,"inputTokens":300,"stepTokens":200,"outputTokens":200,"laneMailMax":50,"sourceMailMax":20},"replaces":{"hardTokens":1000,"pinTokens":100,"handoffTokens":200,"inputTokens":300,"stepTokens":200,"outputTokens":200,"laneMailMax":50,"sourceMailMax":20}},"number":10,"operation":"o22","fence":1,"at":"now","tokens":0,"body":"{}"}}
{"audit":[24,"one","settings changed",null,null,{"entry":10,"what":"settings"}]}
{"changeSettings":{"kind":"limits-refused","neededTokens":990,"hardTokens":9}}
{"claimCompaction model":{"kind":"unseen","seen":5}}
{"claimCompaction rewrite":{"kind":"no-digest"}}
{"claimCompaction model":{"kind":"claimed","operation":{"id":"o26","sessionId":"one","by":"model","trigger":"manual","reason":"asked","requestedBy":null,"fence":1,"base":0,"covers":5,"previous":0,"state":"running","result":{},"startedAt":"now","endedAt":null}}}
{"one":{"operation":"o26"}}
{"audit":[25,"one","compaction started","o26","started",{"fence":1,"base":0,"covers":5,"by":"model","trigger":"manual","reason":"asked"}]}
{"claimCompaction model":{"kind":"joined","operation":{"id":"o26","sessionId":"one","by":"model","trigger":"manual","reason":"asked","requestedBy":null,"fence":1,"base":0,"covers":5,"previous":0,"state":"running","result":{},"startedAt":"now","endedAt":null}}}
{"failCompaction":{"kind":"done"}}
{"one":{"operation":null}}
{"audit":[26,"one","compaction failed","o26","failed",{"fence":1,"base":0,"covers":5,"reason":"no model"}]}
{"failCompaction":{"kind":"ended","state":"failed"}}
{"claimCompaction digest":{"kind":"claimed","operation":{"id":"o28","sessionId":"one","by":"digest","trigger":"manual","reason":"asked","requestedBy":null,"fence":1,"base":0,"covers":5,"previous":0,"state":"running","result":{},"startedAt":"now","endedAt":null}}}
{"one":{"operation":"o28"}}
{"audit":[27,"one","compaction started","o28","started",{"fence":1,"base":0,"covers":5,"by":"digest","trigger":"manual","reason":"asked"}]}
{"commitCompaction":{"kind":"committed","tail":{"number":11},"entry":11}}
{"one":{"tail":11,"base":11,"effective":11,"covers":5,"by":"digest","operation":null}}
{"entry":{"kind":"compaction","meta":{"covers":5,"previous":0,"by":"digest"},"number":11,"operation":"o28","fence":1,"at":"now","tokens":20,"body":"{\"summary\":\"so far\"}"}}
{"audit":[28,"one","compaction committed","o28","committed",{"fence":1,"base":0,"covers":5,"tokensAfter":20,"entry":11,"carries":0}]}
{"claimCompaction model":{"kind":"covered","covers":5}}
{"claimCompaction rewrite":{"kind":"claimed","operation":{"id":"o31","sessionId":"one","by":"rewrite","trigger":"manual","reason":"asked","requestedBy":null,"fence":1,"base":11,"covers":5,"previous":0,"state":"running","result":{},"startedAt":"now","endedAt":null}}}
{"one":{"rewrites":1,"operation":"o31"}}
{"audit":[29,"one","compaction started","o31","started",{"fence":1,"base":11,"covers":5,"by":"rewrite","trigger":"manual","reason":"asked"}]}
{"commitCompaction":{"kind":"committed","tail":{"number":12},"entry":12}}
{"one":{"tail":12,"base":12,"effective":12,"by":"rewrite","rewrites":0,"operation":null}}
{"entry":{"kind":"compaction","meta":{"covers":5,"previous":0,"by":"rewrite"},"number":12,"operation":"o31","fence":1,"at":"now","tokens":20,"body":"{\"summary\":\"so far\"}"}}
{"audit":[30,"one","compaction committed","o31","committed",{"fence":1,"base":11,"covers":5,"tokensAfter":20,"entry":12,"carries":0}]}
{"revert":{"kind":"not-newest","effective":12}}
{"revert":{"kind":"no-room","tokensAfter":5000,"limit":700}}
{"revert":{"kind":"reverted","tail":{"number":13},"effective":0}}
{"one":{"tail":13,"base":13,"effective":0,"covers":0,"by":null}}
{"entry":{"kind":"revert","meta":{"target":12,"previous":0},"number":13,"operation":"o35","fence":1,"at":"now","tokens":0,"body":"null"}}
{"audit":[31,"one","compaction reverted",null,null,{"target":12,"entry":13}]}
{"admit m8":{"kind":"admitted","sessionId":"one","mail":6,"runner":"ann"}}
{"one":{"mail":6,"pending":{"control":0,"user":1,"notification":0}}}
{"audit":[32,"one","message admitted",null,null,{"mail":6,"lane":"user","tokens":10}]}
{"deliver 6":{"kind":"delivered","tail":{"number":14},"entries":[14],"turn":2}}
{"one":{"tail":14,"turn":2,"turnState":"running","delivered":{"user":6,"notification":2},"pending":{"control":0,"user":0,"notification":0}}}
{"entry":{"kind":"input","meta":{"lane":"user","mail":6,"blobs":[]},"number":14,"operation":"o36","fence":1,"at":"now","tokens":10,"body":"{\"parts\":[{\"text\":\"m8\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"audit":[33,"one","turn started",null,null,{"turn":2}]}
{"audit":[34,"one","message delivered",null,null,{"mail":[6],"from":14,"to":14,"turn":2}]}
{"commitReply":{"kind":"committed","tail":{"number":15},"entry":15,"nextTurn":null}}
{"one":{"tail":15,"seen":14,"openCalls":["c3"]}}
{"entry":{"kind":"assistant","meta":{"turn":2,"upto":14,"renderer":"r1","calls":["c3"],"blobs":[]},"number":15,"operation":"o37","fence":1,"at":"now","tokens":7,"body":"{\"parts\":[{\"text\":\"reply\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"audit":[35,"one","step committed",null,null,{"turn":2,"upto":14,"entry":15,"calls":1}]}
{"release":{"kind":"in-use"}}
{"release":{"kind":"done"}}
{"one":{"runner":null,"holder":null,"attempts":1,"wakeAt":9}}
{"audit":[36,"one","lease released",null,null,{"fence":1,"reason":"crash"}]}
{"acquire":{"kind":"acquired","abandoned":null}}
{"one":{"fence":2,"runner":"bob","holder":"h3"}}
{"audit":[37,"one","lease acquired",null,null,{"fence":2,"runner":"bob"}]}
{"recover":{"kind":"recovered","tail":{"number":15},"turn":"resumed","attempts":1,"losses":0,"openCalls":["c3"]}}
{"one":{"recovered":2}}
{"audit":[38,"one","turn recovered",null,null,{"fence":2,"turn":"resumed","attempts":1,"losses":0}]}
{"recover":{"kind":"already"}}
{"dismissRunner":{"kind":"alive"}}
{"dismissRunner":{"kind":"done"}}
{"acquire":{"kind":"acquired","abandoned":null}}
{"one":{"fence":3,"runner":"ann","holder":"h4","losses":1}}
{"audit":[39,"one","lease lost",null,null,{"fence":2,"runner":"bob"}]}
{"audit":[40,"one","lease acquired",null,null,{"fence":3,"runner":"ann"}]}
{"recover":{"kind":"recovered","tail":{"number":16},"turn":"resumed","attempts":1,"losses":1,"openCalls":[]}}
{"one":{"recovered":3,"tail":16,"openCalls":[]}}
{"entry":{"kind":"result","meta":{"call":"c3","outcome":"unknown","blobs":[]},"number":16,"operation":"o40","fence":3,"at":"now","tokens":16,"body":"\"This call was issued; whether it took effect is unknown.\""}}
{"audit":[41,"one","turn recovered",null,null,{"fence":3,"turn":"resumed","attempts":1,"losses":1}]}
{"rows":"one","mail":[{"number":1,"lane":"user","control":null,"source":"chat","key":"m1","body":"{\"parts\":[{\"text\":\"m1\",\"type\":\"text\"}],\"role\":\"user\"}","tokens":10,"state":"settled","turnAt":null,"blobs":[],"at":"now"},{"number":2,"lane":"notification","control":null,"source":"chat","key":"m2","body":"{\"parts\":[{\"text\":\"m2\",\"type\":\"text\"}],\"role\":\"user\"}","tokens":10,"state":"settled","turnAt":null,"blobs":[],"at":"now"},{"number":3,"lane":"control","control":"stop","source":"chat","key":"m4","body":"{\"parts\":[{\"text\":\"m4\",\"type\":\"text\"}],\"role\":\"user\"}","tokens":10,"state":"settled","turnAt":null,"blobs":[],"at":"now"},{"number":4,"lane":"user","control":null,"source":"chat","key":"m6","body":"{\"parts\":[{\"text\":\"m6\",\"type\":\"text\"}],\"role\":\"user\"}","tokens":10,"state":"withdrawn","turnAt":null,"blobs":[],"at":"now"},{"number":5,"lane":"control","control":"stop","source":"chat","key":"m7","body":null,"tokens":10,"state":"settled","turnAt":1,"blobs":[],"at":"now"},{"number":6,"lane":"user","control":null,"source":"chat","key":"m8","body":"{\"parts\":[{\"text\":\"m8\",\"type\":\"text\"}],\"role\":\"user\"}","tokens":10,"state":"delivered","turnAt":null,"blobs":[],"at":"now"}],"replies":[{"sessionId":"one","number":1,"entry":6,"edge":"chat","address":"x","key":"r1","body":"{\"text\":\"r1\"}","at":"now","state":"dead","attempt":2,"claimant":null,"dueAt":99,"receipt":""},{"sessionId":"one","number":2,"entry":6,"edge":"chat","address":"x","key":"r2","body":"{\"text\":\"r2\"}","at":"now","state":"waiting","attempt":0,"claimant":null,"dueAt":0,"receipt":""}],"routes":[{"agent":"ada","channel":"chat","address":"x","sessionId":"one","version":3}],"attempts":[{"cachedTokens":0,"cost":null,"host":"","turn":null,"step":null,"id":"o16","sessionId":"one","task":"turn","modelRoute":"m","outcome":"ok","inputTokens":5,"outputTokens":2,"at":3,"agent":"ada"}],"operations":[["o31","committed",{"tokensAfter":20,"entry":12,"carries":0}],["o28","committed",{"tokensAfter":20,"entry":11,"carries":0}],["o26","failed",{"reason":"no model"}]],"context":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}
{"rows":"two","mail":[],"replies":[],"routes":[{"agent":"ada","channel":"chat","address":"y","sessionId":"two","version":1}],"attempts":[],"operations":[],"context":[]}
{"rows":"three","mail":[],"replies":[],"routes":[],"attempts":[],"operations":[],"context":null}
{"runners":[{"id":"ann","boot":"b","process":7,"startedAt":1,"leaseMs":30000,"beat":"beat"}]}
{"found":[]}
{"putSchedule":{"kind":"scheduled","schedule":{"id":"w","sessionId":"one","dueAt":5,"repeat":"daily","body":"{\"a\":1}","tokens":2,"state":"waiting","fired":0,"firedAt":null,"at":"now"}}}
{"audit":[42,"one","settings changed",null,null,{"what":"schedule","schedule":"w","state":"waiting","dueAt":5}]}
{"putSchedule":{"kind":"taken"}}
{"putSchedule":{"kind":"passed","firedAt":null}}
{"fireSchedule":{"kind":"not-due","schedule":{"id":"w","sessionId":"one","dueAt":5,"repeat":"daily","body":"{\"a\":1}","tokens":2,"state":"waiting","fired":0,"firedAt":null,"at":"now"}}}
{"fireSchedule":{"kind":"fired","sessionId":"one","mail":7,"runner":"ann","schedule":{"id":"w","sessionId":"one","dueAt":9,"repeat":"daily","body":"{\"a\":1}","tokens":2,"state":"waiting","fired":1,"firedAt":5,"at":"now"}}}
{"one":{"mail":7,"pending":{"control":0,"user":0,"notification":1}}}
{"audit":[43,"one","message admitted",null,null,{"mail":7,"lane":"notification","tokens":2}]}
{"fireSchedule":{"kind":"fired","sessionId":"one","mail":8,"runner":"ann","schedule":{"id":"w","sessionId":"one","dueAt":9,"repeat":"daily","body":"{\"a\":1}","tokens":2,"state":"ended","fired":2,"firedAt":9,"at":"now"}}}
{"one":{"mail":8,"pending":{"control":0,"user":0,"notification":2}}}
{"audit":[44,"one","message admitted",null,null,{"mail":8,"lane":"notification","tokens":2}]}
{"fireSchedule":{"kind":"unknown"}}
{"putSchedule":{"kind":"passed","firedAt":9}}
{"cancelSchedule":{"kind":"done"}}
{"cancelSchedule":{"kind":"unknown"}}
{"putNote":{"kind":"unknown"}}
{"putNote":{"kind":"noted","note":{"agent":"ada","scope":"one","id":"n","text":"Three boats.","origin":{"sessionId":"one","number":3},"at":"now"}}}
{"removeNote":{"kind":"done"}}
{"removeNote":{"kind":"unknown"}}
{"putToken":{"kind":"done"}}
{"putToken":{"kind":"taken"}}
{"removeToken":{"kind":"unknown"}}
{"putDraft":{"kind":"done"}}
{"findDraft":{"sessionId":"one","key":"r2","ids":["9","8"],"at":"now"}}
{"putDraft":{"kind":"unknown"}}
{"eraseEntries":{"kind":"unknown-entry","entry":99}}
{"eraseEntries":{"kind":"erased","tail":{"number":17},"entries":[1,11,12]}}
{"one":{"tail":17,"base":17,"title":null,"titleSalt":null}}
{"entry":{"kind":"erasure","meta":{"entries":[1,11,12],"replaces":null},"number":17,"operation":"o42","fence":3,"at":"now","tokens":0,"body":"null"}}
{"audit":[45,"one","entries erased","o42","erased",{"entries":[1,11,12],"entry":17}]}
{"eraseEntries":{"kind":"erased","tail":{"number":18},"entries":[1,11,12]}}
{"one":{"tail":18,"base":18}}
{"entry":{"kind":"erasure","meta":{"entries":[1,11,12],"replaces":null},"number":18,"operation":"o43","fence":3,"at":"now","tokens":0,"body":"null"}}
{"audit":[46,"one","entries erased","o43","erased",{"entries":[1,11,12],"entry":18}]}
{"fork":{"kind":"unknown-entry","tail":18}}
{"fork":{"kind":"forked"}}
{"three":{"id":"three","agent":"ada","state":"open","birth":"forked","createdAt":"now","scope":"three","origin":"one","forkedAt":6,"root":"one","owed":[],"retained":0,"fence":0,"runner":null,"holder":null,"recovered":0,"tail":7,"base":0,"seen":7,"effective":0,"covers":0,"by":null,"rewrites":0,"operation":null,"turn":1,"turnState":"idle","attempts":0,"losses":0,"openCalls":[],"mail":0,"delivered":{"user":0,"notification":0},"settled":{"user":0,"notification":0},"pending":{"control":0,"user":0,"notification":0},"replies":0,"policy":"queue","wakeAt":null,"limits":{"hardTokens":1000,"pinTokens":100,"handoffTokens":200,"inputTokens":300,"stepTokens":200,"outputTokens":200,"laneMailMax":50,"sourceMailMax":20},"pins":{},"settings":0,"tasks":0,"title":null,"titleSalt":null}}
{"entry":{"kind":"arrival","meta":{"session":"three","origin":"one","at":6,"left":[]},"number":7,"operation":"o45","fence":0,"at":"now","tokens":0,"body":"null"}}
{"audit":[47,"three","session created","o45","created",{"agent":"ada","birth":"forked","scope":"three","origin":"one","at":6,"entry":7}]}
{"fork":{"kind":"duplicate","sessionId":"three"}}
{"fork":{"kind":"conflict"}}
{"recordEntries":{"kind":"recorded","entry":5}}
{"two":{"tail":5,"seen":4,"turn":1}}
{"entry":{"kind":"input","meta":{"lane":"user","mail":0,"blobs":[]},"number":1,"operation":"o48","fence":0,"at":"now","tokens":3,"body":"{\"parts\":[{\"text\":\"asked\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"entry":{"kind":"assistant","meta":{"turn":1,"upto":1,"renderer":"recorded","calls":["c1"],"blobs":[]},"number":2,"operation":"o48","fence":0,"at":"now","tokens":3,"body":"{\"parts\":[{\"text\":\"calling\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"entry":{"kind":"result","meta":{"call":"c1","outcome":"ok","blobs":[]},"number":3,"operation":"o48","fence":0,"at":"now","tokens":3,"body":"{\"parts\":[{\"text\":\"found\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"entry":{"kind":"assistant","meta":{"turn":1,"upto":3,"renderer":"recorded","calls":[],"blobs":[]},"number":4,"operation":"o48","fence":0,"at":"now","tokens":3,"body":"{\"parts\":[{\"text\":\"answered\",\"type\":\"text\"}],\"role\":\"user\"}"}}
{"entry":{"kind":"turn","meta":{"turn":1,"ended":"answered","keyHash":"#"},"number":5,"operation":"o48","fence":0,"at":"now","tokens":0,"body":"null"}}
{"audit":[48,"two","entries adopted",null,null,{"from":1,"to":5,"turn":1}]}
{"recordEntries":{"kind":"duplicate","entry":5}}
{"recordEntries":{"kind":"conflict","entry":5}}
{"recordEntries":{"kind":"moved"}}
{"recordEntries":{"kind":"recorded","entry":6}}
{"two":{"tail":7}}
{"entry":{"kind":"record","meta":{"keyHash":"#"},"number":6,"operation":"o50","fence":0,"at":"now","tokens":0,"body":"{\"a\":1}"}}
{"entry":{"kind":"record","meta":{},"number":7,"operation":"o50","fence":0,"at":"now","tokens":0,"body":"{\"b\":2}"}}
{"audit":[49,"two","entries adopted",null,null,{"from":6,"to":7}]}
{"deleteSession":{"kind":"forked","forks":["three"]}}
{"deleteSession":{"kind":"done","sessions":["one"]}}
{"one":{"state":"erasing","fence":4,"runner":null,"holder":null,"wakeAt":null}}
{"audit":[50,"one","session deleted","o51","started",{"fence":4}]}
{"deleteSession":{"kind":"gone"}}
{"eraseRetained":{"kind":"erased","entries":[2,11,12]}}
{"three":{"owed":[2]}}
{"audit":[51,"one","entries erased","o52","erased",{"entries":[2,11,12]}]}
{"audit":[52,"three","entries erased",null,null,{"entries":[2]}]}
{"eraseSome":{"kind":"erased","left":true,"upTo":{"entry":9,"mail":5,"reply":2}}}
{"eraseSome":{"kind":"erased","left":true,"upTo":{"entry":18,"mail":8,"reply":0}}}
{"eraseSome":{"kind":"not-deleted"}}
{"admit m9":{"kind":"gone"}}
{"rows":"one","mail":[{"number":1,"lane":"user","control":null,"source":null,"key":null,"body":null,"tokens":10,"state":"settled","turnAt":null,"blobs":[],"at":"now"},{"number":2,"lane":"notification","control":null,"source":null,"key":null,"body":null,"tokens":10,"state":"settled","turnAt":null,"blobs":[],"at":"now"},{"number":3,"lane":"control","control":"stop","source":null,"key":null,"body":null,"tokens":10,"state":"settled","turnAt":null,"blobs":[],"at":"now"},{"number":4,"lane":"user","control":null,"source":null,"key":null,"body":null,"tokens":10,"state":"withdrawn","turnAt":null,"blobs":[],"at":"now"},{"number":5,"lane":"control","control":"stop","source":null,"key":null,"body":null,"tokens":10,"state":"settled","turnAt":1,"blobs":[],"at":"now"},{"number":6,"lane":"user","control":null,"source":null,"key":null,"body":null,"tokens":10,"state":"delivered","turnAt":null,"blobs":[],"at":"now"},{"number":7,"lane":"notification","control":null,"source":null,"key":null,"body":null,"tokens":2,"state":"pending","turnAt":2,"blobs":[],"at":"now"},{"number":8,"lane":"notification","control":null,"source":null,"key":null,"body":null,"tokens":2,"state":"pending","turnAt":2,"blobs":[],"at":"now"}],"replies":[{"sessionId":"one","number":1,"entry":6,"edge":"chat","address":"x","key":"r1","body":null,"at":"now","state":"dead","attempt":2,"claimant":null,"dueAt":99,"receipt":""},{"sessionId":"one","number":2,"entry":6,"edge":"chat","address":"x","key":"r2","body":null,"at":"now","state":"dead","attempt":0,"claimant":null,"dueAt":0,"receipt":""}],"routes":[],"attempts":[{"cachedTokens":0,"cost":null,"host":"","turn":null,"step":null,"id":"o16","sessionId":"one","task":"turn","modelRoute":"m","outcome":"ok","inputTokens":5,"outputTokens":2,"at":3,"agent":"ada"}],"operations":[["o31","committed",{"tokensAfter":20,"entry":12,"carries":0}],["o28","committed",{"tokensAfter":20,"entry":11,"carries":0}],["o26","failed",{"reason":"no model"}]],"context":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}
{"rows":"two","mail":[],"replies":[],"routes":[{"agent":"ada","channel":"chat","address":"y","sessionId":"two","version":1}],"attempts":[],"operations":[],"context":[1,2,3,4,5,6,7]}
{"rows":"three","mail":[],"replies":[],"routes":[],"attempts":[],"operations":[],"context":[1,2,3,4,5,6,7]}
{"runners":[{"id":"ann","boot":"b","process":7,"startedAt":1,"leaseMs":30000,"beat":"beat"}]}
{"found":[]}
{"retireRunner":{"kind":"done"}}
{"retireRunner":{"kind":"lost"}}`

it.each([
  ['memory', () => memoryBench()],
  ['SQLite', () => sqliteBench()],
])('a story of every verb has these outcomes and leaves these rows in %s', async (_, open) => {
  await using bench = await open()
  const lines = await tellStory(bench.store)
  const parsed = (each: readonly string[]) => each.map((line) => JSON.parse(line) as unknown)
  expect(parsed(lines)).toEqual(parsed(TOLD.trim().split('\n')))
})
