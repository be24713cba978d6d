-- Vectors of store items, for searches by meaning. No extension is needed: the server compares them.
create table store_vectors (
  namespace       text[] collate "C" not null,
  key             text        not null,
  -- The vectors belong to the value that the item got at this time. An older server replaces a value without its vectors, and
  -- TRUNCATE fires no trigger for rows: vectors of another value are ignored.
  item_updated_at timestamptz not null,
  -- Numbers in one vector.
  dims            integer     not null check (dims > 0),
  -- One or more vectors, one after another: 4-byte floats, little-endian, each vector of length 1.
  vectors         bytea       not null check (length(vectors) > 0 and length(vectors) % (dims * 4) = 0),
  primary key (namespace, key)
);
-- Numbers do not compress.
alter table store_vectors alter column vectors set storage external;
