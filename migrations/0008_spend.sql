-- What calls that bill are reserved and booked at. Decimals; a row keeps the day of its reservation (UTC).
-- `open`: reserved, no end known yet. `unknown`: it may have been billed, so the whole reservation stays.
create table spend (
  id uuid primary key,
  card uuid,
  attempt text,
  brand text not null,
  session_id text not null,
  role text not null,
  tool text not null,
  connector text not null,
  unit text not null,
  -- The per-run figure it is taken from; null where no allowance limits the session.
  figure text,
  reserved numeric not null check (reserved >= 0 and reserved <> 'NaN'),
  -- What the figure was raised by when a person let a call run that it did not cover.
  topped_up numeric not null default 0 check (topped_up >= 0),
  state text not null default 'open' check (state in ('open', 'settled', 'released', 'unknown')),
  settled numeric check (settled >= 0 and settled <> 'NaN'),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  -- When an open one without a card counts as unknown; a card has a lease of its own.
  lease_until timestamptz,
  check ((state = 'settled') = (settled is not null)),
  check ((card is null) = (lease_until is not null))
);
create index spend_by_time on spend (created_at, id);
create index spend_by_session on spend (session_id, created_at);
create index spend_by_lease on spend (lease_until) where state = 'open' and lease_until is not null;

-- Of a figure: reserved and not yet booked, and given back to the parent when the session was over.
alter table session_figures add column reserved numeric not null default 0 check (reserved >= 0);
alter table session_figures add column returned numeric not null default 0 check (returned >= 0);
