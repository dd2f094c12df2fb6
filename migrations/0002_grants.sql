-- Versions of profiles and grants. One sequence for all, so that a thing deleted and made anew never has an old version.
create sequence grant_versions;

-- Coworkers' profiles, as a person saved them. `profile` is JSON text: tools as written, grant, limits.
create table coworkers (
  brand text not null,
  id text not null,
  name text not null,
  role text not null check (role in ('coworker', 'specialist')),
  profile text not null,
  version bigint not null default nextval('grant_versions'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (brand, id)
);

-- The grant of a brand's goal agent, as JSON text. No row: nothing was ever granted.
create table goal_grants (
  brand text primary key,
  granted text not null,
  version bigint not null default nextval('grant_versions'),
  updated_at timestamptz not null default now()
);
