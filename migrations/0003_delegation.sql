-- Runs: what a session descends from, whose run it is, which attempt, and the tools it really registered with.
alter table sessions add column parent text references sessions (id);
alter table sessions add column coworker text;
alter table sessions add column retry_of text references sessions (id);
alter table sessions add column attempt integer not null default 1 check (attempt >= 1);
alter table sessions add column registered text;
-- Calls are counted in blocks, so that a replica asks the database once for many.
alter table sessions add column call_blocks integer not null default 0;
create index sessions_by_parent on sessions (parent) where parent is not null;
-- A second retry of one attempt would be an attempt more than the profile allows.
create unique index one_retry on sessions (retry_of) where retry_of is not null;
create index sessions_by_expiry on sessions (brand, expires_at);

-- The per-run figures of a session: at most, handed on to children (less what came back), and spent once that is known.
create table session_figures (
  session_id text not null references sessions (id),
  figure text not null,
  most numeric not null check (most >= 0),
  carved numeric not null default 0 check (carved >= 0 and carved <= most),
  spent numeric check (spent >= 0),
  primary key (session_id, figure)
);
