-- What a card is bound to besides its call: the upstream, the price, and all of it together as one hash. A card that
-- stands here already was bound to its call alone: it joins no new call, and does not run on an approval given from now on.
alter table cards add column upstream text not null default '';
alter table cards add column cost text;
alter table cards add column binding text not null default '';
update cards set binding = fingerprint;
-- Digest of what a person is shown.
alter table cards add column shown text not null default '';
-- Whether the tool's declaration lets a person say yes for always.
alter table cards add column always_offered boolean not null default false;

-- How and from where it was decided, how far the yes goes, and what a person found out about an unknown outcome.
alter table cards add column decided_via text check (decided_via in ('rest', 'inbox', 'cli'));
alter table cards add column decided_address text;
alter table cards add column scope text check (scope in ('once', 'session', 'always'));
alter table cards add column standing uuid;
alter table cards add column settled text check (settled in ('happened', 'did_not'));
alter table cards add column settled_at timestamptz;
alter table cards add column settled_by text;

-- The same call with something of it changed is another card.
drop index one_open_card;
create unique index one_open_card on cards (session_id, binding) where status in ('pending', 'approved', 'running');
create index cards_by_status on cards (status, created_at, id);
create index cards_by_standing on cards (standing) where standing is not null and status = 'approved';

-- Approvals that stand: for one session (session_id) or for every session of the brand. Exactly one call (fingerprint),
-- or calls like one: `pattern` says which arguments may vary and how far, `rest` is a hash of all others.
create table standing_approvals (
  id uuid primary key,
  card uuid not null,
  brand text not null,
  session_id text,
  role text not null,
  tool text not null,
  connector text not null,
  title text not null,
  summary text not null,
  digest text not null,
  upstream text not null,
  cost text,
  fingerprint text,
  pattern text,
  rest text,
  left_over integer check (left_over >= 0),
  used integer not null default 0,
  created_at timestamptz not null default now(),
  created_by text not null,
  created_via text,
  note text,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  -- Never a blanket: similar calls have a count and an end.
  check ((fingerprint is null) <> (pattern is null)),
  check (pattern is null or (rest is not null and left_over is not null and expires_at is not null))
);
create index standing_by_tool on standing_approvals (brand, tool, fingerprint) where revoked_at is null;
create index standing_by_time on standing_approvals (created_at, id);

-- How many cards a session ever made, so that a cap costs the same however many there are.
create table session_cards (
  session_id text primary key,
  made integer not null
);
insert into session_cards (session_id, made) select session_id, count(*) from cards group by session_id;
