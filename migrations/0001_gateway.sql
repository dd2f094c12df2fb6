-- Keys that sign session tokens. The private half is sealed with TOLLGATE_SECRET.
create table signing_keys (
  kid text primary key,
  public_jwk text not null,
  sealed_private text not null,
  state text not null check (state in ('active', 'verifying', 'retired')),
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index one_active_key on signing_keys (state) where state = 'active';

-- Sessions that were issued here, and foreign ones from their first use. Claims are kept as the text they came in.
create table sessions (
  id text primary key,
  issuer text not null,
  subject text not null,
  brand text not null,
  role text not null,
  route text not null,
  claims text not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  ended_at timestamptz,
  reported_usd numeric check (reported_usd >= 0)
);
create index sessions_by_brand on sessions (brand, created_at);
create index sessions_revoked on sessions (revoked_at) where revoked_at is not null;
create index sessions_ended on sessions (ended_at) where ended_at is not null;

-- Calls that wait, or waited, for a person. What is shown is redacted text; what runs is sealed.
create table cards (
  id uuid primary key,
  brand text not null,
  session_id text not null,
  role text not null,
  tool text not null,
  connector text not null,
  title text not null,
  summary text not null,
  arguments text not null,
  sealed_arguments text not null,
  fingerprint text not null,
  digest text not null,
  access text not null check (access in ('read', 'write', 'spend')),
  rules text not null,
  status text not null default 'pending' check (
    status in ('pending', 'approved', 'running', 'done', 'failed', 'unknown', 'denied', 'expired', 'withdrawn')
  ),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  note text,
  started_at timestamptz,
  lease_until timestamptz,
  ended_at timestamptz,
  outcome text,
  sealed_result text,
  delivered_at timestamptz
);
create unique index one_open_card on cards (session_id, fingerprint) where status in ('pending', 'approved', 'running');
create index cards_by_call on cards (session_id, fingerprint, created_at);
create index cards_by_time on cards (created_at, id);
create index cards_by_brand on cards (brand, status, created_at);
create index cards_by_expiry on cards (status, expires_at);

-- The append-only record. `entry` is what the hash covers; the other columns are copies to search by.
create table audit (
  writer uuid not null,
  seq bigint not null check (seq > 0),
  at timestamptz not null,
  kind text not null,
  attempt text,
  brand text,
  session_id text,
  tool text,
  code text,
  card text,
  entry text not null,
  prev text not null,
  hash text not null,
  primary key (writer, seq)
);
create index audit_by_time on audit (at);
create index audit_by_brand on audit (brand, at);
create index audit_by_session on audit (session_id, at);
create index audit_by_attempt on audit (attempt);
