-- Where a vendor tells of mail that came in for a connection. The address is known by a keyed mark alone.
create table inbound_routes (
  brand text not null,
  slug text not null,
  mark text not null unique,
  -- JWE; null until the vendor's signing secret is stated.
  sealed_secret text,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  changed_by text not null,
  primary key (brand, slug)
);

-- What has started a session, so that it starts one only: a delivery by its id, and the message it tells of. Both hashed.
create table inbound_seen (
  brand text not null,
  slug text not null,
  mark text not null,
  session_id text not null,
  at timestamptz not null default now(),
  primary key (brand, slug, mark)
);

create index inbound_seen_at on inbound_seen (brand, at);
