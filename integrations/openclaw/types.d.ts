/** What the host and the sidecar say to each other. Types only: nothing here runs. */

/** A host message: opaque but for `role`, `content` and `timestamp`. */
export interface Message {
  role: string;
  content?: unknown;
  timestamp?: unknown;
  [key: string]: unknown;
}

/** The plugin's settings, defaults filled in; times in milliseconds. */
export interface Config {
  baseUrl: string;
  token: string;
  account: string;
  user: string;
  recall: boolean;
  capture: boolean;
  compaction: boolean;
  tools: boolean;
  commands: boolean;
  writePreflight: boolean;
  skillMemory: boolean;
  turnBudgetMs: number;
  assembleTimeoutMs: number;
  recallTimeoutMs: number;
  commitTimeoutMs: number;
  compactTimeoutMs: number;
  sessionTimeoutMs: number;
  toolTimeoutMs: number;
  importTimeoutMs: number;
  retryMinMs: number;
  retryMaxMs: number;
  spoolDir: string;
  spoolMaxMb: number;
  spoolMaxFiles: number;
}

export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Who is calling, in the words of the sidecar's contract. */
export interface Scope {
  sessionId?: string;
  sessionKey?: string;
  agentId?: string;
  senderId?: string;
  parentSession?: string;
  runtimeContext?: {
    isCron?: boolean;
    automationKind?: "cron" | "heartbeat";
    trigger?: string;
    tokenBudget?: number;
    chatType?: string;
  };
}

/** What became of one request. Only `down` and `refused` are the sidecar's fault as a whole. */
export type Outcome =
  | { kind: "ok"; body: Record<string, any> }
  /** This request will never be accepted (400, 413, 422 ...). */
  | { kind: "rejected"; why: string }
  /** Reachable, but not now (429, 503). */
  | { kind: "busy"; why: string; retryAfterMs: number }
  /** Unreachable, too slow, failing, talking nonsense, or refusing our token or address. */
  | { kind: "down"; why: string }
  /** The caller gave up (abort signal). */
  | { kind: "aborted"; why: string };

/** One thing the sidecar must be told, sooner or later, in its session's order. */
export interface Letter {
  path: "/after-turn" | "/sessions/reset" | "/sessions/end" | "/tools/memory_store" | "/tools/memory_forget";
  body: Record<string, any>;
}

/** A tool as `tools.json` has it. */
export interface ToolDefinition {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  /** It changes nothing, so it can be called again and again. */
  readOnly: boolean;
}

/** What a tool call gives the host. */
export interface ToolResult {
  content: { type: "text"; text: string }[];
  details: Record<string, unknown>;
}

/** What the host says about the run that a tool is made for. */
export interface ToolContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  requesterSenderId?: string;
}

/** What the host says about a slash command that somebody sent. */
export interface CommandContext {
  args?: string;
  config?: unknown;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  senderId?: string;
}

export interface CommandDefinition {
  name: string;
  description: string;
  acceptsArgs: boolean;
  requiredScopes?: string[];
  handler(context: CommandContext): Promise<{ text: string }>;
}

/** The parts of OpenClaw's plugin API that are used. */
export interface HostApi {
  id?: string;
  pluginConfig?: Record<string, unknown>;
  logger?: Logger;
  runtime?: {
    state?: { resolveStateDir?: () => string };
    agent?: { resolveAgentWorkspaceDir?: (config: any, agentId: string) => string };
  };
  registerContextEngine(id: string, factory: (context?: unknown) => unknown): void;
  registerTool(factory: (context: ToolContext) => object, options: { name: string }): void;
  registerCommand?(definition: CommandDefinition): void;
  registerAgentToolResultMiddleware?(
    handler: (event: any, context: any) => unknown,
    options: { runtimes: string[] },
  ): void;
  on(hook: string, handler: (event: any, context: any) => unknown, options?: Record<string, unknown>): void;
}

export interface AssembleParams {
  sessionId: string;
  sessionKey?: string;
  messages: Message[];
  tokenBudget?: number;
  availableTools?: Iterable<string>;
  model?: string;
  prompt?: string;
  citationsMode?: unknown;
  runtimeContext?: Record<string, any>;
}

export interface AssembleResult {
  messages: Message[];
  estimatedTokens: number;
  systemPromptAddition?: string;
}

export interface CommitParams {
  advancementKey: string;
  messages: Message[];
  sessionId: string;
  sessionKey?: string;
  admission?: { agentId?: string };
  sessionTarget?: { agentId?: string };
  isHeartbeat?: boolean;
  runtimeContext?: Record<string, any>;
}

export interface CompactParams {
  sessionId: string;
  sessionKey: string;
  agentId?: string;
  sessionTarget?: { agentId?: string };
  tokenBudget?: number;
  currentTokenCount?: number;
  force?: boolean;
  compactionTarget?: string;
  customInstructions?: string;
  runtimeContext?: Record<string, any>;
  abortSignal?: AbortSignal;
}

export interface CompactResult {
  ok: boolean;
  compacted: boolean;
  reason?: string;
  result?: { summary?: string; tokensBefore: number; tokensAfter?: number; [key: string]: unknown };
}
