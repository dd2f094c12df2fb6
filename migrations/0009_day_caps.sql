-- A brand's own figure for what all runs of a role may cost in a day, in US dollars. Of it and the operator's the smaller holds.
create table day_caps (
  brand text not null,
  role text not null,
  usd numeric not null check (usd >= 0),
  updated_at timestamptz not null default now(),
  primary key (brand, role)
);
