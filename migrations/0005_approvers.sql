-- Approvers: people who may decide the cards of one brand, each with a token. The token itself is kept nowhere.
create table approvers (
  id text primary key,
  brand text not null,
  name text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index approvers_by_brand on approvers (brand, created_at);
