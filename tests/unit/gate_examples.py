# ruff: noqa: E501 (one example, one line)
"""Messages that a person would, or would not, call a task. Written for these tests."""


def _messages(lines: str) -> list[str]:
    return [line.replace(r"\n", "\n") for line in lines.strip().splitlines()]


TASKS_EN = _messages(
    r"""
Rebook my Thursday flight to the one after lunch and keep the aisle seat.
can u swap the two columns in the budget sheet and resend it to Priya
The invoice template still shows last year's VAT rate, please correct it.
Our nightly export stopped producing files on Tuesday. Find out why.
Would you mind renaming every photo in ~/Pictures/lisbon by its date?
Dim the bedroom lights to 20% and set the alarm for 6:40.
Someone is hammering the login endpoint from one IP range; block it.
I need a one-page contract summary as a PDF for the lawyer before noon.
Split utils.py into separate modules and keep the imports working.
the drop-down on the checkout page closes before you can click anything, have a look?
Add dark mode to the settings screen.
Draft a polite reply to the landlord saying we accept the new rent from March.
Get the staging certificate renewed before it expires tonight.
Put a 45-minute slot with Dana on my calendar for next Wednesday.
Let's get rid of the legacy feature flags.
We're seeing 502s on the EU cluster since the last rollout, roll back to 4.18.
Could you pull last month's sales by region and plot them?
Order two more filters for the coffee machine, same ones as last time.
Write a SQL query that lists customers without an order in 90 days.
pip install dies with "no matching distribution found", make it work
Please make sure the release notes mention the new rate limits.
Unsubscribe me from all those marketing newsletters.
Compare the three quotes in the folder and fill in the decision table.
The dashboard should refresh every 30 seconds instead of 5 minutes.
Kill whatever is hogging port 8080 and restart the dev server.
It'd be great if you could transcribe the interview recording and save it next to the audio.
next: hook the contact form up to our CRM
Go through the open tickets and close the duplicates.
Why is the payment webhook returning 401 since this morning? Sort it out please.
I want the test suite to run in parallel on CI.
Cancel the gym membership and confirm by email.
Prepare slides for Monday's board meeting from the Q2 numbers.
bump eslint to v9 and clean up whatever breaks
Reserve a table for four near the station, Saturday at eight.
Take the old landing page offline.
tests are red on main after the merge, can you look
Turn the CSV in the attachment into a proper Excel file with totals.
I'd like you to book me the 7:05 train to Lyon on Friday.
Check whether anyone still imports the old client, and delete it if not.
The word "recieve" is misspelled all over the docs folder; correct it everywhere.
I have no idea why the cron job ran twice last night. Investigate and stop it from happening again.
Move the standup to 9:45 and tell the team.
Transfer 200 euros to the holiday account.
Remind me to call the dentist tomorrow at ten.
Run the migration against a copy of production first and report how long it takes.
Make the header sticky and a bit smaller.
Traceback (most recent call last):\n  File "app.py", line 31, in main\n    load(cfg)\nKeyError: 'region'\n\nsame as yesterday, can you deal with it
npm ERR! code ERESOLVE\nnpm ERR! could not resolve dependency: react@18\nfix pls
Thanks, that helped! Now do the same for the mobile app.
Nice. Next, deploy it to staging and send me the link.
Every second upload ends in a timeout. I want to know where the time goes, profile it.
The thermostat in the office keeps resetting itself to 16 degrees, make it stay at 21 during the week.
Please proofread contract_v3.docx and save the corrected version.
Find me a plumber who can come before Friday.
Set up a weekly report that lands in my inbox every Monday.
Bring the old blog back online, I don't care how.
I accidentally pushed my .env file. Rewrite the history and rotate the keys.
I think the cache never invalidates, verify that and write a failing test.
Log me in to the supplier portal and download the March statements.
Collect all receipts from my mail and file the expense report.
"""
)

NOT_TASKS_EN = _messages(
    r"""
What does idempotent mean?
I finally fixed that flaky test, it was the clock all along.
How do people usually structure a monorepo?
Is Rust a better choice than Go for command line tools?
good job on the migration yesterday, everything ran smoothly
Remember that our fiscal year starts in October.
Translate to German: Please restart the server and clear the cache.
What did we decide about the pricing page last week?
lol my build has been running since lunch
Summarize our conversation so far.
I'm exhausted, three deploys in one day.
What's the difference between a mutex and a semaphore?
Do you think microservices are overrated?
Tell me something funny about databases.
We deployed the new search on Monday and traffic doubled.
Rephrase this sentence so it sounds friendlier: fix your code or the release is cancelled
Yesterday the whole office was without internet for four hours and honestly it was lovely.
My sister works as a release engineer in Oslo.
When was Kubernetes first released?
Could you explain how TLS certificates are checked?
Who invented the spreadsheet?
The tests pass now, thanks a lot!
I'd never run a database on Windows, would you?
Did I already tell you about the server room flood?
Just so you know, I prefer tabs over spaces.
Great, that worked.
How long does it usually take to get a visa for Japan?
What would happen if we deleted the index?
ha, classic, the printer never works when the boss is watching
no need to change anything, I only wanted to understand it
Why do so many startups rewrite their backend in the second year?
I love how clean the new dashboard looks.
Is it normal for a laptop fan to be this loud?
In your opinion, should tests live next to the code?
My password manager of choice is the one that came with the phone.
Give me the gist of what we talked about this morning.
That deploy scared me half to death, glad it's over.
The patch went out at noon and so far no errors.
Which city has the best public transport in Europe?
Once my colleague dropped the production table on a Friday afternoon; we restored it by midnight and ate cold pizza.
How would you explain recursion to a child?
I've been learning to cook and my first risotto was a disaster.
You were right about the memory leak earlier.
Should I learn Python or JavaScript first?
thank you for fixing the calendar
Fun story: our very first customer paid us in tomatoes.
For future reference, my manager is called Ines.
Can you recommend a good book on distributed systems?
It's raining again and I forgot my umbrella.
What was the name of the library you suggested earlier?
The interview went well, they want me to come back on Thursday.
Please shorten this paragraph: The committee has decided to delete all old records and to install a new system.
I wonder whether anyone still uses SVN.
Morning! Slept badly, the neighbours were moving furniture all night.
My build is green again.
Don't do anything yet, I'm still thinking about it.
What's a good name for a cat?
Are you able to feel bored?
We had a great retro today, everybody agreed to write more tests.
Docker is such a pain sometimes.
"""
)

TASKS_ZH = _messages(
    r"""
把首页的轮播图换成新的活动海报
帮我约王医生下周三上午的号
测试环境的数据库连不上了，看一下
能不能给导出功能加个进度条？
麻烦把会议改到四点，并通知大家
删掉三个月前的日志
订一张明早去上海的高铁票，靠窗
线上又报 502 了，赶紧查查
写个脚本，把所有图片压缩到 1MB 以内
这个函数太长了，拆一下
给客户发封邮件，说发货要推迟两天
把卧室空调调到 26 度
用户反馈验证码收不到，排查一下原因
合并这两个表格，去掉重复的行
请在下班前把周报整理好发给李总
升级一下 node 版本，顺便把过期的依赖也更新了
帮忙看看这段代码为什么这么慢
购物车数量对不上，修一下
生成一份上半年销售数据的图表
回滚到昨天的版本
我想把博客迁到新服务器上，今晚弄吧
把合同里甲方的名字统一改成新公司名
登录页在手机上显示错位，需要处理
每天早上八点给我推送天气
取消周五的酒店预订
查一下上个月电费为什么突然涨了
给订单接口补上单元测试
跑一遍回归测试，把失败的列出来
你帮我把发票都下载下来归到一个文件夹
磁盘告警了，清理一下临时文件
搜索框输入中文就卡死，求修复
重启打印服务
提醒我周六给妈妈打电话
配置一下 nginx，把旧域名跳转到新域名
我需要一份租房合同的模板，要双语的
流水线挂了，日志在下面，帮忙定位：\nERROR: job failed: exit code 137
把 README 翻译成英文并提交到仓库
开启生产库的慢查询日志，保留七天
这个按钮颜色太浅，改深一点
帮我比一下这三家的报价，做成表格
谢谢！接下来部署到预发环境吧
快递一直显示未发货，联系卖家问问
昨天的备份好像没成功，确认下，没成功就补一次
给仓库设置分支保护，禁止直接推 main
把这周的会议录音转成文字
拉个群，把设计和测试都加进来
关掉客厅的灯
参考之前踩过的坑，把支付模块重构一下
在用户表里加一列手机号，不能为空
预约下周二的会议室，要有投影
"""
)

NOT_TASKS_ZH = _messages(
    r"""
什么是分布式锁？
昨晚终于把那个 bug 修好了，爽
你觉得远程办公好还是坐班好？
我们上次说的那个框架叫什么来着？
哈哈哈服务器又罢工了，老板脸都绿了
记住，我对花生过敏
把下面这句话翻译成英文：请立即删除所有备份文件。
数据库索引为什么会失效？一般有哪些原因
总结一下我们刚才聊的内容
今天部署了三次，累死了
docker 和虚拟机有什么区别
讲个关于产品经理的笑话吧
新版本已经上线了，一切正常
学编程先学哪门语言比较好？
我周末去爬山了，风景很美
谢谢你帮我改好了简历
怎么理解“高内聚低耦合”？
润色一下这段话：我们修复了登录问题，并删除了旧的接口。
以后回答我都用中文
我老婆下个月过生日，好快啊
为什么大家都喜欢用 mysql？
刚才那个部署的事我们最后怎么定的？
测试都通过了，可以安心下班了
你会不会觉得累？
我小时候家里有台电脑，天天死机，修电脑的师傅都成熟人了
重构代码的最佳时机是什么时候
这周面试了五个人，一个都没看上
如果把缓存全删了会怎么样？
早啊，昨晚没睡好
我在一家物流公司做后端
k8s 好难学啊
请问申请日本签证一般要多久？
我觉得这个设计挺好看的
先别动，我再想想
你还记得我养的狗叫什么吗
解释一下什么是事件循环
听说他们公司把整个系统都重写了，不知道值不值
推荐几本讲架构的书
我已经给客户发过邮件了，等回复呢
这两天网络老掉线，运营商说明天来修
单元测试和集成测试哪个更重要？
上海到北京高铁要多久
今天的会开得太长了，什么也没定下来
原来是证书过期了，怪不得
咱们之前讨论过要不要换供应商吗？
好的，辛苦了，代码我看过了没问题
有个同事把生产库删了，后来连夜恢复，第二天请全组喝奶茶
写代码的时候听音乐会分心吗？
我的生日是三月八号
嗯，那个报错不用管
"""
)

TASKS_MIXED = _messages(
    r"""
帮我把这个 PR review 一下，没问题就 merge
Could you 把 slides 发给 marketing team？
staging 又 down 了，restart 一下 pod
把 config 里的 timeout 改成 30s, then redeploy
Please 帮我 book 一个 meeting room，明天下午三点
这个 API 返回 null，can you check why
cron job 昨晚没跑，看下 log
写个 unit test 覆盖一下 edge case
Update 一下我的 calendar，周五 off
把 wiki 上的 onboarding guide 同步到 Notion
add 一个 loading 状态到 submit button 上
redis 连接数爆了，fix it asap
"""
)

NOT_TASKS_MIXED = _messages(
    r"""
今天 deploy 很顺利，team 都很 happy
Kubernetes 里的 sidecar pattern 是什么意思？
我觉得 React 比 Vue 好写一点, what do you think?
刚 merge 完，终于可以休息了 lol
thanks，那个 bug 已经 fix 了
帮我 translate 这句话：please delete the branch after merging
上次 meeting 我们说的 deadline 是哪天来着？
我是 backend engineer，平时用 Go
remember 一下，我不吃辣
code review 真的很花时间 haha
为什么大家都说 Rust 的 learning curve 很陡？
昨天 on-call 被 page 了三次，好困
ok 了，test 都 pass 了
summarize 一下我们今天聊的 topic
今天把 CI pipeline 迁完了，明天放假
这个 release 终于 ship 了，开心
"""
)

MORE_TASKS = _messages(
    r"""
Whoever set up the backup job forgot the uploads folder. Include it.
two things: the footer is cut off on small screens, and the sitemap is stale. both please
I'd appreciate it if you could look over the lease and flag anything odd.
Why does our checkout page load so slowly today? Please dig in.
All the dates in the report are in US format, we need ISO.
Wire the new sensor into the hallway automation.
Anything you can do about the flickering chart on the admin page?
I forgot to water the plants, start the irrigation for ten minutes.
Can we have the meeting notes in the shared folder by five?
Strip the EXIF data from these pictures before you publish them.
Time to clean the attic folder: everything older than 2019 goes to cold storage.
The customer in ticket 4411 wants a refund. Handle it.
Replace moment with date-fns across the frontend
Grant Lena read access to the analytics project.
make the tests pass
Have the car serviced next week, any day but Tuesday.
Run `terraform plan` and paste the output here.
Ship the parcel with tracking, insured.
If the disk is over 90 percent, delete the old snapshots.
Before you go home: archive the finished projects, will you?
页脚的版权年份还是去年的，改过来
库存低于十件的商品列个清单给我
把王经理从抄送里去掉再发一遍
首页打开要八秒，想办法优化到两秒以内
下单接口偶尔返回空数组，你去查一下是哪里的问题
这份简历按招聘要求调整一下，输出成 PDF
周末去成都，机票酒店一起安排了吧
照着设计稿把注册页实现出来
找出所有没有关联订单的支付记录
监控上 CPU 一直满的，处理一下
用 Python 写一个定时备份的脚本
新员工下周入职，给他开通邮箱和代码仓库权限
电视声音太大了，调小点
明天的闹钟往后推半小时
该续费的域名都续了吧
"""
)

MORE_NOT_TASKS = _messages(
    r"""
The migration took six hours but we made it, everyone's asleep now.
I was thinking about how software used to come on floppy disks.
What would you do if your server caught fire?
Our CI is slower than my grandmother, and she's ninety.
How come tables in HTML are considered bad style?
You said earlier that indexes slow down writes, why is that?
The refactoring is done, the tests are green, I'm off for the weekend.
Honestly the best part of the release was the cake.
Explain the difference between merge and rebase.
My flight was cancelled and I spent the night at the airport, what a trip.
Is there a rule of thumb for how many tests a function needs?
My dog ate the printer cable, so no printing today, haha.
The word deploy comes from French, doesn't it?
Why is the sky red at sunset?
I'm the one who runs the build farm, so ask me anytime.
How much does it cost to host a small website these days?
So the bug was just a missing comma. Four hours!
What does the error ECONNRESET mean?
Does restarting a router really help or is that a myth?
Which of the two did you say you liked better?
The plumber fixed the sink, booked for next year already.
Tell me about the history of version control.
Nobody writes cover letters any more, right?
Just finished setting up the new laptop. Feels great!
keep in mind that the staging password changes on Mondays
昨天把会议室的投影修好了，今天又有人说谢谢我，哈哈
为什么程序员总爱说“重启试试”？
写测试到底有没有用，网上吵了好多年
我们公司要求每次提交都写单元测试，挺麻烦的
做后端需要学前端吗？
之前让你查的那个报错，结论是什么来着？
服务器今天很稳定，没有告警
我把简历投出去了，等消息呢
删库跑路这个梗是怎么来的？
这段话用英语怎么说：请把合同发给我
我家的空调用了十年都没坏过
部署的时候最怕遇到什么？
改需求改到吐，真服了
微服务是不是都需要网关？
下周要去北京出差，有点期待
数据迁移已经全部完成，业务反馈良好
听了一天的评审会，脑袋嗡嗡的
"""
)

FRESH_TASKS = _messages(
    r"""
The onboarding emails go out twice to everyone who signed up on mobile. Yours to fix.
Would it be possible to get the floor plan as a DWG by Thursday?
I keep getting "permission denied" when I publish the package; get it through for me.
Two of the radiators report no data since Sunday, please find the cause.
After the tests pass, tag v2.3.0 and write the changelog.
New hire starts Monday: laptop, badge, mailbox. Take care of the lot.
Every link in the footer should open in a new tab.
Somebody left debug prints all over the importer. Clean them out.
Can the weekly digest go out on Friday instead of Monday? Change it, please.
Have a stab at making the parser twice as fast.
What's eating the disk on build-02? Check and free at least 20 GB.
I owe Marta 60 euros for dinner, send it to her.
put everything from the whiteboard photo into tickets
My talk is on Tuesday and I have no slides. Make ten from the paper in my drive.
webpack 5 broke our svg imports, migrate the config
Swap my Tuesday and Thursday shifts and let Ivo know.
psql: error: connection to server at "db" failed: FATAL: password authentication failed\nWorked last week. Get it running again.
Look up the opening hours of the town hall and book the first free slot.
The PDF comes out empty on Windows. Reproduce it and write down the steps in the ticket.
We promised the customer an export in XML. Build it, behind a flag.
用户说支付成功了但订单还是待付款，你来处理
周五之前把三季度的数据透视表做出来
能把这个接口的响应时间压到 200 毫秒以内吗？
日志里全是 connection reset，找找原因然后修掉
我明天九点到机场，提前叫好车
这个月的发票还差两张，催一下供应商
希望列表页支持按时间倒序，今天能做完最好
旧的活动页没人看了，下掉吧
构建产物太大，想办法砍一半
给新来的实习生写一份环境搭建文档
客户要一份去年的对账单，下班前发过去
帮我盯着这个商品，降到两百以下就下单
有三个接口没有鉴权，都补上
扫地机器人卡在沙发底下了，让它先停
那台旧服务器可以关了，数据先备份
把英文版的隐私政策也更新成一样的内容
下周出差的行程和酒店都帮我弄好
这条 SQL 跑了十分钟还没完，优化
翻译文件里缺了二十多个 key，补全后提 PR
报告第三页的图和数据对不上，核对后重新导出
CI 上 lint 一直 fail，帮忙 fix 一下
Please 把 README 里的安装步骤 update 成最新的
Anyone else sees the map upside down on Firefox? Please look into it and fix.
Wipe the test tables and reseed them with the fixtures from last sprint.
The video call link in the invite is dead. Send everyone a new one.
I'd rather have the totals at the top; rearrange the sheet like that.
Let the caterers know we are 40 instead of 35.
make a backup of the wiki before the upgrade tonight
We need the invoices of 2022 scanned and sorted by supplier.
How about you write the integration test for this while I'm at lunch?
The script eats all the memory with files over 2 GB. Stream it instead.
kubectl get pods shows CrashLoopBackOff for billing, sort it
Please extend the lease of the storage unit by three months.
Can you see why the tax column is off by a cent in some rows?
Hand this ticket over to the Warsaw team with a short summary.
Change of plan: cancel the hotel and find an apartment with a kitchen.
Turn down the heating at night from now on.
It says "disk full" whenever I save. Could you free some space?
Publish the podcast episode with the corrected intro.
Track this parcel and tell me when it's out for delivery.
the graph needs axis labels and a legend
You can merge it once CI is green.
print two copies of the boarding passes
Cut a release from the current main.
把旧手机里的照片传到网盘
登录失败次数超过五次就锁账号，加上这个逻辑
客服说退款没到账，查查卡在哪一步
给这张海报换个暖一点的色调
这份 Excel 里手机号格式不统一，规范一下
下个月的排班表按上个月的样子再出一份
把仓库里没人用的图片都清掉
找三家能做喷绘的店，把报价发我
升到最新的 LTS，别影响线上
新接口的文档还没写，补一下吧
打印机连不上，弄一下
周三那个会取消，跟大家说一声
域名快到期了，续三年
数据导不进去，报编码错误，帮看下
搭一个简单的落地页收集邮箱
那个弹窗太烦人了，去掉
按照新的报销制度改一改申请表
你先跑一遍脚本，有报错发我看
老师，麻烦把成绩单盖章后寄到这个地址
我的快递被退回了，联系商家重发
There's a ghost entry in the phone book that nobody can delete. Get it out.
Do a dry run of the import and show me what would change.
My keyboard layout resets after every reboot. Any chance you can pin it?
Give the intern read-only access to the warehouse db.
Our status page still says "investigating". Update it to resolved.
Could we have the lights in the hallway come on at sunset?
Figure out which of the two queries is cheaper and use that one.
Refund order 8812 and apologise to the customer.
The QR code on the flyer leads nowhere, swap it for the right one.
Add Zoë to the invite and attach the agenda.
I need a taxi to the airport at 5:15 tomorrow.
pull the latest main and rebuild the image
Put the kettle on at seven every weekday.
Split the bill between the four of us and send the requests.
Bold the totals and freeze the first row.
Collect everyone's lunch choices by noon and place the order.
Why on earth is CI taking 40 minutes now? Bring it down.
Our onboarding video has no subtitles. Make some, English and Spanish.
Bitte, I mean please, rename the repo to atlas.
Have someone from facilities look at the broken door.
docker: Error response from daemon: port is already allocated.\nget the container up
Write up what we changed this week as release notes.
把前台和会议室的灯都关了
发票抬头开错了，重开一张
上海分公司的考勤数据导一份给财务
这篇稿子排一下版，配三张图
加个缓存，别每次都查库
整理下桌面上的截图，按日期归类
老用户登录后头像不显示，麻烦跟一下
给我约个体检，要周末的
给所有图片加上水印再上传
下午三点前把标书装订好送到前台
页面切换太慢了，做下懒加载
对比一下两个版本的性能，出个结论
把空调定时到六点
这堆 CSV 合成一个，编码统一成 UTF-8
你先把依赖装好，然后把服务拉起来
有空的话把测试覆盖率提到八成
那个定时任务改成每小时一次吧
The unsubscribe link 404s in every newsletter since June. Urgent!! please repair
Switch the staging DB to read-only while I export it.
Someone should tell the hotel we arrive after midnight. Do that, please.
I'd love for the search to ignore accents. Build that in.
There are 300 unread mails from the shop. Delete the lot.
Let's move the retro to Wednesday and invite the interns.
How about renaming the variable before anyone copies it? Go ahead.
Print this, sign it and scan it back to me.
error: linker `cc` not found\nplease set this machine up so that cargo build works
Archive anything in #random older than a year
Two-factor isn't on for half of the accounts. Turn it on.
The intro animation is too long, halve it.
ask the vendor whether the API limit can be raised
Our weekly numbers are late again; automate the report.
Can you dig up the contract with the cleaning firm and see when it ends?
Whip up a quick landing page for the workshop.
The colours are off in print, convert everything to CMYK.
Ping me when the price drops below 300.
数据库密码泄露了，马上换
给我找个周末能带狗的民宿
这个页面的标题改成“关于我们”
前端报跨域错误，后端那边配一下
把所有 print 换成日志
查重率太高，降到百分之十以下
客户地址写错了，趁没发货改过来
开发环境起不来了，帮我看看是不是端口冲突
按这个模板再做十份
今晚十点停机维护，你把公告发出去
"""
)

FRESH_NOT_TASKS = _messages(
    r"""
Got the invoice, thanks, all good on my side.
How do you even pronounce nginx?
We shipped it! Eleven months of work and nobody noticed the old site is gone.
Are there any downsides to using UUIDs as primary keys?
My colleague writes commit messages in verse, it's wonderful.
I'm allergic to peanuts, in case you ever order food for me.
So yesterday's outage was caused by a squirrel, no kidding.
What made you suggest Postgres over MySQL the other day?
To be fair, the new printer is much quieter than the old one.
Cool, the certificate thing is sorted then.
Could you tell me what "eventual consistency" is all about?
If you had to choose, tabs or spaces?
I read that the first bug was an actual moth.
No rush at all, just wanted to say the report looked great.
Put the last ten messages into one paragraph for me.
Why are there so many JavaScript frameworks?
I've moved to Bergen, new address is Torggata 4.
Half the team is sick, the release is postponed, and it's snowing. What a Monday.
That restaurant you booked was lovely, by the way.
Which version of Python introduced pattern matching?
How would you say "the build failed, please check the logs" in Italian?
I used to run my own mail server. Never again.
Do servers dream of electric sheep?
收到，等你部署完我再看
我司的接口文档写得真烂，看得头疼
缓存穿透和缓存雪崩有啥不一样
刚面完试，问了一堆 redis 的问题，答得一般
这个功能上周就上线了，效果还行
你上回推荐的那个监控工具叫啥
记一下，我们组的站会是每天十点
为什么重启能解决大部分问题？
同事离职前把文档全写完了，真是好人
代码写多了会不会手腕疼
把咱们今天讨论的重点列几条
“删除”的英文怎么说？
今天没写代码，光开会了
我儿子第一次自己写了个网页，激动
如果没有互联网，程序员会去干嘛
终于把房子装修完了，下周搬家
一般项目什么时候该拆微服务？
嗯，测试的结果我看到了，挺好的
北京明天会下雨吗，随便问问
我的车是辆白色的旧高尔夫
the demo 很成功，客户 very happy
GraphQL 和 REST 你更喜欢哪个？
The new coffee machine is a miracle of engineering.
I've booked the flights already, no need.
Is it true that honey never spoils?
ok, the fix worked on my side too
My first computer had 64 kilobytes of memory and I wrote games on it.
Who won the match last night?
Why does bread get stale?
The team decided to postpone the release; fine by me.
I never understood why people run their own email.
What's your take on pair programming?
Sounds like the deploy is finally behind us.
Explain like I'm five: what does a load balancer do?
Are you a real person?
So tired of meetings. Send help, haha.
How many people work on the Linux kernel?
Did we ever find out who ordered the standing desks?
Could you rewrite this a bit more formally: hey, your parcel is lost, deal with it
I'll fix it myself tonight, just wanted to vent.
We use GitLab at work and GitHub at home.
What time is it in Tokyo?
I passed the exam!!
By the way, the client loved the prototype.
我们用的是 GitLab，不是 GitHub
这个 bug 太搞笑了，居然是时区的问题
我自己来改吧，你不用管
刚提交完代码，准备下班
你说人为什么要上班
今天面试官问我怎么设计短链系统
昨天部署失败了三次，最后发现是磁盘满了，服了
线程和进程的区别，用大白话讲讲
我妈让我周末回家修电视，唉
写周报真痛苦
听你这么说我就放心了
发布会几点开始来着
把大家都逗笑了
上次那个方案客户通过了，开心
有人说 vim 比 emacs 好，你同意吗
为啥我一写代码就困
“提交”和“推送”有啥不一样
我刚把猫喂了
这书写得真好
我明年想学钢琴
The kettle finally died after twelve years of service.
Could you imagine living on a boat?
Pretty sure the CI gremlins are back, oh well.
Our old office had a server room with a fish tank in it.
Is it just me or did Slack change its font?
I always mix up affect and effect.
Everything's deployed and I'm going to bed.
Which came first, Linux or Git?
You're a star, the report was perfect.
What are the main ideas of domain-driven design?
Boss says we may get new laptops, fingers crossed.
Paraphrase: "We will delete your account in 30 days."
That's exactly what I needed, cheers!
Did you know that octopuses have three hearts?
How long have you been running?
We'll probably rewrite it in Go some day, who knows.
My landlord raised the rent again, I could scream.
The bug report was wrong, it's expected behaviour.
Who did we say would bring the projector?
Turns out the test was flaky because of daylight saving.
I'm vegetarian, by the way.
Would a bigger cache have helped, in theory?
Nah, leave it as it is.
今天的代码评审吵了一下午
为什么 Python 的缩进这么重要
他们组的服务器比我们的好多了
这个月加班太多，想辞职
修电脑的说要换主板，贵死了
上午的演示客户很满意
你平时都怎么学习新技术的？
刚把论文改完，交给导师了
测试环境和生产环境一般怎么隔离？
我以前做过三年运维
删库这种事我可不敢想
“部署”用日语怎么说
你对低代码怎么看
那家店的服务真的不行
周末终于不用值班了
有没有什么好看的科幻片
我们公司用飞书，不用钉钉
上次你帮我订的酒店很不错
这段代码写得真漂亮
发版日大家都特别紧张
The parcel arrived, thank you for chasing it.
Whoever invented regex had a dark sense of humour.
I'm thinking of learning Rust this winter.
What do people mean by technical debt?
You once told me a trick for remembering port numbers, what was it?
Just merged my first pull request, so proud!
Our designer hates the new logo.
Does anyone actually read release notes?
I never delete emails, I just archive everything.
Good idea, but not today.
Put yourself in my shoes for a second.
Between you and me, the audit was a joke.
What's the capital of Mongolia?
I changed my mind, leave the file alone.
Nothing is broken for once, enjoy the silence.
How do airlines schedule their crews?
Our CEO writes code at night.
The error went away on its own.
Hope your weekend was as good as mine.
前两天搬家，网线还没通
这个错误我知道怎么回事，不劳你了
程序员的尽头是什么
我发现写文档其实挺治愈的
系统升级之后流畅多了
你说的那个方案我同意
云服务和自建机房哪个划算
刚开完会，说下个月要裁员
为什么邮件会进垃圾箱
我把手机摔了，心疼
"""
)

WAYS_TO_ASK = _messages(
    """
untar the archive from ops and put the fonts under public/fonts
Our login form accepts empty passwords. Please plug that hole right away.
Would you be able to generate sample data for the demo, about 500 fake customers?
Have the bot post the on-call person to Slack every Monday at nine.
I was hoping you could merge the two address books and drop the duplicates.
The contact page still shows our old phone number, that has to change.
Have our privacy page translated into Spanish and publish it.
Take the beta flag off the new editor and announce it in the changelog.
This regex hangs on long inputs; rewrite it so it's linear.
It would help if the CLI printed a progress bar.
Can the search results be cached for five minutes? They hammer the db.
Please see to it that the backups are encrypted.
Wherever we use moment.js, use date-fns instead.
try upgrading to node 22 and see what breaks
Three of the links in the onboarding mail are dead; point them to the new help centre.
I'd like the nav to collapse into a hamburger below 600px.
The seed script inserts the same user twice. It should skip existing ones.
The coupon field ignores upper-case codes. I'd appreciate a fix before the sale starts.
We urgently need the old API keys revoked, they were in a public gist.
Gather everything we spent on travel this year in one sheet, by month.
the drop-down closes too early, have a look?
仓库里还有一堆没人用的图片，清一清。
这版安装包太大了，想办法瘦身到 50MB 以下。
机房空调温度调低两度
小程序的分享图糊了，重新切一张两倍的。
让测试环境每天凌晨自动重置数据。
登录成功之后应该跳回原来的页面，现在总是回首页。
新版 SDK 接进来，老的别删，先并行跑着。
这台服务器续费一年
抽空把那几个 TODO 清了。
把会议室的预定记录导出来看看谁占得最多。
明早九点叫我起来参加早会。
给 checkout 流程补几个 e2e test。
这个类太臃肿了，职责拆开。
数据库连接串换了，所有服务的配置跟着改。
新用户注册要加邀请码校验，周四前搞定。
这个 query 跑太久了，看看 index 有没有用上，没用上就加。
下午三点前给我结果：到底哪些用户受影响。
"""
)

WAYS_TO_TELL = _messages(
    """
Write me a haiku about merge conflicts.
Please put this into Dutch: "The server could not be reached, try again later."
Give me the short version of our talk about pricing.
If money were no object, would you rewrite everything in Rust?
Please keep your answers in British English from now on.
My deploy went through on the first try, I should buy a lottery ticket.
okay thanks, I'll take it from here
Boil our conversation down to the three main points.
Let me vent: the client changed the spec for the fifth time today.
Any idea why the sky turns red at sunset?
The release party was wild, we even had a cake shaped like a bug.
Is it worth writing tests for a prototype?
Our team rewrote the importer in spring.
讲个段子吧，跟测试有关的。
写代码写到半夜，眼睛快睁不开了。
嗯，测试环境的事先放一放吧。
我对花生过敏，麻烦记一下。
我在成都上班，负责一个电商后台。
测试小哥请假了，今天安静得很。
多谢，按你的办法改完就不报错了。
如果让你重新设计互联网，你会改什么？
凌晨被报警叫醒三次，人都麻了。
我们公司一般周二发版，周五从来不上线。
刚把新版本推上去，松了一口气。
把刚才的结论用一句话再说一遍。
之前聊的那个 cache 的 TTL 最后定多少了？
嗯，日志我看了，确实是网络抖动。
大学的时候，我们宿舍合买了一台服务器。有一回它自己重启，把室友写了一半的论文弄没了。
"""
)
