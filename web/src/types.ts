/** What the server answers, as this page reads it. Times are ISO 8601. */

export interface Me {
  label: string;
  scopes: string[];
  spaces: string[];
  space: string | null;
  expires: string | null;
  version: string;
  chat: boolean;
  models?: string[];
  model?: string | null;
}

export interface Part {
  turn: number;
  exchange: number;
  role: string;
  time: string | null;
  text: string;
  actions: string[];
  truncated: boolean;
  abandoned: boolean;
}

export interface Scores {
  fused: number;
  lexical: number | null;
  dense: number | null;
  rerank: number | null;
}

export interface Passage {
  rank: number;
  session: string;
  agent: string;
  project: string | null;
  branch: string | null;
  title: string | null;
  first_turn: number;
  last_turn: number;
  turn: number;
  role: string;
  time: string | null;
  source_gone: boolean;
  abandoned: boolean;
  ranked_by: string;
  scores: Scores;
  text: string;
  tokens: number;
  truncated: boolean;
  resume: string | null;
  parts: Part[];
  explain?: { stage: string; rank: number; score: number }[];
  also?: { session: string; first_turn: number; last_turn: number; time: string | null }[];
}

export interface Found {
  query: string;
  passages: Passage[];
  stages: string[];
  notes: string[];
  projects: string[];
  /** Asked again with `rerank`, they are read again, and their order may change. */
  again: boolean;
  terms?: string[];
  timing?: { total_ms: number };
}

export interface Filters {
  agents: { agent: string; sessions: number }[];
  projects: { project: string; sessions: number; last: string | null }[];
  branches: string[];
  roles: string[];
}

export interface SessionItem {
  session: string;
  agent: string;
  project: string | null;
  parent: string | null;
  parent_kind: string | null;
  branch: string | null;
  title: string | null;
  started: string | null;
  last: string | null;
  turns: number;
  source: string | null;
  source_gone: boolean;
  resume: string | null;
}

export interface Turn {
  turn: number;
  exchange: number;
  role: string;
  time: string | null;
  text: string;
  actions: string[];
  abandoned: boolean;
  partial: boolean;
  branch_from: number | string | null;
}

export interface Reading {
  session: SessionItem;
  turns: Turn[];
  next: number | null;
}

export interface Tree {
  root: string;
  nodes: {
    session: string;
    parent: string | null;
    kind: string | null;
    title: string | null;
    agent: string;
    started: string | null;
    turns: number;
  }[];
  branches: { branch_from: number | string | null; first_turn: number; last_turn: number; abandoned: boolean }[];
}

export interface Day {
  day: string;
  agent: string;
  project: string | null;
  sessions: number;
  turns: number;
  tokens: number;
}

export interface Timeline {
  zone: string;
  days: Day[];
  learned: { time: string; id: string; kind: string; statement: string; source: string | null }[];
}

export interface Note {
  id: string;
  statement: string;
  kind: string;
  topic: string | null;
  source: string | null;
  importance: number | string | null;
  status: string;
  created: string | null;
  evidence: string[];
  tags: string[];
  supersedes: string | null;
  superseded_by: string | null;
}

export interface Candidate {
  id: string;
  statement: string;
  quote: string | null;
  kind: string;
  status: string;
  evidence: string[];
  rule: string | null;
  confidence: number | null;
  created: string | null;
  reason: string | null;
}

export interface Event {
  event_id: string;
  session: string | null;
  turn: number | null;
  role: string;
  time: string | null;
  text: string;
  actions: string[];
  agent: string;
}

export interface JournalEntry {
  id: number;
  time: string | number;
  action: string;
  actor: string;
  token: string | null;
  transport: string;
  source: string | null;
  target: string | null;
  detail: Record<string, unknown>;
}

export interface AgentStatus {
  sources: number;
  gone_sources: number;
  sessions: number;
  turns: number;
  chunks: number;
  last_turn: string | null;
  last_read: string | null;
  skipped_records: Record<string, number>;
  unknown_records: Record<string, number>;
  failed_sources: Record<string, string>;
}

/** How far the daemon is behind one agent, and its sources that changed last. */
export interface Lag {
  agent: string;
  lag_seconds: number | null;
  waiting: number;
  failing: Record<string, string>;
  sources: Record<string, number>;
}

export interface Status {
  version: string;
  store: string;
  sessions: number;
  turns: number;
  chunks: number;
  indexed: boolean;
  encoder: string | null;
  embedded: number;
  backlog: number;
  reranker: string | null;
  agents: Record<string, AgentStatus>;
  notes: Record<string, number>;
  candidates: Record<string, number>;
  last_sweep: string | null;
  llm_calls: Record<string, number>;
  problems: string[];
  daemon: { running: boolean; since: string | null; lag: Lag[] } | null;
  disk: Record<string, number> | null;
}

export interface TokenItem {
  label: string;
  prefix: string;
  spaces: string[];
  scopes: string[];
  created: string | null;
  expires: string | null;
  last_used: string | null;
  revoked: string | null;
  live: boolean;
}

export interface Forgotten {
  dry_run: boolean;
  sessions: number;
  turns: number;
  chunks: number;
  /** Sessions that are kept, and stay. */
  shielded: number;
  preview: { session: string; title: string | null; agent: string; project: string | null; started: string | null; turns: number }[];
}
