"""The Chinese vocabulary of the experience gate: verbs by what they do, and things by their names.

General vocabulary; none of it comes from a data set. Lists of words are looked up (`vocabulary`), the few patterns are
for what no list can say.
"""

import re

from app.core.gate.vocabulary import by_first, merged, words


def pairs(heads: str, tails: str) -> str:
    """Every head character with every tail: 订个 订张 订两 ..."""
    return " ".join(head + tail for head in heads for tail in tails)


SINGLE = (
    "写改删修测跑查搜找算订买发寄约催填装建调设换加关开停画拉挪盯弄搞爬退撤锁推合传存补贴续拆印租洗堵压扫清导排砍升降"
    "转切抽移造"
)
"""One-character verbs that ask only at the very start of a clause, after 把, or after 帮我 and the like."""

_MAKES = "写订定买发寄约装建设画拉弄搞补租做叫点放打挂提列搭起出编拟录开加换整配导抄"
_MOVES = "改移挪换转切升降调合推发传存放导提压缩挂贴送寄设拆拷搬拖并编译录记"
"""Light verbs, which ask together with what they make (订个, 画张) or where it goes (改成, 移到)."""

_SIDE_EFFECT = f"""
    {pairs(_MAKES, "个张份条封套台辆间一两三")} {pairs(_MOVES, "到成为进给")} 写 改 修改 编辑 变更 删 删除 删掉 填写
    去掉 去除 移除 移动 迁移 迁到 部署 发布 上线 下线 配置 打补丁 新增 添加 加上 加入 增加 创建 新建 生成 安装 装上
    卸载 升级 降级 更新 重命名 替换 换掉 合并 回滚 回退 撤销 撤回 提交 推送 导出 导入 上传 下载 同步 备份 恢复 还原
    归档 压缩 解压 扩容 缩容 重启 启动 停止 停掉 停了 关掉 关闭 关了 关上 关灯 开灯 打开 开启 启用 禁用 授权 吊销 收回
    轮换 续期 续费 续订 续借 注册 注销 订阅 退订 取消 退票 预约 预订 预定 订机票 订票 订酒店 订餐 订房 约他 约她 购买
    采购 下单 付款 支付 交费 交一 缴 退款 退货 退掉 发送 发邮件 发消息 寄出 转发 回复 回个 回一 通知 邀请 拉群 打电话
    打给 提醒我 提醒他 提醒她 提醒大家 提醒一下 叫醒 叫我起 设置 设定 调高 调低 调整 调暗 调亮 分配 指派 派给 标记
    标注 标红 打标签 打上 申请 填 起草 草拟 准备一 准备好一 准备个 准备份 准备两 准备三 准备材料 准备资料 准备会议
    制作 画出 绘制 排版 整理 拆分 去重 脱敏 加密 解密 初始化 转账 转换 汇款 报销 审批 拉黑 屏蔽 静音 播放 暂停 保存
    挂载 打印 扫描 清空 清理 清掉 清除 切换 切回 补上 补充 补齐 补全 贴上 插入 追加 锁定 解锁 冻结 解冻 下架 上架 延期
    推迟 提前到 换算成表 输出成 输出到 编写 撰写 代写 录入 登记 报名 挂号 打车 叫车 叫好 下掉 说一声 告知 知会 转告
    告诉大家 告诉他 告诉她 打声招呼 打个招呼 规范一下 弄掉 拿掉 撤掉 砍掉 砍一 点外卖 充值 布置 翻新 抽取成 抽成 抽出
    提取 封禁 解绑 绑定 接通 派发 群发 抄送 投递 投票给 上报 下发 铺 挂上 摘掉 隐藏 锁上 拉起 建好 建立 裁剪 缩小 放大
    缩短 拷贝 复制 粘贴 签收 签署 盖章 归类 排序 加固 注释掉 干掉 杀掉 kill 踢出 清洗 腾 浇水 喂 扫地 拖地 加热 预热
    开空调 关空调 开门 锁门 堵上 封装 格式化 转存 赎回 兑换 预热 下调 上调 补发 补录 重发 重新生成 精简掉 收集齐
    汇总成 联系客服 报修 挂失 代付 分发 撤稿 排期 改期 改约 退租 过户 重置"""

_EXECUTION = """
    修 修复 测试 查看 查询 查找 调试 跑 构建 编译 打包 运行 执行 实现 开发 重构 重写 重做 集成 接入 接上 对接 接进
    排查 查 检查 看看 看一下 看下 看一眼 瞧瞧 瞅瞅 瞅一眼 盯 定位 分析 调研 研究一下 研究下 核对 核实 校验 验证 审查
    审核 审一下 审阅 评审 复现 追踪 跟踪 监控 优化 提速 加快 自动化 处理 解决 搜 找 统计 计算 算一下 算下 算出 算算
    汇总 收集 抓取 爬 拉取 拉一下 拉出 列出 对账 比对 对一下 对比一下 完成 写完 适配 联调 压测 巡检 诊断 评估一下 规划
    安排 协调 催 跟进 确认 问一下 联系 约 联络 收拾 拆开 走一遍 过一遍 梳理 盘点 盘一下 清点 改造 改进 改善 补测 重跑
    重试 重测 回测 测 剖析 追查 摸排 弄 搞 扒 试跑 试一下 验一下 化简 预测 训练 标定 校准 估算 推进 落实 修正 纠正
    扩展 扩大 完善 稳定下来 降下来 提上去"""

SIDE_EFFECT, EXECUTION = by_first(_SIDE_EFFECT), by_first(_EXECUTION)
VERBS = merged(SIDE_EFFECT, EXECUTION, by_first(" ".join(SINGLE)))
ENGLISH_WORD = re.compile(r"[a-z][a-z-]{1,20}")
INVESTIGATES = by_first(
    "查 看看 看一下 看下 看一眼 瞧瞧 瞅瞅 排查 分析 定位 找出 找找 找一下 统计 确认 核对 核实 调研 研究一下 算一下 "
    "算下 算算 算出 检查 诊断 追查 验证 盯 复现 搜一下 搜搜 梳理 check debug"
)

NO_ACT = by_first(f"""
    {pairs("写改删跑查做测调排", "得到了")} 开心 开会 开始 开玩笑 开个玩笑 开了玩笑 开森 跑步 跑路 改天 改需求 发现
    发烧 发呆 发愁 加油 加班 装修 关于 关系 传说 算了 算是 算不 找不 合适 合理 合同 存在 订单 设计 设备 画面 退休 填空
    拉肚子 爬山 换季 补课 推荐 推测 查重 买房 买车 加起来 建议 修养 发生 设想 关注 关心 装作 打算 传统 画风 存款
    测试了 停电 调休 换句话 排队 升职 降温 压力 清楚 导致 转眼 切身 抽空 抽烟 接受 接近 接到 移民 移居 造成 造谣""")
"""Words that only begin like a verb."""

NOMINAL = re.compile(
    r"[的得]|出来是|失败|成功|出错|报错|中(?![文英])|后|前(?!端)|是(?!否|不是)|时候?|之后|以后|很|真|太|挺|流程|方案|经验|"
    r"工程师|团队|部门|小哥|同学|人员|经理|组(?!件|合)|同事"
)
"""After the verb: it was a noun. 部署的事, 测试时, 迁移方案."""

DESCRIBING = re.compile(r"得|的(?!$|话)")
"""After the verb: it describes somebody or something. 订的酒店."""

SPOKEN_OF = re.compile(r"[^,]{1,5}的(?:说|师傅|人说)|(.)[^,]{1,5}\1[得到了]")
"""At the start, somebody who does it, or a verb that is said twice: 修电脑的说, 写代码写到半夜."""

COUNTED_VERBS = merged(VERBS, by_first("出 合 导 打 排 重 做"))
CHANGES = by_first(pairs("改换调设转升降移挪存缩扩", "成到为给进"))
"""The object in front, what it becomes behind the verb: 标题改成…"""

NO_CHANGE = tuple("了吐底达人")
MOVED = by_first("我 人 他 她 大家 老板 自己 咱")
"""把 with a person is feeling, not work: 把人累坏了."""

MADE = by_first(pairs("一两三几", "张份条封套台版段页"))
NOT_MADE = "有是这那每一两三四五几哪某整多另同上下第各半全当没像叫"
"""Whatever is done at the start of a clause to make some (切一张两倍的), and what only counts (有一份)."""

DEGREES = by_first(pairs("调提升降加减缩放改拉压", "高低大小长短快慢亮暗宽窄少多"))
"""The object in front, a change behind it: 音量调低一点."""

STORED_TEXT = words("""
    文件 文档 仓库 目录 页面 网站 界面 文案 项目 代码 表格 报表 日志 手册 接口 工单 邮箱 邮件 周报 月报 日报 季报
    会议纪要 合同 录音 论文 pdf readme 数据 评论 反馈 issue ppt 资料 幻灯 sql 索引 函数 模块 脚本 查询 语句 回复
    公众号""",
    r"\.\w{2,4}\b|pr\b",
)  # fmt: skip

FAILURE = words(
    """
    报错 错误 异常 失败 崩溃 崩了 挂了 挂掉 挂 超时 卡住 卡死 卡顿 很卡 太卡 打不开 进不去 连不上 登不上 登不进
    登录不了 登不了 上不去 上不了 无法 不能 不行 不对 不工作 不生效 没反应 没生效 坏了 坏掉 出错 出问题 有问题 出故障
    故障 bug 泄漏 泄露 溢出 死锁 丢失 丢了 乱码 重复 白屏 黑屏 闪退 飘红 红了 标红 不通 断了 断开 掉线 变慢 很慢 太慢
    好慢 巨慢 慢得 又慢 拒绝 不一致 对不上 少了 漏了 漏 没收到 收不到 不显示 不见了 没了 找不到 404 500 502 503 504
    403 401 oom 告警 报警 飙升 飙到 暴涨 打满 跑满 爆了 满了 过期 不亮 不响 不动 不转 转圈 加载不 出不来 没更新 没同步
    同步不 没触发 没执行 没跑 没发 发不出 传不上 扣了两次 算错 写错 错位 错乱 错了 不准 偏差 掉了 失灵 失效 起不来
    启动不了 跑不起来 跑不通 跑不过 过不了 编译不过 不过了 不稳定 偶发 抖动 闪断 error exception failed fail timeout
    crash traceback panic""",
    unless=("没有", "没", "无", "不会", "学", "走", "吃"),
)

OBJECT = words("""
    接口 服务 数据库 数据表 表结构 字段 索引 缓存 配置 脚本 流水线 构建 测试 用例 单测 容器 镜像 集群 节点 仓库 分支
    代码 提交记录 日志 定时任务 任务队列 队列 回调 令牌 密钥 环境变量 依赖 版本 线上 生产环境 预发 灰度 迁移 组件 按钮
    表单 样式 前端 后端 登录 注册页 鉴权 权限 证书 域名 防火墙 端口 代理 路由 插件 扩展 仪表盘 看板 表格 单元格 公式
    数据 爬虫 程序 应用 网站 网页 首页 页面 弹窗 导航栏 函数 方法 类名 模块 变量 参数 报表 监控 告警 机器 主机 磁盘
    内存 带宽 网关 负载均衡 消息队列 线程 进程 钩子 工具 软件包 补丁 正则 编码 编译 打包 部署 发布 工单 需求单 支付
    订单 结算 搜索 推送 打印机 电脑 网络 wifi 摄像头 传感器 空调 文件 目录 账号 密码 系统 后台 功能 模型 算法 架构
    框架 微服务 事务 锁 主键 外键 sql api git docker k8s nginx redis mysql kafka python java ci""")

THING = words("""
    会议 日历 日程 预约 发票 机票 航班 酒店 餐厅 饭店 火车票 高铁 车票 电影票 门票 邮件 邮箱 信 合同 协议 幻灯片 ppt
    演示 报告 周报 日报 月报 文档 清单 列表 歌单 灯 暖气 恒温器 闹钟 提醒 快递 包裹 外卖 会员 房租 账单 水电费 话费 税
    签证 护照 照片 视频 封面 议程 行程 预算 费用 报销单 收据 工资 账户 结果 结论 位子 座位 包间 租车 医生 牙医 号
    水管工 菜 购物 面试 候选人 简历 方案 报价 纪要 公众号 推文 海报 标志 logo 原型 模板 问卷 图表 流程图 时间线 路线图
    排期 计划 笔记 库存 价格 销量 销售额 营收 客户 供应商 联系人 物流 发货 门锁 车库 窗帘 扫地机 烤箱 音乐 音量 温度
    电视 excel 公告 通知 表""")

EXPERIENCE = words("经验 踩坑 踩过的坑 避坑 最佳实践 教训 避免 注意事项 套路 老办法 上次怎么")
