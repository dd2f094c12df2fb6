-- What a person may read of each definition that a card was made with, so that a later one can show what changed.
create table tool_definitions (
  digest text primary key,
  definition text not null,
  first_seen timestamptz not null default now()
);

-- The last yes to a tool.
create index cards_by_yes on cards (brand, tool, decided_at desc)
  where status in ('approved', 'running', 'done', 'failed', 'unknown') and standing is null;
