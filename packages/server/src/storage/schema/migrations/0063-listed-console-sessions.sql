-- What users recognize their sessions by. Servers of earlier releases create sessions without a browser.
alter table console_sessions
  add column created_at timestamptz not null default now(),
  -- The User-Agent that signed in, cut.
  add column browser text check (length(browser) <= 512);
