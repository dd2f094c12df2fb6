-- Who is told of events over HTTP. Addresses are sealed like secrets, since many an address is one.
create table webhooks (
  id uuid primary key,
  -- '*': every brand.
  brand text not null,
  sealed_url text not null,
  shown_url text not null,
  -- A JSON array.
  events text not null,
  format text not null check (format in ('json', 'slack')),
  sealed_secret text not null,
  sealed_old_secret text,
  old_secret_until timestamptz,
  -- Attempts that failed since the last that did not.
  failures integer not null default 0 check (failures >= 0),
  created_at timestamptz not null default now(),
  paused_at timestamptz,
  paused_because text
);
create index webhooks_by_time on webhooks (created_at, id);

-- What is to be told, and was. No foreign key: a webhook removed at this moment must not fail the event's transaction.
create table webhook_deliveries (
  id uuid primary key,
  webhook uuid not null,
  event text not null,
  brand text not null,
  card uuid,
  data text,
  sealed_data text,
  status text not null default 'waiting' check (status in ('waiting', 'delivered', 'given_up')),
  created_at timestamptz not null default clock_timestamp(),
  -- When the next attempt is due; while one is under way, when it is given up for lost.
  due_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0 check (attempts >= 0),
  tried_at timestamptz,
  ended_at timestamptz,
  -- Of the last attempt.
  answer integer,
  problem text,
  check ((data is null) <> (sealed_data is null))
);
create index webhook_deliveries_due on webhook_deliveries (webhook, due_at) where status = 'waiting';
create index webhook_deliveries_by_time on webhook_deliveries (webhook, created_at, id);
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
