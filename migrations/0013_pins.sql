-- What each upstream's tools said of themselves when they were accepted, and what they say now where that is something
-- else. A set is made by the first discovery; its row is locked by whoever changes a pin, so that writers take turns.
create sequence pin_versions;

create table pin_sets (
  -- A brand for a connection of its own; '*' for an upstream of the operator's.
  scope text not null,
  connector text not null,
  version bigint not null default nextval('pin_versions'),
  pinned_at timestamptz not null default now(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (scope, connector)
);

create index pin_sets_changed on pin_sets (changed_at);

create table tool_pins (
  scope text not null,
  connector text not null,
  tool text not null,
  -- SHA-256 (hex) of the canonical definition that was accepted; null while it never was.
  digest text,
  definition text,
  -- Of the definition without its name.
  body text,
  accepted_by text,
  accepted_at timestamptz,
  -- What was seen last and is not accepted.
  seen_digest text,
  seen_definition text,
  seen_at timestamptz,
  primary key (scope, connector, tool),
  foreign key (scope, connector) references pin_sets (scope, connector) on delete cascade
);
