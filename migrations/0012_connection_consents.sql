-- Connections that a person consents to at an authorization server (OAuth 2).

alter table connections
  -- Null: none is needed. 'needed': somebody has yet to consent, or has to again. Else the id of the consent that stands.
  add column consent text,
  -- Why it is needed again, for people.
  add column consent_because text;

-- What came of a consent: tokens, sealed with the server that gave them out, which alone is ever sent them.
create table connection_consents (
  brand text not null,
  slug text not null,
  id text not null,
  issuer text not null,
  -- JWE; empty once the server takes them no more.
  sealed text not null,
  -- JWE: who this gateway is at the server.
  sealed_client text not null,
  -- Whether a refresh brings another refresh token; null while there was none.
  rotates boolean,
  version bigint not null default nextval('connection_versions'),
  renewed_at timestamptz not null default clock_timestamp(),
  -- From when on it is refreshed, and until when it is taken; null: nobody said.
  refresh_at timestamptz,
  expires_at timestamptz,
  -- A refresh under way. One that never ended may have used up the refresh token.
  claimed_by text,
  claimed_at timestamptz,
  primary key (brand, slug)
);

-- Consents that were begun: the way back of a browser, once, within minutes.
create table oauth_states (
  -- SHA-256 of what the browser carries.
  state text primary key,
  brand text not null,
  slug text not null,
  -- The connection's mark when it was begun: one that was stated anew since gets nothing.
  identity text not null,
  -- JWE: the server, the client and the code verifier.
  sealed text not null,
  begun_by text not null,
  expires_at timestamptz not null
);

create index oauth_states_of on oauth_states (brand, slug);
