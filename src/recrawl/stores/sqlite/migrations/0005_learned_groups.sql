-- What is known of hosts and groups, signals, and the last visit that could tell.
-- checked_at is NULL until the next visit: where there is content, fetched_at stands in.
ALTER TABLE pages ADD COLUMN surprise REAL NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN n_signals INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN checked_at INTEGER;
CREATE INDEX pages_by_group ON pages (group_key) WHERE group_key <> 0;
CREATE TABLE learned (
    key INTEGER PRIMARY KEY,
    state BLOB NOT NULL
) STRICT;
