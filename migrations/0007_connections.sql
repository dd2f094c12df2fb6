-- What a brand connected: the secret fields sealed, the others to be seen. A removed connection keeps its row, without
-- anything in it, so that every replica hears of the removal.
create sequence connection_versions;

create table connections (
  brand text not null,
  slug text not null,
  connector text not null,
  -- JWE; empty once removed.
  sealed text not null,
  -- JSON: names of the secret fields that are sealed.
  secrets text not null,
  -- JSON: fields that are no secrets.
  settings text not null,
  -- A keyed mark of all fields: another account, another mark.
  identity text not null,
  -- JSON: brands that the account owner shares it with.
  shared_with text not null default '[]',
  version bigint not null default nextval('connection_versions'),
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  changed_by text not null,
  removed_at timestamptz,
  checked_at timestamptz,
  check_ok boolean,
  check_said text,
  primary key (brand, slug)
);

create index connections_changed on connections (changed_at);
