"""Chinese for the experience gate: who is asked to do what, and what is only talked about.

Chinese has neither spaces nor inflection, so the lists are searched as substrings and the mood is read from particles:
帮我/请/麻烦/把…/一下 ask, 了/已经/刚 tell, 吗/怎么/为什么 question. All lists are general vocabulary.
"""

import re
from collections.abc import Iterator

from app.core.gate_english import ACTS
from app.core.gate_signs import Found, Sentence, Sign


def _any(words: str) -> str:
    """An alternation of literal words, longest first; such a pattern can not backtrack beyond one word."""
    return "(?:" + "|".join(sorted(words.split(), key=len, reverse=True)) + ")"


_SIDE_EFFECT_WORDS = """
    写 改 编辑 修改 更改 变更 删 删除 删掉 去掉 去除 移除 移动 移到 挪到 迁移 迁到 部署 发布 上线 下线 配置 打补丁
    新增 添加 加上 加个 加一 加入 增加 创建 新建 建个 建一 生成 安装 装上
    装个 装一 卸载
    升级 降级 更新 重命名 改名 替换 换成 换掉 改成 改为 合并 合到 回滚 回退 撤销 撤回 提交 推送 推到 导出 导入 上传
    下载 同步 备份 恢复 还原 归档 压缩 解压 扩容 缩容 重启 启动 停止 停掉
    停了 关掉 关闭 关了 关上 关灯 开灯 打开 开启
    启用 禁用 授权 吊销 收回 轮换 续期 续费 续订 注册 注销 订阅 退订 取消 改签 退票 预约 预订 预定 订一 订个 订张
    订两 订三 订机票 订票 订酒店 订餐 订房 定个 定一 约个 约一 约他 约她
    购买 买一 买个 买张 买两 采购 下单 付款 支付 缴费 交费 交一 缴 退款 退货 退掉
    发送 发给 发邮件 发封 发一 发个 发到 发消息 发出去 寄给 寄到 寄出 转发 回复 回个 回一 通知 邀请 拉群 拉个群
    打电话 打给 提醒我 提醒他 提醒她 提醒大家 提醒一下 叫醒 设置 设定 设成 设为
    设个 设一 调高 调低 调到 调成 调整 调暗 调亮 分配 指派 转给 派给 标记 标注 打标签 打上 申请 提个 提一 提交 填写
    填好 填一 填
    起草 草拟 拟一 拟个 准备一 准备好一 准备个 准备份 准备两 准备三 准备材料 准备资料 准备会议 制作 做个 做一 做成
    做份 做张 画个 画一 画张 画出 绘制 排版 整理 拆分 拆成 去重 脱敏 加密 解密
    初始化 转账 转到 转成 转换 转为 汇款 报销 审批 拉黑 屏蔽 静音 播放 放首 放一 放点 暂停 记录到 记到 写到 写进
    保存 存到 存成 放到 放进 挂载 打印 扫描 清空 清理 清掉 清除 切换 切到
    切回
    补上 补充 补一 补齐 补全 补个 贴到 贴上 插入 追加 锁定 解锁 冻结 解冻 下架 上架 改回 改到 改一 延期 推迟 提前到
    挪 换个 换一 换到 换算成表 列成 输出成 输出到 整成 弄成 弄个 弄一 弄份
    搞个 搞一 搞份 搭一 搭个 搭建 出一 出个 出份 编一 编写 撰写 代写 录入 登记 报名 挂号 打车 叫车 叫好 叫辆 下掉
    升到 降到 说一声 告知 知会 转告 告诉大家 告诉他 告诉她 打声招呼 打个招呼
    规范一下 清掉 弄掉 拿掉 撤掉 砍掉 砍到 砍一 叫个 点个 点一份 点外卖 充值 布置 翻新 抽取成 抽成 抽出 提取 封禁
    解绑 绑定 接通 派发 群发 抄送 投递 投票给 上报 下发 铺 挂上 摘掉 隐藏
    锁上 拉起 起一 起个 开个 开一 建好 建立 裁剪 压到 缩小 放大 缩短 拷贝 复制 粘贴 签收 签署 盖章 归类 排个 排一
    排序 加固 注释掉 去掉 干掉 杀掉 kill 踢出 清洗 腾出 腾 浇水 喂 扫地
    拖地 加热 预热 开空调 关空调 开门 锁门"""

_EXECUTION_WORDS = """
    修复 修好 修一下 修下 修 调试 测试 测一下 测一 测下 跑一下 跑一 跑下 跑个 跑完 跑通 跑 构建 编译 打包 运行 执行
    实现 开发 重构 重写 集成 接入 接上 对接 排查 查一下 查下 查查 查一
    查清 查看 查询 查找 查出 查 检查 看看 看一下 看下 看一眼 瞧瞧 瞅瞅 瞅一眼 盯一下 盯着 盯 定位 分析
    调研 研究一下 研究下 核对 核实 校验 验证 审查 审核 审一下 审阅 评审 复现 追踪 跟踪 监控 优化 提速 自动化 处理
    解决 搞定 弄好 弄一下 弄下 搞一下 搞下 搜索 搜一下 搜下 搜搜 搜 找出 找一
    找下 找到 找个 找几 找找 找 统计 计算 算一下 算下 算出 算算 汇总 收集 搜集 抓取 爬取 爬一下 爬 拉取 拉一下
    拉一份 拉出
    列出 列一 列个 对账 比对 对一下 对比一下 完成 写完 适配 联调 压测 巡检 诊断 评估一下 规划 安排 协调 催一下 催
    跟进 确认一下 确认下 确认 问一下 联系 约 联络 处理掉 收拾 拆开 走一遍
    过一遍 梳理 盘点 盘一下 清点 改造 补测 重跑 重试 重测 回测 测 拉个 剖析 追查 摸排 弄 搞 扒一下 扒 试跑 试一下
    验一下 化简 预测 训练 标定 校准 估算"""

_SINGLE = "写改删修测跑查搜找算订买发寄约催填装建调设换加关开停画拉挪盯弄搞爬退撤锁推合传存补贴续拆印租洗"
"""One-character verbs that ask only at the very start of a clause or after 把…/帮我."""

_SIDE_EFFECT = re.compile(_any(_SIDE_EFFECT_WORDS))
_EXECUTION = re.compile(_any(_EXECUTION_WORDS))
_ENGLISH_WORD = re.compile(r"[a-z][a-z-]{1,20}")
_INVESTIGATES = re.compile(_any(
    "查 看看 看一下 看下 看一眼 瞧瞧 瞅瞅 排查 分析 定位 找出 找找 找一下 统计 确认 核对 核实 调研 研究一下 算一下 "
    "算下 算算 算出 检查 诊断 追查 验证 盯 复现 搜一下 搜搜 梳理 check debug"
))  # fmt: skip

_LEAD = re.compile(
    r"^(?:提前|想办法|设法|尽量|争取|试着|那个|那么|接下来|回头|等会儿?|待会儿?|晚点|稍后|那就|那|嗯+|好的|好吧|好|"
    r"行|可以|ok|okay|然后再|然后|接着|再|顺便|顺手|另外|还有|同时|最后|"
    r"首先|先|现在|马上|立刻|立即|赶紧|赶快|尽快|快点|快|"
    r"直接|重新|统一|全部|都|也|并且|并|且|就|干脆|不然|要不|话说|对了|哎|诶|喂|嗨|你好|您好|hi|hey|老铁|兄弟|亲|"
    r"同学|各位|大佬|小助手|助手|机器人|今晚|今天|明天|明早|明晚|后天|下班前|"
    r"下午|上午|晚上|早上|中午|周[一二三四五六日末天]|下周[一二三四五六日天]?|这周|本周|每天|"
    r"每周[一二三四五六日天]?|每月|"
    r"自动|手动|批量|紧急|急|1|2|3|4|5|一|二|三|[.、)\s@:]|辛苦|务必|一定要|记得|千万|别忘了|不要忘了|最好|请你|"
    r"你先|你再|你去|你来|你|去|来)+"
)
_TOWARDS = re.compile(
    r"(?:给|在|对|为|用|从|往|到|按照?|参考|参照|根据|替|跟|和|向|针对|基于|照着)[^,]{1,24}?(?="
    + _any(_SIDE_EFFECT_WORDS + _EXECUTION_WORDS + " ".join(_SINGLE))
    + ")"
)
"""To whom, where, with what: 给客户 发…, 在表里 加…"""
_THANKS = re.compile(r"谢谢|感谢|多谢|多亏|谢了|谢你|感激|幸亏|听说|据说")
_NO_ACT = re.compile(
    r"开心|开会|开始|开玩笑|开森|跑步|跑路|改天|改需求|发现|发烧|发呆|发愁|加油|加班|装修|关于|关系|传说|算了|算是|"
    r"算不|找不|合适|合理|合同|存在|订单|设计|设备|画面|退休|填空|"
    r"[写改删跑查做测调](?:得|到|代码的|了)|拉肚子|爬山|换季|补课|推荐|推测|查重|买房|买车|加起来|建议|修养|发生|"
    r"设想|关注|关心|装作|打算|锁定|传统|画风|存款|测试了|停电|调休|换句话"
)
_NOMINAL = re.compile(
    r"[的得]|失败|成功|出错|报错|中(?![文英])|后|前(?!端)|是(?!否|不是)|时候?|之后|以后|很|真|太|挺|流程|方案|经验|"
    r"工程师|团队|部门"
)
"""After the verb: it was a noun. 部署的事, 测试时, 迁移方案."""
_NOUN_FIRST = re.compile(_any(_SIDE_EFFECT_WORDS + _EXECUTION_WORDS) + "(?:的|得)")
_FINISHED = re.compile(
    "(?<!继)(?:"
    + _any(_SIDE_EFFECT_WORDS + _EXECUTION_WORDS + " ".join(_SINGLE))
    + "(?:一?下|掉|好|完|出来|回来|过来|上去|下来|回去|干净|清楚|到位)?(?:了吧|吧|呗)|"
    + _any(_SIDE_EFFECT_WORDS + _EXECUTION_WORDS + " ".join(_SINGLE))
    + "(?:掉|好|完|出来|回来|过来|上去|下来|回去|干净|清楚|到位))[!~]*$"
)
"""A verb with its result at the end, the object in front: 旧日志删掉, 机票一起订了吧."""
_MOVED = re.compile(r"我|人|他|她|大家|老板|自己|咱")
"""把 with a person is feeling, not work: 把人累坏了."""
_JUDGES = re.compile(r"(?:真|太|好(?=[难累烦慢香吃看听玩用])|很|挺|非常|特别|实在|超)(?!的)[^,]{1,5}$(?<!点)(?<!些)")
"""A verdict at the end: 写周报真痛苦."""
_SELF_TOLD = re.compile(
    r"(?:今天|昨天|上午|下午|早上|昨晚)?(?:我(?!想|要|需要|希望|的)|我们(?!想|要|需要|希望)|刚|终于|总算|"
    r"已经)[^吗?]{0,40}[了完过]"
)
_URGED = re.compile(
    "(?:先|尽快|马上|赶紧|立刻|立即|直接|统一|一并|重新|务必|一定要)" + _any(_SIDE_EFFECT_WORDS + _EXECUTION_WORDS)
)
"""The object in front, an urging adverb at the verb: 数据先备份."""
_STATE = re.compile(r"[很太挺]|真的|非常|有点|顺利|成功|好难|不好|[了过]$|都")
_SOFT_ACT = re.compile(r"(?<![说讲绍释想等记歇聊问教享明息气])一下(?!子|午)")
_ASKS = re.compile(_any(
    "帮我 帮忙 帮个忙 帮帮我 帮帮忙 帮他 帮她 帮咱 帮我们 帮看 帮查 帮改 劳驾 拜托 烦请 有劳 请你 请帮 请把 请将 "
    "请在 请给 请用 请对 请为 请从 给我 替我 替我们 为我 给我们 代我 让你 需要你 要你 "
    "你能不能 你能 你可以 能不能 能否 可否 可不可以 是否可以 方便的话 交给你 你来 你去"
) + r"|(?<![挺很太真好怕嫌点更不])麻烦(?!的|了|啊|死|事|不)|^请|(?:,|\s)请(?!问|教|假|客|求|示)|能帮|能给我|可以帮|可以给我|能.{0,24}吗|可以.{1,24}(?:吗|么)|行不行|好不好$|好吗$|行吗$|可以吗$|(?:could|can|would|will) you|\bplease\b|\bpls\b|help me")  # fmt: skip
_WISH = re.compile(
    r"(?:^|我|我们|咱们|需要|,|\s)(?:想要|要|需要|得|想让|打算让|必须|应该|该|希望)(?!求|是|不|紧|点|知道|问|了解|学)"
)
_BA = re.compile(r"(?:把(?!握|戏|手|柄|关)|将(?!来|军|近))([^,]{1,80})")

_QUESTION = re.compile(
    r"吗\??$|呢\??$|么\??$|吗[,\s]|什么|怎么|怎样|咋|为什么|为啥|为何|如何|哪个|哪些|哪种|哪里|哪儿|哪家|谁|多少|"
    r"几[个种点次岁年]|多久|多大|多长|多高|多远|是不是|有没有|会不会|"
    r"要不要|该不该|能不能|可不可以|好不好|行不行|值不值|对不对|需不需要|用不用|是啥|啥意思|区别|原理|意思是|"
    r"是否|难道|到底|究竟|何时|何为|有啥|干嘛|还是.{1,16}(?:好|合适|比较|快|划算)|好用不|靠谱不|啥(?=时候|样|是|叫|"
    r"用|好)|请问|请教"
)
_GENERIC_QUESTION = re.compile(
    r"区别|不同|有何|优缺点|优点|缺点|好处|坏处|利弊|原理|机制|概念|定义|含义|意思|是什么|是啥|什么是|什么叫|"
    r"什么意思|啥意思|如何理解|怎么理解|怎么看|怎么样\??$|哪个(?:更|比较)?(?:好|快|"
    r"合适|划算|强|稳)|哪种|推荐|建议|值得|值不值|要不要|该不该|应不应该|适合|好学|难学|为什么(?:要|会|叫|说|大家|"
    r"人|很多)|历史|由来|发展|趋势|看法|观点|你觉得|你认为|你喜欢|你最|你会|你是|"
    r"你叫|你知道|听说过|一般|通常|常见|注意什么|注意哪些|有哪些|有什么|怎么学|怎么用|怎么做|怎么写|怎么读|怎么配|"
    r"怎么选|怎么实现|怎么办(?:呢)?\??$|如何|应该怎么|该怎么|能不能用|可以用"
)
_SAYING = re.compile(
    r"explain|introduce|describe|recommend|suggest|compare|解释|介绍|讲讲|讲一下|讲下|讲解|说说|说一下|说明一下|"
    r"聊聊|聊一下|科普|告诉我|推荐|谈谈|描述一下|"
    r"举个例子|举例|教我|教教|普及|想知道|想问|想了解|想请教|请问|请教|好奇|比较一下.{0,10}和|打个比方|怎么看|"
    r"评价一下|点评|建议一下|给点建议|给个建议|出个主意|帮我想想|夸夸|夸我|猜"
)
_REWORDING = re.compile(
    r"translate|summari[sz]e|recap|rephrase|paraphrase|polish|怎么说|怎么翻|翻译|(?<!编)译成|(?<!编)译为|总结|概括|"
    r"归纳|摘要|润色|改写|缩写|扩写|"
    r"复述|换个说法|换种说法|说得.{0,6}(?:点|些)|精简|通顺|语法.{0,6}(?:对|错|检查)|改得.{0,8}(?:点|些|一点)|提炼|"
    r"纠正|校对|续写"
)
_STORED_TEXT = re.compile(
    r"文件|文档|仓库|目录|页面|网站|界面|文案|项目|代码|表格|报表|日志|手册|接口|工单|邮箱|邮件|周报|月报|日报|"
    r"季报|会议纪要|合同|录音|论文|pdf|readme|\.\w{2,4}\b|数据|评论|"
    r"反馈|issue|pr\b|ppt|资料|幻灯"
)
_EXISTING = re.compile(
    r"这段|这句|这篇|这个词|这几|下面|下列|以下|上面|上述|以上|刚才|刚刚|我们的?(?:对话|聊天|讨论|谈话|沟通)|咱们|"
    r"对话|聊天|聊过|聊的|说的|讨论|这次|“”|一句话|聊|这首|这个句子"
)
_PAST_TALK = re.compile(
    r"(?:我们|咱们|咱|你|我|之前|上次|上回|刚才|刚刚|昨天|前面|前天|那天|上周).{0,14}(?:说过|聊过|讨论过|提过|提到|"
    r"讲过|说的|聊的|讨论的|定的|定了|决定|商量|聊了|说了|聊到|讨论了|"
    r"谈了|谈到|谈的|约定|建议的|推荐的|问过|告诉过|跟你说|给你说|选的|选了|讲的|敲定).{0,14}(?:什么|哪|吗|谁|几|"
    r"多少|来着|怎么|啥|么|没|\?)|"
    r"来着|还记得|记不记得|记得(?:我|我们|上次|之前|吗)|你(?:刚才|刚刚|之前|上次|前面|昨天).{0,8}(?:说|提|建议|"
    r"推荐|讲|给)|(?:上次|之前|刚才|昨天).{0,12}(?:说|聊|讨论|定|"
    r"提|谈|决定).{0,8}(?:什么|哪|吗|谁|几|多少|来着|怎么|啥)|(?:我|我们).{0,6}(?:跟你说过|告诉过你|问过你)"
)
_NARRATION = re.compile(
    r"^(?:(?:嗯|好的|那个|对了|哈哈|其实|不过|但是|所以|今天|昨天|昨晚|前天|上午|下午|早上|刚刚|刚才|刚|上周|"
    r"上个月|终于|总算|已经|已|最近|后来|结果|目前|现在|本周|这周|"
    r"周[一二三四五六日末])\s*)*"
    r"(?:我|我们|咱们|咱|他|她|他们|她们|大家|同事|老板|领导|客户|朋友|我妈|我爸|老婆|老公|孩子)[^,]{0,30}(?:了|过|"
    r"完|好)(?:[。,!~\s呀啊哈]|$)|"
    r"(?:已经|刚刚|刚才|终于|总算|早就|刚).{0,24}(?:了|完|好|过|成功|通过|完成)|^已.{0,20}(?:了|完成|好|修复|上线|"
    r"部署|合并|发布|解决|处理)|"
    r"(?:搞定|弄好|修好|修复|改好|改完|做完|写完|跑完|跑通|测完|部署完|上线|通过|完成|解决|发完|发布|合并|搬完|"
    r"考完|订好|买好|恢复|好|忙完)了[,。!~\s啊呀哈吧]*(?:$|,)|一切正常|"
    r"(?:很|都|非常|挺|运行|十分|比较)(?:稳定|顺利|良好|正常)(?!吗)|(?:说|答应)(?:是)?(?:明天|后天|下周|今晚|晚点)|"
    r"改到(?:吐|崩溃|麻木|头秃)|进展顺利|全部通过|都通过|没问题了|"
    r"正常了|恢复正常|已经好|^我.{0,3}(?:在|正在|是|叫|住|喜欢|爱|讨厌|不喜欢|习惯|对.{1,8}过敏|一般|平时|通常|"
    r"一直|从来)|^我(?:的|家|妈|爸|老婆|老公|女儿|儿子|们公司|们团队|"
    r"们组)?.{0,12}(?:是|叫|住在|生日)|"
    r"(?:了|过)(?:一个|两个|三个|一|两|三|几|半|整).{0,12}(?:天|小时|年|个月|次|遍|公里|本|杯)|进度.{0,10}(?:完成|"
    r"过半|正常|\d)"
)
_STORY = re.compile(
    r"给你讲|跟你讲|讲个事|说个事|那会儿|那时候|那年|当年|小时候|上大学|读书的时候|刚毕业|刚入职|有一?次|有一?天|"
    r"有一?年|从前|很久以前|几年前|多年前|后来才|现在想起来|想起来|说起来|说来好笑|回想|"
    r"你猜|你敢信|没想到|居然|竟然|原来是"
)
_PAST_TIME = re.compile(
    r"^(?:.{0,4}(?:昨天|昨晚|前天|前晚|上周|上个?月|去年|前几天|周末|当时|以前|之前|早上|上午|下午|刚才|刚刚|最近|"
    r"那天|今早|凌晨)).{0,40}(?:了|过(?!来|去|滤|期|程))|"
    r"^(?:我|我们|咱们|他|她|他们|同事|老板|老王|小\S)[^,]{0,40}(?:了|过(?!来|去|滤|期|程))"
)
_DONE = re.compile(r"^.{0,12}?(?:了|过(?!来|去|滤|期|一遍|程|于))(?!吧|$|再|就|的).{1,}")
"""A verb followed at once by 了 and its object tells: 删掉了三个旧服务. An order has 了 at the end: 把它删了."""
_REMEMBER = re.compile(
    r"(?:^|[,\s请])(?:记住|记一下|记下|记着|请记|帮我记住|帮我记一下|你记住|备忘|记得(?:我|以后|今后)|以后(?:都|请|"
    r"你|叫我|跟我|回答|写|给|就)|今后|从现在起|别忘了我|顺便说一下|"
    r"告诉你|跟你说一声|说明一下背景|背景|fyi|同步一下(?:情况|进度|信息)|提一嘴)(?!提醒)"
)
_REMIND = re.compile(r"提醒我(?!一下.{0,8}(?:什么|哪|谁))|提醒(?:他|她|大家|一下|团队|全体)|闹钟|定时|叫醒我|倒计时")
_FEELING = re.compile(
    r"哈哈|呵呵|嘿嘿|呜呜|唉|哎呀|好累|累死|太累|太难|好烦|烦死|好开心|开心|高兴|难过|郁闷|焦虑|"
    r"崩溃(?=了?[,。!~]?$)|激动|太棒|真棒|厉害|牛[啊逼批x]|给力|辛苦了|谢谢|多谢|感谢|感激|"
    r"谢啦|不错|真好|太好了|赞|我觉得|我认为|个人觉得|我感觉|我喜欢|我讨厌|我爱|我恨|羡慕|无聊|想哭|心情|心累|压力|"
    r"头疼|头大|失眠|好想|真香|吐槽|还好|幸好|好在|幸亏|受不了|无语|绝了|离谱|真的是|"
    r"佩服|加油|恭喜|开森|好困|好饿|真难|好难|有意思|没意思|真是.{0,8}(?:啊|呀|呢)"
)
_CHAT = re.compile(
    r"笑话|段子|谜语|脑筋急转弯|讲个故事|讲故事|说个故事|唱首|唱歌|写首诗|作诗|打油诗|情诗|陪我|聊天|聊会|早上好|"
    r"早安|晚安|晚上好|下午好|中午好|你好吗|你是谁|你叫什么|吃了吗|在干嘛|干什么呢|绕口令|"
    r"成语接龙|玩个游戏|玩游戏|算命|星座|运势|冷知识|逗我|安慰|哄我|夸我|夸夸|鸡汤|情话|角色扮演|假装你|假如你是"
)
_HELD_BACK = re.compile(
    r"(?:先)?(?:不要|别|不用|不必|无需|甭|暂时不)(?:着急|急着|急)?(?:动|改|删|发|部署|上线|执行|处理|修|做|管|操作|"
    r"提交|合并|写|跑|查|看|回|订|买)|先(?:放着|不动|不管)|算了|"
    r"当我没说|只是(?:说说|问问|想|感慨|吐槽|好奇|分享)|随便(?:问|聊|说)|就是(?:问问|说说|想)|纯(?:吐槽|好奇)|"
    r"没事了|没别的事"
)
_FAILURE = re.compile(r"(?<!没有)(?<!没)(?<!无)(?<!不会)" + _any(
    "报错 错误 异常 失败 崩溃 崩了 挂了 挂掉 挂 超时 卡住 卡死 卡顿 很卡 太卡 打不开 进不去 连不上 登不上 登不进 "
    "登录不了 登不了 上不去 上不了 无法 不能 不行 不对 不工作 不生效 没反应 没生效 坏了 "
    "坏掉 出错 出问题 有问题 出故障 故障 bug 泄漏 泄露 溢出 死锁 丢失 丢了 乱码 重复 白屏 黑屏 闪退 飘红 红了 标红 "
    "不通 断了 断开 掉线 变慢 很慢 太慢 好慢 巨慢 慢得 又慢 拒绝 不一致 对不上 "
    "少了 漏了 漏 没收到 收不到 不显示 不见了 没了 找不到 404 500 502 503 504 403 401 oom 告警 报警 飙升 飙到 暴涨 "
    "打满 跑满 爆了 满了 过期 不亮 不响 不动 不转 转圈 加载不 "
    "出不来 没更新 没同步 同步不 没触发 没执行 没跑 没发 发不出 传不上 扣了两次 算错 写错 错位 错乱 错了 不准 偏差 "
    "掉了 失灵 失效 起不来 启动不了 跑不起来 跑不通 跑不过 过不了 编译不过 不过了 不稳定 "
    "偶发 抖动 闪断 error exception failed fail timeout crash traceback panic"
))  # fmt: skip
_DELEGATED = re.compile(
    r"交给你|靠你了|看你的?了|拜托你|你来(?:弄|搞|处理|负责|收尾|吧)|你负责|你接手|你搞定|归你|你看着(?:办|弄|改|"
    r"处理|解)|你动手|辛苦你(?:弄|处理|看|改|跑)"
)
_HANDOVER = re.compile(
    r"看看|看一下|看下|看一眼|瞅瞅|瞧瞧|查一下|查下|查查|排查|修一下|修下|处理一下|处理下|搞一下|弄一下|解决一下|"
    r"解决下|想想办法|想个办法|怎么回事|咋回事|什么情况|啥情况|哪里(?:出|有)?(?:问题|"
    r"错)|什么(?:原因|问题|毛病)|咋整|帮忙|帮我|求助|救命|急急急|找一下原因|是不是(?:哪里|谁|有人|哪)"
)
_SPECIFIC = re.compile(
    r"这个|那个|这台|那台|这次|我的|我们|咱们|线上|生产|测试环境|预发|昨天|今天|今早|昨晚|刚刚|刚才|突然|又|一直|"
    r"老是|总是|现在|早上|凌晨|上周|最近"
)
_OBJECT = re.compile(_any(
    "接口 服务 服务器 数据库 数据表 表结构 字段 索引 缓存 配置 脚本 流水线 构建 测试 用例 单测 容器 镜像 集群 节点 "
    "仓库 分支 代码 提交记录 日志 定时任务 任务队列 队列 回调 令牌 密钥 环境变量 依赖 "
    "版本 线上 生产环境 测试环境 预发 灰度 迁移 组件 按钮 表单 样式 前端 后端 登录 注册页 鉴权 权限 证书 域名 "
    "防火墙 端口 代理 路由器 路由 插件 扩展 仪表盘 看板 表格 单元格 公式 数据集 爬虫 程序 "
    "应用 网站 网页 首页 页面 弹窗 导航栏 函数 方法 类名 模块 变量 参数 报表 监控 告警 机器 主机 磁盘 内存 带宽 "
    "网关 负载均衡 消息队列 线程 进程 钩子 工具 软件包 补丁 正则 编码 编译 打包 部署 "
    "发布 工单 需求单 支付 订单 结算 搜索 推送 小程序 打印机 电脑 网络 wifi 摄像头 传感器 空调 文件 目录 文件夹 "
    "数据 账号 密码 系统 后台 功能 模型 算法 架构 框架 微服务 事务 锁 主键 外键 "
    "sql api git docker k8s nginx redis mysql kafka python java ci"
))  # fmt: skip
_THING = re.compile(_any(
    "会议 日历 日程 预约 发票 机票 航班 酒店 餐厅 饭店 火车票 高铁票 高铁 车票 电影票 门票 邮件 邮箱 信 合同 协议 "
    "幻灯片 ppt 演示 报告 周报 日报 月报 文档 清单 列表 歌单 灯 暖气 恒温器 闹钟 "
    "提醒 快递 包裹 外卖 会员 房租 账单 水电费 话费 税 签证 护照 照片 视频 封面 议程 行程 预算 费用 报销单 收据 "
    "工资 账户 会议室 位子 座位 包间 租车 医生 牙医 号 水管工 菜 购物 面试 候选人 "
    "简历 求职信 方案 报价 纪要 公众号 推文 海报 标志 logo 原型 模板 问卷 图表 流程图 时间线 路线图 排期 计划 笔记 "
    "库存 价格 销量 销售额 营收 客户 供应商 联系人 物流 发货 门锁 车库 窗帘 "
    "扫地机 烤箱 音乐 音量 温度 电视 excel 群公告 公告 通知 表"
))  # fmt: skip
_EXPERIENCE = re.compile(r"经验|踩坑|踩过的坑|避坑|最佳实践|教训|避免|注意事项|套路|老办法|上次怎么")
_CJK = re.compile(r"[\u3400-\u9fff]")


def speaks_chinese(text: str) -> bool:
    """True when the text holds any Chinese character."""
    return _CJK.search(text) is not None


def read(sentence: Sentence) -> Iterator[Found]:
    """The signs in the Chinese of one sentence."""
    text = sentence.text
    for sign, pattern in ((Sign.CHAT, _CHAT), (Sign.PAST_TALK, _PAST_TALK), (Sign.REMEMBER, _REMEMBER),
                          (Sign.NARRATION, _NARRATION), (Sign.STORY, _STORY), (Sign.FEELING, _FEELING), (Sign.HELD_BACK, _HELD_BACK)):  # fmt: skip
        if match := pattern.search(text):
            yield Found(sign, match[0])
    failing = _FAILURE.search(text)
    question = _QUESTION.search(text) or (sentence.asks and re.search(r".{1,12}$", text))
    if match := _DELEGATED.search(text):
        yield Found(Sign.HANDOVER, match[0])
    elif failing and (match := _HANDOVER.search(text)):
        yield Found(Sign.HANDOVER, match[0])
    elif question and failing and _SPECIFIC.search(text) and not _GENERIC_QUESTION.search(text):
        yield Found(Sign.HANDOVER, question[0])
    elif question and not (_ASKS.search(text) and not _GENERIC_QUESTION.search(text)):
        yield Found(Sign.KNOWLEDGE, question[0])
    elif match := _SAYING.search(text):
        yield Found(Sign.KNOWLEDGE, match[0])
    telling = False
    for clause in _clauses(sentence):
        yield from _asked(clause, sentence.asks, telling)
        telling = telling or _SELF_TOLD.match(clause) is not None


def objects(text: str) -> Iterator[Found]:
    """Things named anywhere: engineering objects, everyday objects, failures, experience. ``text`` is lower case."""
    for sign, pattern in (
        (Sign.OBJECT, _OBJECT),
        (Sign.FAILURE, _FAILURE),
        (Sign.EXPERIENCE, _EXPERIENCE),
        (Sign.THING, _THING),
    ):
        if match := pattern.search(text):
            yield Found(sign, match[0])


def _clauses(sentence: Sentence) -> Iterator[str]:
    """The clauses, cut once more at spaces between Chinese characters and before 然后/再/并."""
    for clause in sentence.clauses:
        yield from (part for part in re.split(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])|然后|之后(?=[^的])|(?<=.)(?:并且|顺便|接着)|(?<=[^一])再(?=[^见说次也不])|并(?=[\u3400-\u9fff])(?!不|发|没)", clause) if part)  # fmt: skip


def _asked(clause: str, asks: bool, telling: bool) -> Iterator[Found]:
    """The act that this clause asks for; after "I just did…" (``telling``) a bare verb goes on telling."""
    if _REMIND.search(clause) and not _PAST_TALK.search(clause):
        yield Found(Sign.SIDE_EFFECT, clause)
        yield Found(Sign.REQUEST, clause)
        return
    asked = None if _THANKS.search(clause) else _ASKS.search(clause)
    body = _body(clause)
    looking = _starts_by_looking(body)
    if asked:
        body = clause[asked.end() :] or clause
    if body and (match := _REWORDING.search(clause)):
        given = _EXISTING.search(clause) or not _STORED_TEXT.search(clause)
        yield Found(Sign.GIVEN_TEXT if given else Sign.EXECUTION, match[0])
        if given:
            return
    if not body or _SAYING.search(clause):
        return
    if asked is None and not looking and (asks or _QUESTION.search(clause) or _told(clause, body)):
        return
    if asked is None and telling and not (_BA.search(clause) or _SOFT_ACT.search(clause) or _WISH.search(clause)):
        return
    acts = list(_act(clause, body, bool(asked)))
    if asked and acts:
        yield Found(Sign.ADDRESSED, asked[0])
    yield from acts


def _body(clause: str) -> str:
    """The clause without what may stand before its verb; empty when nothing else is there."""
    lead = _LEAD.match(clause)
    body = clause[lead.end() :] if lead else clause
    towards = _TOWARDS.match(body)
    return body[towards.end() :] if towards else body


def _told(clause: str, body: str) -> bool:
    """Whether the clause tells of something done, or of what somebody else does."""
    if _NARRATION.search(clause) or _PAST_TIME.search(clause) or _THANKS.search(clause):
        return True
    if ba := _BA.search(body):
        if clause.endswith(("完了", "好了", "成了", "过了")):
            return True
        return ba.start() > 0 and clause.rstrip("吧啊呀!~").endswith(("了", "过")) and not body.startswith("你")
    return bool(_DONE.search(body) or _JUDGES.search(body)) or (clause[:1] in "我他她" and not _WISH.search(clause))


def _starts_by_looking(body: str) -> bool:
    """An order to find something out may hold a question: 查一下为什么…"""
    match = _INVESTIGATES.match(body)
    if match is not None and (len(match[0]) > 1 or not _GENERIC_QUESTION.search(body)):
        return True
    soft, question = _SOFT_ACT.search(body), _QUESTION.search(body)
    return bool(soft and question and soft.start() < question.start() and not _SAYING.search(body))


def _verb(pattern: re.Pattern[str], scope: str, body: str, *, anywhere: bool) -> re.Match[str] | None:
    """The first match that is a verb and no noun: anywhere in ``scope``, else at the start of ``body``."""
    for match in pattern.finditer(scope if anywhere else body):
        if not anywhere and match.start() > 0:
            return None
        if not _NOMINAL.match(match.string, match.end()):
            return match
    return None


def _act(clause: str, body: str, asked: bool) -> Iterator[Found]:
    ba = _BA.search(clause)
    wish = _WISH.search(clause)
    scope = body if asked else ba[1] if ba else clause[wish.end() :] if wish else body
    body = body.lstrip(" ,:请再也都就先去")
    if not (asked or ba or wish) and _NOUN_FIRST.match(body):
        return
    for sign, pattern in ((Sign.SIDE_EFFECT, _SIDE_EFFECT), (Sign.EXECUTION, _EXECUTION)):
        if match := _verb(pattern, scope, body, anywhere=bool(asked or ba or wish)):
            yield Found(sign, clause)
            yield Found(Sign.REQUEST, match[0])
            return
    if (body[:1] in _SINGLE and not _NO_ACT.match(body)) or (ba and any(c in _SINGLE for c in ba[1])):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, clause)
    elif match := next((word for word in _ENGLISH_WORD.finditer(scope) if word[0] in ACTS), None):
        if asked or ba or wish or _SOFT_ACT.search(clause) or (match.start() == 0 and not _STATE.search(clause)):
            yield Found(Sign.SIDE_EFFECT, clause)
            yield Found(Sign.REQUEST, match[0])
    elif match := _SOFT_ACT.search(clause) or _FINISHED.search(clause[-12:]) or _URGED.search(clause):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, match[0])
    elif ba and ba.start() <= 6 and not _MOVED.match(ba[1]):
        yield Found(Sign.EXECUTION, clause)
        yield Found(Sign.REQUEST, clause)
    elif (asked or wish) and (match := _THING.search(scope)):
        yield Found(Sign.LOOKUP, clause)
        yield Found(Sign.REQUEST, clause)
        yield Found(Sign.THING, match[0])
