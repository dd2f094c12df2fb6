-- Routines: a brand's tool policy per responsibility. Whoever changes a routine or a tool of it gives it its next version.
create sequence routine_versions;

create table routines (
  id text primary key,
  brand text not null,
  name text not null,
  description text not null default '',
  state text not null default 'draft' check (state in ('draft', 'ready')),
  -- Why it is a draft again; null where nothing sent it back.
  state_because text,
  -- How its unattended sessions reach a person: 'none' or 'inbox'.
  channel text not null default 'none' check (channel in ('none', 'inbox')),
  -- JSON: slugs of the connections it uses, and what its runs may spend per connection.
  connections text not null,
  allowance text not null,
  version bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp()
);

create unique index routines_names on routines (brand, name);
create index routines_changed on routines (changed_at);

-- What a person let a routine do. A tool without a row is disabled.
create table routine_tools (
  routine text not null references routines (id) on delete cascade,
  tool text not null,
  connector text not null,
  state text not null check (state in ('disabled', 'enabled', 'automatic')),
  -- SHA-256 (hex) of the definition that was let in; another definition is not.
  digest text not null,
  -- The version of the routine since which it stands like this.
  since bigint not null,
  set_by text not null,
  set_at timestamptz not null default clock_timestamp(),
  -- What took it away, where no person did.
  cleared text,
  primary key (routine, tool)
);

create index routine_tools_of on routine_tools (connector, tool);

-- What happened to a routine, by version, for whoever changed an older one.
create table routine_changes (
  routine text not null references routines (id) on delete cascade,
  version bigint not null,
  at timestamptz not null default clock_timestamp(),
  by text not null,
  what text not null,
  primary key (routine, version)
);

-- Every call of every session of a routine.
create table traces (
  id text primary key,
  routine text not null,
  brand text not null,
  session_id text not null,
  supervised boolean not null,
  tool text not null,
  -- Null for a name the session does not hold.
  digest text,
  fingerprint text,
  -- JSON, redacted.
  arguments text not null,
  decision text not null check (decision in ('open', 'automatic', 'asked', 'denied')),
  outcome text not null check (outcome in ('running', 'waiting', 'done', 'failed', 'unknown', 'refused')),
  code text,
  rules text not null default '[]',
  card text,
  cost text,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);

create index traces_of_routine on traces (routine, started_at desc, id);
create index traces_of_session on traces (session_id, started_at, id);
create unique index traces_of_card on traces (card) where card is not null;
-- A supervised call that ran is the proof that automatic needs.
create index traces_proofs on traces (routine, tool, digest) where supervised and outcome = 'done';
create index traces_equal on traces (session_id, fingerprint, started_at);
